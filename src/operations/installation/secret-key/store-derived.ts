import type { DataServices, Db } from '../../../foundation/database/client.ts'
import type { Store, Webhook } from '../../../foundation/database/generated/client.ts'
import { passOverReadOnly } from '../../../foundation/database/outage.ts'
import { newSigningSecret } from '../../../foundation/outbound/standard-webhooks.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'

/** The row of "Upgrade" that says that none are left. */
const UPGRADE = 'derived secrets'

/**
 * Seals the secrets of webhooks and callbacks that early versions derived from SECRET_KEY when they needed them, so that a new
 * key leaves them as they are. Each was derived from the key that the private key or user key beside it is sealed under.
 * Does nothing once it is done. Any number of processes may do it at once, and a kill leaves the rest to the next start.
 */
export async function storeDerivedSecrets({ db, secrets, now }: DataServices): Promise<void> {
  if ((await db.upgrade.count({ where: { name: UPGRADE } })) > 0) return
  await storeCallbackSecrets(db, secrets)
  await storeWebhookSecrets(db, secrets)
  await db.$executeRaw`INSERT INTO "Upgrade" ("name", "doneAt") VALUES (${UPGRADE}, ${now()}) ON CONFLICT DO NOTHING`.catch(
    passOverReadOnly,
  )
}

async function storeCallbackSecrets(db: Db, secrets: Secrets): Promise<void> {
  for (const row of await db.application.findMany({ where: { callbackSecretSealed: '' }, orderBy: { id: 'asc' } })) {
    const { id, publicKey, privateKeySealed, callbackSecretVersion: version } = row
    const secretOf = (version: number) =>
      secrets.seal(newSigningSecret(secrets.derivedBeside(privateKeySealed, `callback ${publicKey} ${version}`)))
    const data = {
      callbackSecretSealed: secretOf(version),
      formerCallbackSecretSealed: row.callbackSecretRotatedAt === null ? null : secretOf(version - 1),
    }
    await db.application.updateMany({ where: { id, callbackSecretSealed: '' }, data })
  }
}

/** In the place of the secrets: what they are derived from. */
type Seeded = Pick<Webhook, 'storeId' | 'id' | 'secretSealed' | 'formerSecretSealed'> & Pick<Store, 'userKeySealed'>

async function storeWebhookSecrets(db: Db, secrets: Secrets): Promise<void> {
  const rows = await db.$queryRaw<Seeded[]>`
    SELECT "storeId", "Webhook"."id", "secretSealed", "formerSecretSealed", "userKeySealed"
    FROM "Webhook" JOIN "Store" ON "Store"."id" = "storeId"
    WHERE "secretSealed" !~ '^v[12][.]' ORDER BY "storeId", "Webhook"."id"`
  for (const { storeId, id, secretSealed: seed, formerSecretSealed: formerSeed, userKeySealed } of rows) {
    const secretOf = (seed: string) =>
      secrets.seal(newSigningSecret(secrets.derivedBeside(userKeySealed, `webhook ${seed}`)))
    const data = { secretSealed: secretOf(seed), formerSecretSealed: formerSeed === null ? null : secretOf(formerSeed) }
    await db.webhook.updateMany({ where: { storeId, id, secretSealed: seed }, data })
  }
}
