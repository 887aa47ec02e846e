import { randomBytes } from 'node:crypto'
import { sql } from '../database/sql.ts'
import type { Caller } from '../engine/caller.ts'
import { text } from '../engine/fields.ts'
import { FORMER_SECRET_MS, signingSecret } from '../outbound/standard-webhooks.ts'
import type { Secrets } from '../values/secrets.ts'
import { noWebhook, ownWebhook, ownWebhooks } from './ownership.ts'
import { readOnly, shownType, time } from './shown-type.ts'

export const secretType = shownType<WebhookSecret>('WebhookSecret', {
  Secret: [text(100, readOnly), ({ secret }) => secret],
  FormerSecret: [text(100, readOnly), ({ formerSecret }) => formerSecret],
  FormerSecretUntil: [time, ({ formerUntil }) => formerUntil],
  DateRotated: [time, ({ rotatedAt }) => rotatedAt],
})

/** The columns of a webhook's secrets. */
export interface SecretSeeds {
  readonly secretSeed: string
  readonly formerSecretSeed: string | null
  readonly secretRotatedAt: Date | null
}

/** What a new secret is derived from; of no use without the secret key. */
export function newSecretSeed(): string {
  return randomBytes(32).toString('hex')
}

/** Those that sign a notification sent at this time: the newest first. */
export function signingSecrets(secrets: Pick<Secrets, 'derive'>, webhook: SecretSeeds, at: Date): string[] {
  const { secret, formerSecret } = shownSecret(secrets, webhook, at)
  return formerSecret === null ? [secret] : [secret, formerSecret]
}

/** Throws `not-found`. */
export async function webhookSecret(
  caller: Caller,
  secrets: Pick<Secrets, 'derive'>,
  id: number,
): Promise<WebhookSecret> {
  const [seeds] = await caller.db.$queryRaw<SecretSeeds[]>`
    SELECT "secretSeed", "formerSecretSeed", "secretRotatedAt" FROM ${ownWebhook(caller, id)}`
  if (!seeds) throw noWebhook(id)
  return shownSecret(secrets, seeds, caller.now())
}

/**
 * Gives the webhook a new secret; the one until now signs beside it for 24 hours, and one from before that no more.
 * Throws `not-found`.
 */
export async function rotateWebhookSecret(
  caller: Caller,
  secrets: Pick<Secrets, 'derive'>,
  id: number,
): Promise<WebhookSecret> {
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

function shownSecret(
  secrets: Pick<Secrets, 'derive'>,
  { secretSeed, formerSecretSeed, secretRotatedAt }: SecretSeeds,
  at: Date,
) {
  const until = secretRotatedAt && new Date(secretRotatedAt.getTime() + FORMER_SECRET_MS)
  const formerUntil = formerSecretSeed !== null && until !== null && until > at ? until : null
  return {
    /** `whsec_` and base64, as the Standard Webhooks libraries take it. */
    secret: signingSecret(secrets, `webhook ${secretSeed}`),
    /** The one before the last rotation, as long as it signs too. */
    formerSecret: formerUntil && signingSecret(secrets, `webhook ${formerSecretSeed}`),
    formerUntil,
    /** Null: never rotated. */
    rotatedAt: secretRotatedAt,
  }
}
