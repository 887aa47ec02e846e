import type { Caller } from '../../engine/caller.ts'
import { date, text } from '../../engine/definition/fields.ts'
import type { Webhook } from '../../foundation/database/generated/client.ts'
import { sql } from '../../foundation/database/sql.ts'
import { FORMER_SECRET_MS, newSigningSecret } from '../../foundation/outbound/standard-webhooks.ts'
import type { Secrets } from '../../foundation/values/secrets.ts'
import { noWebhook, ownWebhook, ownWebhooks } from './ownership.ts'
import { shownType } from './shown-type.ts'

export const secretType = shownType<WebhookSecret>('WebhookSecret', 'What a webhook’s notifications are signed with.', {
  Secret: [
    text(100, {
      description:
        'The signing secret, beginning with `whsec_`: verify `webhook-signature` with it as Standard Webhooks describes.',
    }),
    'secret',
  ],
  FormerSecret: [
    text(100, { description: 'The secret before the last rotation, while it signs too; else empty.' }),
    'formerSecret',
  ],
  FormerSecretUntil: [
    date({ description: 'The time until which FormerSecret signs; empty: it does not.' }),
    'formerUntil',
  ],
  DateRotated: [date({ description: 'The time of the last rotation; empty: there was none.' }), 'rotatedAt'],
})

type Opening = Pick<Secrets, 'open'>
type Sealing = Pick<Secrets, 'open' | 'seal'>

/** The columns of a webhook's secrets. */
export type SealedSecrets = Pick<Webhook, 'secretSealed' | 'formerSecretSealed' | 'secretRotatedAt'>

/** Returns a new secret, as it is stored. */
export function newSealedSecret(secrets: Pick<Secrets, 'seal'>): string {
  return secrets.seal(newSigningSecret())
}

/** Returns the sealed secrets that sign at this time, newest first. */
export function signingSecrets(webhook: SealedSecrets, at: Date): string[] {
  const { secretSealed, formerSecretSealed } = webhook
  const isFormerOver = formerSecretSealed === null || formerUntil(webhook, at) === null
  return isFormerOver ? [secretSealed] : [secretSealed, formerSecretSealed]
}

/** Throws `not-found`. */
export async function webhookSecret(caller: Caller, secrets: Opening, id: number): Promise<WebhookSecret> {
  const [sealed] = await caller.db.$queryRaw<SealedSecrets[]>`
    SELECT "secretSealed", "formerSecretSealed", "secretRotatedAt" FROM ${ownWebhook(caller, id)}`
  if (!sealed) throw noWebhook(id)
  return shownSecret(secrets, sealed, caller.now())
}

/**
 * Gives the webhook a new secret. The current one also signs for 24 hours; an older one stops signing at once. Throws
 * `not-found`.
 */
export async function rotateWebhookSecret(caller: Caller, secrets: Sealing, id: number): Promise<WebhookSecret> {
  const now = caller.now()
  const [sealed] = await caller.db.$queryRaw<SealedSecrets[]>`
    UPDATE "Webhook" t
    SET "secretSealed" = ${newSealedSecret(secrets)}, "formerSecretSealed" = "secretSealed", "secretRotatedAt" = ${now}::timestamptz
    WHERE "storeId" = ${caller.store.id}::int AND "id" = ${id}::int AND ${ownWebhooks(caller) ?? sql`true`}
    RETURNING "secretSealed", "formerSecretSealed", "secretRotatedAt"`
  if (!sealed) throw noWebhook(id)
  return shownSecret(secrets, sealed, now)
}

export type WebhookSecret = ReturnType<typeof shownSecret>

function shownSecret(secrets: Opening, webhook: SealedSecrets, at: Date) {
  const [secret = '', formerSecret = null] = signingSecrets(webhook, at).map((sealed) => secrets.open(sealed))
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
function formerUntil({ formerSecretSealed, secretRotatedAt }: SealedSecrets, at: Date): Date | null {
  if (formerSecretSealed === null || secretRotatedAt === null) return null
  const until = new Date(secretRotatedAt.getTime() + FORMER_SECRET_MS)
  return until > at ? until : null
}
