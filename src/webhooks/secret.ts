import { randomBytes } from 'node:crypto'
import type { Webhook } from '../database/generated/client.ts'
import { sql } from '../database/sql.ts'
import type { Caller } from '../engine/caller.ts'
import { date, text } from '../engine/fields.ts'
import { FORMER_SECRET_MS, signingSecret } from '../outbound/standard-webhooks.ts'
import type { Secrets } from '../values/secrets.ts'
import { noWebhook, ownWebhook, ownWebhooks } from './ownership.ts'
import { shownType } from './shown-type.ts'

export const secretType = shownType<WebhookSecret>('WebhookSecret', {
  Secret: [text(100), 'secret'],
  FormerSecret: [text(100), 'formerSecret'],
  FormerSecretUntil: [date(), 'formerUntil'],
  DateRotated: [date(), 'rotatedAt'],
})

type Deriving = Pick<Secrets, 'derive'>

/** The columns of a webhook's secrets. */
export type SecretSeeds = Pick<Webhook, 'secretSeed' | 'formerSecretSeed' | 'secretRotatedAt'>

/** Returns a seed to derive a secret from; useless without the secret key. */
export function newSecretSeed(): string {
  return randomBytes(32).toString('hex')
}

/** Returns the secret of a seed, as the Standard Webhooks libraries take it. */
export function secretOfSeed(secrets: Deriving, seed: string): string {
  return signingSecret(secrets, `webhook ${seed}`)
}

/** Returns the seeds of the secrets that sign at this time, newest first. */
export function signingSeeds(webhook: SecretSeeds, at: Date): string[] {
  const { secretSeed, formerSecretSeed } = webhook
  return formerSecretSeed === null || formerUntil(webhook, at) === null ? [secretSeed] : [secretSeed, formerSecretSeed]
}

/** Throws `not-found`. */
export async function webhookSecret(caller: Caller, secrets: Deriving, id: number): Promise<WebhookSecret> {
  const [seeds] = await caller.db.$queryRaw<SecretSeeds[]>`
    SELECT "secretSeed", "formerSecretSeed", "secretRotatedAt" FROM ${ownWebhook(caller, id)}`
  if (!seeds) throw noWebhook(id)
  return shownSecret(secrets, seeds, caller.now())
}

/**
 * Gives the webhook a new secret. The current one also signs for 24 hours; an older one stops signing at once. Throws
 * `not-found`.
 */
export async function rotateWebhookSecret(caller: Caller, secrets: Deriving, id: number): Promise<WebhookSecret> {
  const now = caller.now()
  const [seeds] = await caller.db.$queryRaw<SecretSeeds[]>`
    UPDATE "Webhook" t
    SET "secretSeed" = ${newSecretSeed()}, "formerSecretSeed" = "secretSeed", "secretRotatedAt" = ${now}::timestamptz
    WHERE "storeId" = ${caller.store.id}::int AND "id" = ${id}::int AND ${ownWebhooks(caller) ?? sql`true`}
    RETURNING "secretSeed", "formerSecretSeed", "secretRotatedAt"`
  if (!seeds) throw noWebhook(id)
  return shownSecret(secrets, seeds, now)
}

export type WebhookSecret = ReturnType<typeof shownSecret>

function shownSecret(secrets: Deriving, webhook: SecretSeeds, at: Date) {
  const [secret = '', formerSecret = null] = signingSeeds(webhook, at).map((seed) => secretOfSeed(secrets, seed))
  return {
    secret,
    /** The secret before the last rotation, while it still signs. */
    formerSecret,
    formerUntil: formerUntil(webhook, at),
    /** Null: never rotated. */
    rotatedAt: webhook.secretRotatedAt,
  }
}

/** Returns until when the former secret also signs; null: there is none, or it signs no longer. */
function formerUntil({ formerSecretSeed, secretRotatedAt }: SecretSeeds, at: Date): Date | null {
  if (formerSecretSeed === null || secretRotatedAt === null) return null
  const until = new Date(secretRotatedAt.getTime() + FORMER_SECRET_MS)
  return until > at ? until : null
}
