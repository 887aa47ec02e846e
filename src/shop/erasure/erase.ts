import { DateTime } from 'luxon'
import { type Actor, recordAudit } from '../../access/audit/audit.ts'
import type { Caller } from '../../engine/caller.ts'
import { inChange } from '../../engine/changing/change.ts'
import type { Remember } from '../../engine/changing/idempotency.ts'
import { inRehearsal } from '../../engine/changing/rehearsal.ts'
import { updateRows } from '../../engine/changing/update-rows.ts'
import { lockRecords, stampsBehind, storeLists } from '../../engine/changing/write.ts'
import { tableLists } from '../../engine/definition/fields.ts'
import { announce, erasuresChannel } from '../../engine/recording/events.ts'
import { afterTransaction, execute, queryRows } from '../../foundation/database/client.ts'
import { anyOf } from '../../foundation/database/sql.ts'
import type { Files } from '../../foundation/files/files.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isOneOf } from '../../foundation/values/secrets.ts'
import { filesOfPicture } from '../pictures/pictures.ts'
import { resourceNamed } from '../registry.ts'
import { holdsStock } from '../resources/orders/statuses.ts'
import { raiseErased } from '../webhooks/notified.ts'
import { addRedactions } from '../webhooks/redactions.ts'
import { type Counts, type Erasing, eraseCopies, readHistory } from './copies.ts'
import { findPerson, type Person, type PersonNamed, type Records, readRecords, targetOf } from './person.ts'
import { emptyStored, isErased, services } from './personal.ts'
import { readBookkeeping } from './settings.ts'

export interface Confirmation<Outcome> {
  /** What a dry run gave. */
  readonly confirm: string
  readonly actor: Actor
  readonly remember?: Remember<Outcome> | undefined
}

export interface ErasureServices {
  readonly files: Files
  /** The files of `archiveDir` are searched afterwards. */
  readonly config: { readonly archiveDir: string | null }
}

/** What an erasure leaves nothing of, or would. */
export interface Erased {
  readonly customerId: number | null
  readonly records: Records
  readonly counts: Counts
  /** Orders with parcels that have not left: their addresses go too. */
  readonly unshipped: number
  /** What a dry run gives, and the erasure of just these records takes. */
  readonly confirm: string
}

/** Says what the erasure of a person would leave nothing of: it is made, and undone. Throws as `findPerson` does. */
export function rehearseErasure(erasing: Erasing, named: PersonNamed): Promise<Erased> {
  return inRehearsal(erasing, async (tx) => {
    const person = await findPerson(tx, named)
    return erase({ ...tx, secrets: erasing.secrets }, person)
  })
}

/**
 * Erases a person in one transaction: from the records, from all copies, and from what others wrote of the person. Notifications that wait
 * go out emptied. Raises Customer Erased. Throws a 409 where other records would go by now. Throws as
 * `findPerson` does.
 */
export async function erasePerson(
  erasing: Erasing,
  services: ErasureServices,
  named: PersonNamed,
  { confirm, actor, remember }: Confirmation<Erased>,
): Promise<Erased> {
  const steps = async (tx: Caller) => {
    const own = { ...tx, secrets: erasing.secrets }
    const person = await findPerson(own, named)
    if (!isOneOf(confirm, erasing.secrets.lookups(confirmed(own, person)))) {
      const message = 'Confirm must be what a dry run gave, and the records are others by now. Look at them again'
      throw new StoreFailure('invalid-state', message, { field: 'Confirm' })
    }
    return eraseFound(own, services, person, { actor })
  }
  return inChange(erasing, steps, remember)
}

/** By whom a person is erased, and which row of `Erasure` waits for it: of a replay, which nobody is told of, with its records. */
interface ErasedBy {
  readonly actor: Actor
  readonly waiting?: { readonly id: number; readonly isReplay: boolean }
}

/** Erases a person who was found, in the transaction of `erasing`. */
export async function eraseFound(erasing: Erasing, services: ErasureServices, person: Person, by: ErasedBy) {
  const { pictures, all, ...erased } = await erase(erasing, person)
  await note(erasing, services, { ...person, records: all }, erased.counts, by)
  // Last, because a file does not come back with what is undone.
  for (const name of pictures)
    for (const path of filesOfPicture(erasing.store.id, name)) await services.files.remove(path)
  return erased
}

function confirmed({ store }: Erasing, { customerId, records }: Person): string {
  return `erasure ${JSON.stringify([store.id, customerId, services.map((service) => records[service])])}`
}

/** `all`: the records, and those of the person that were deleted before. */
async function erase(erasing: Erasing, person: Person) {
  const { customerId, records } = person
  const history = await readHistory(erasing, person)
  const unshipped = await countUnshipped(erasing, records)
  await keepAddresses(erasing, records)
  for (const service of services) await eraseRecords(erasing, service, person)
  const copies = await eraseCopies(erasing, person, history)
  const pictures = await removeUnused(erasing, person.pictures)
  const own = Object.fromEntries(services.map((service) => [service, records[service].length]))
  const counts = { ...own, ...copies, Pictures: pictures.length }
  const confirm = erasing.secrets.lookup(confirmed(erasing, person))
  return { customerId, records, counts, unshipped, pictures, all: history.all, confirm }
}

async function countUnshipped({ db, store }: Erasing, { Orders }: Records): Promise<number> {
  const waiting = await queryRows<{ statusId: number }>(db)`
    SELECT "statusId" FROM "Order" WHERE "storeId" = ${store.id}::int AND "id" = ${anyOf(Orders)} AND "fulfilment" IN ('waiting', 'part')`
  return waiting.filter(({ statusId }) => holdsStock(statusId)).length
}

/** Records that are in memory at a time. */
const LOCKED_MAX = 100

/** Empties the records of a service, under their locks. */
async function eraseRecords(erasing: Erasing, service: keyof Records, { records, words }: Person): Promise<void> {
  const resource = resourceNamed(service)
  const lists = tableLists(resource.fields).map(({ name }) => name)
  for (let first = 0; first < records[service].length; first += LOCKED_MAX) {
    const locked = await lockRecords(erasing, resource, records[service].slice(first, first + LOCKED_MAX), lists)
    const changes = [...(locked?.stored ?? [])].map(([id, before]) => {
      const after = emptyStored(resource, before, words)
      // Programs that ask for what has changed find it.
      return { id, before, after: { ...after, row: { ...after.row, ...stampsBehind(before.row, erasing) } } }
    })
    const rows = changes.map(({ before, after }) => ({ before: before.row, after: after.row }))
    await updateRows(erasing, resource, rows)
    await storeLists(erasing, resource, changes)
  }
}

/** Keeps the billing addresses of orders until the bookkeeping years end, where the store has to. */
async function keepAddresses(erasing: Erasing, { Orders }: Records): Promise<void> {
  const { db, store } = erasing
  const { bookkeepingYears: years, keepsInvoiceAddresses } = await readBookkeeping(erasing)
  if (!keepsInvoiceAddresses) return
  const dates = await db.order.findMany({
    where: { storeId: store.id, id: { in: [...Orders] } },
    select: { id: true, orderDate: true, statusId: true },
  })
  const invoiced = new Map(
    dates.filter(({ statusId }) => holdsStock(statusId)).map(({ id, orderDate }) => [id, orderDate]),
  )
  for await (const order of readRecords(erasing, resourceNamed('Orders'), [...invoiced.keys()])) {
    const orderId = Number(order.OrderID)
    const placed = DateTime.fromJSDate(invoiced.get(orderId) as Date, { zone: store.timeZone })
    const yearAfter = placed.plus({ years: years + 1 }).startOf('year')
    const until = yearAfter.toJSDate()
    // Name and address alone, with the country, which stays in the order too.
    const isKept = (name: string) => /^Billing(?!Email|Phone)/.test(name) && isErased(`Orders.${name}`)
    const billing = Object.entries(order).filter(([name]) => isKept(name) || name === 'BillingCountry')
    if (until > erasing.now()) {
      const data = { storeId: store.id, orderId, address: Object.fromEntries(billing), until }
      await db.invoiceAddress.createMany({ data: [data], skipDuplicates: true })
    }
  }
}

/** Deletes those of the pictures that nothing says any more, and returns their names. */
async function removeUnused({ db, store }: Erasing, names: ReadonlySet<string>): Promise<string[]> {
  const gone = await queryRows<{ name: string }>(db)`
    DELETE FROM "Picture" WHERE "storeId" = ${store.id}::int AND "name" = ANY (${[...names]}::text[])
      AND NOT "isPictureUsed"("storeId", "name") RETURNING "name"`
  return gone.map(({ name }) => name)
}

/** Notes that the person was erased, without anything of the person, and tells those who ask for it. */
async function note(
  erasing: Erasing,
  { config }: ErasureServices,
  person: Person,
  counts: Counts,
  { actor, waiting }: ErasedBy,
) {
  const { db, store, now, secrets } = erasing
  const { customerId, records, words } = person
  const wordsSealed = config.archiveDir !== null ? secrets.seal(JSON.stringify(words)) : null
  const done = { erasedAt: now(), customerId, counts, wordsSealed }
  const by = { storeId: store.id, actorKind: actor.kind, actor: actor.name, createdAt: now() }
  const erasure = waiting
    ? await db.erasure.update({ where: { storeId_id: { storeId: store.id, id: waiting.id } }, data: done })
    : await db.erasure.create({ data: { ...by, ...done } })
  for (const service of services) {
    await execute(db)`
      INSERT INTO "ErasedRecord" ("storeId", "service", "recordId", "erasureId")
      SELECT ${store.id}::int, ${service}, unnest(${records[service]}::int[]), ${erasure.id}::int ON CONFLICT DO NOTHING`
  }
  if (!waiting?.isReplay) {
    if (customerId !== null) raiseErased(erasing, customerId)
    await addRedactions(db, { secrets, now }, { storeId: store.id, customerId, orderIds: records.Orders })
  }
  const details = { ...counts, ...(waiting?.isReplay && { replayed: true }) }
  await recordAudit(db, now, { actor, action: 'customer.erased', target: targetOf(person), storeId: store.id, details })
  afterTransaction(db, async (free) => announce(free, erasuresChannel))
}
