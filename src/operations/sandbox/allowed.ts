import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import { type DataServices, type Db, inTransaction } from '../../foundation/database/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'

// Whether developers may try things out here: test stores, and inboxes for what they send.

const SWITCH = 'test-stores'

export interface AllowedServices {
  readonly db: Db
  readonly config: { readonly sandbox: boolean }
}

/** As the operator says; as long as nobody has said anything, in a sandbox. */
export async function areTestStoresAllowed({ db, config }: AllowedServices): Promise<boolean> {
  const row = await db.switch.findUnique({ where: { name: SWITCH }, select: { isOn: true } })
  return row?.isOn ?? config.sandbox
}

/** Throws (403) where developers may not try things out. */
export async function requireTestStores(services: AllowedServices): Promise<void> {
  if (await areTestStoresAllowed(services)) return
  throw new StoreFailure('forbidden', 'Test stores are switched off here: whoever runs this server can switch them on')
}

/** Allows test stores, or not any more: those that there are stay, and their owners can throw them away. */
export async function allowTestStores({ db, now }: DataServices, isOn: boolean, actor: Actor): Promise<void> {
  await inTransaction(db, async (tx) => {
    // Of two at the same time, the later one sees what the first has changed.
    await tx.$executeRaw`
      INSERT INTO "Switch" ("name", "isOn", "changedAt") VALUES (${SWITCH}, ${!isOn}, ${now()}) ON CONFLICT DO NOTHING`
    const changed = await tx.$executeRaw`
      UPDATE "Switch" SET "isOn" = ${isOn}, "changedAt" = ${now()} WHERE "name" = ${SWITCH} AND "isOn" <> ${isOn}`
    if (changed === 0) return
    const action = isOn ? 'test-stores.allowed' : 'test-stores.ended'
    await recordAudit(tx, now, { actor, action, target: 'Test stores of developers' })
  })
}
