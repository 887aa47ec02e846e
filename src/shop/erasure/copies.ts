import type { Caller } from '../../engine/caller.ts'
import { eventKinds } from '../../engine/definition/event-kinds.ts'
import { execute, queryRows } from '../../foundation/database/client.ts'
import { anyOf, identifier, join, lines, type Sql, sql } from '../../foundation/database/sql.ts'
import type { Secrets } from '../../foundation/values/secrets.ts'
import { resourceNamed } from '../registry.ts'
import { type Person, type Records, recordsOf } from './person.ts'
import { columnsTo, ERASED, emptyText, isErased, services, treatmentOf } from './personal.ts'
import type { Words } from './words.ts'

// What is of a person outside of the records: copies of them, which name the record, and texts in which somebody wrote of the person.

/** Its `db` is the transaction of the erasure. */
export type Erasing = Caller & { readonly secrets: Secrets }

/** How many rows were emptied or deleted, by kind. */
export type Counts = Record<string, number>

interface Entry {
  readonly id: string
  readonly recordType: string
  readonly changed: readonly (readonly [path: string, before: unknown, after: unknown])[]
}

const serviceOf = new Map(services.map((service) => [resourceNamed(service).table, service]))

/** The path of a difference as the table of what is personal has it. */
function memberOf({ recordType }: Entry, path: string): string {
  return `${serviceOf.get(recordType)}.${path.replace(/\[[^\]]*\]/g, '')}`
}

/** The history of the records, and of those of the person that were deleted before, whose numbers it adds. Takes former values as words. */
export async function readHistory({ db, store }: Erasing, { records, words }: Person) {
  const own = sql`"storeId" = ${store.id}::int`
  const read = (where: Sql) => queryRows<Entry & { recordId: number }>(db)`
    SELECT "id"::text AS "id", "recordType", "recordId", "changed" FROM "HistoryEntry" WHERE ${own} AND ${where}`
  const ofRecords = (numbers: Records) =>
    services.map(
      (service) => sql`("recordType" = ${resourceNamed(service).table} AND "recordId" = ${anyOf(numbers[service])})`,
    )
  const deletions = await read(sql`"kind" = 'delete' AND "recordType" = ANY (${[...serviceOf.keys()]}::text[])
    AND ${words.condition(sql`"changed"::text`, false)}`)
  const all = recordsOf((service) => {
    const gone = deletions.filter(({ recordType }) => serviceOf.get(recordType) === service)
    return [...new Set([...records[service], ...gone.map(({ recordId }) => recordId)])]
  })
  const entries = await read(sql`(${join(ofRecords(all), ' OR ')})`)
  for (const entry of entries) {
    for (const [path, ...values] of entry.changed) {
      const member = memberOf(entry, path)
      if (!isErased(member)) continue
      for (const value of values)
        if (typeof value === 'string') words.add(member, value, treatmentOf(member) === 'sought')
    }
  }
  return { entries, all }
}

async function emptyHistory({ db }: Erasing, entries: readonly Entry[], words: Words): Promise<number> {
  const after = (value: unknown) => (typeof value === 'string' ? words.without(value) : value)
  const changed = entries.map((entry) =>
    entry.changed.map(([path, ...values]) => [
      path,
      ...values.map(isErased(memberOf(entry, path)) ? () => null : after),
    ]),
  )
  return execute(db)`
    UPDATE "HistoryEntry" h SET "changed" = n."changed"
    FROM unnest(${lines(entries.map(({ id }) => id))}::bigint[], ${lines(changed.map((each) => JSON.stringify(each)))}::json[])
      n ("id", "changed")
    WHERE h."id" = n."id" AND h."changed"::text <> n."changed"::text`
}

/** Bodies that are in memory at a time. */
const BODIES_MAX = 200

/** Empties the bodies of events of a service, those that wait to be sent included, and forgets what receivers have answered. */
async function emptyEvents({ db, store }: Erasing, service: string, ids: readonly number[], words: Words) {
  const counts = { Events: 0, Deliveries: 0 }
  const types = eventKinds.filter((kind) => kind.service === service).map(({ type }) => type)
  for (let last = '0'; ids.length > 0; ) {
    const events = await queryRows<{ id: string; body: string }>(db)`
      SELECT "id"::text AS "id", "body" FROM "Event" WHERE "storeId" = ${store.id}::int AND "recordId" = ${anyOf(ids)}
        AND "eventType" = ${anyOf(types)} AND "id" > ${last}::bigint ORDER BY "id" LIMIT ${BODIES_MAX}::int`
    last = events.at(-1)?.id ?? ''
    if (last === '') break
    const numbers = sql`${lines(events.map(({ id }) => id))}::bigint[]`
    const bodies = lines(events.map(({ body }) => emptyText(service, body, words)))
    counts.Events += await execute(db)`
      UPDATE "Event" e SET "body" = n."body" FROM unnest(${numbers}, ${bodies}) n ("id", "body")
      WHERE e."id" = n."id" AND e."body" <> n."body"`
    counts.Deliveries += await execute(db)`
      UPDATE "DeliveryAttempt" a SET "answer" = '' FROM "Delivery" d
      WHERE d."eventId" = ANY (${numbers}) AND a."deliveryId" = d."id" AND a."answer" <> ''`
  }
  return counts
}

/** Mails to the person: none goes out any more. */
function emptyMails({ db, store }: Erasing, { records, words }: Person): Promise<number> {
  return execute(db)`
    UPDATE "Mail" SET "recipient" = '', "subject" = '', "contentSealed" = NULL,
      "state" = CASE "state" WHEN 'waiting' THEN 'void' ELSE "state" END
    WHERE "storeId" = ${store.id}::int AND "recipient" <> ''
      AND ("orderId" = ${anyOf(records.Orders)} OR lower("recipient") = ANY (${words.emails}::text[]))`
}

/** Lines of CSV files and bulk changes: what is not made yet is not made any more. */
async function emptyLines({ db, store }: Erasing, records: Records, words: Words): Promise<number> {
  const ofRecords = services.map(
    (service) => sql`(i."service" = ${service} AND l."recordId" = ${anyOf(records[service])})`,
  )
  return execute(db)`
    UPDATE "CsvImportLine" l SET "name" = '', "body" = '{}', "changes" = '[]', "problems" = '[]', "before" = NULL, "sealed" = NULL,
      "outcome" = CASE WHEN l."outcome" IN ('change', 'new') THEN 'same' ELSE l."outcome" END
    FROM "CsvImport" i
    WHERE i."storeId" = ${store.id}::int AND i."service" = ANY (${[...services]}::text[]) AND l."storeId" = i."storeId"
      AND l."importId" = i."id" AND l."body"::text <> '{}'
      AND (${join(ofRecords, ' OR ')} OR ${words.condition(sql`l."body"::text`, false)})`
}

/** How tables without a store of their own are limited to the rows of one. */
const ofStore: Readonly<Record<string, (id: Sql) => Sql>> = {
  ListView: (id) => sql`"userId" IN (SELECT "id" FROM "StoreUser" WHERE "storeId" = ${id})`,
  ApiCall: (id) => sql`"subscriptionId" IN (SELECT "id" FROM "Subscription" WHERE "storeId" = ${id})`,
  RefusedBody: (
    id,
  ) => sql`"callId" IN (SELECT c."id" FROM "ApiCall" c JOIN "Subscription" s ON s."id" = c."subscriptionId"
    WHERE s."storeId" = ${id})`,
  // They hold what any store has sent to a developer, for a day.
  InboxMessage: () => sql`true`,
}

function rowsOf(table: string, storeId: number): Sql {
  const id = sql`${storeId}::int`
  return ofStore[table]?.(id) ?? sql`"storeId" = ${id}`
}

interface TextRow {
  readonly at: string
  readonly row: Readonly<Record<string, unknown>>
}

/** Takes the person out of columns in which others wrote. */
async function eraseTexts({ db, store }: Erasing, treatment: 'searched' | 'logged', words: Words): Promise<number> {
  const isLog = treatment === 'logged'
  let count = 0
  for (const [name, columns] of columnsTo(treatment)) {
    const table = identifier(name)
    const members = join(columns.map((column) => sql`${column}::text, t.${identifier(column)}`))
    const telling = columns.map((column) => words.condition(sql`t.${identifier(column)}::text`, isLog))
    const found = await queryRows<TextRow>(db)`
      SELECT t.ctid::text AS "at", json_build_object(${members}) AS "row" FROM ${table} t
      WHERE ${rowsOf(name, store.id)} AND (${join(telling, ' OR ')}) FOR UPDATE`
    const assignments = join(columns.map(identifier).map((column) => sql`${column} = n.${column}`))
    for (const { at, row } of found) {
      const after = JSON.stringify(withoutPerson(row, words, isLog))
      count += await execute(db)`
        UPDATE ${table} t SET ${assignments} FROM json_populate_record(NULL::${table}, ${after}::text::json) n
        WHERE t.ctid = ${at}::tid`
    }
  }
  return count
}

/** A row of such columns, JSON or text, without the person. */
export function withoutPerson(row: TextRow['row'], words: Words, isLog: boolean): Record<string, unknown> {
  const values = Object.entries(row).map(([column, value]): [string, unknown] => {
    const text = typeof value === 'string' ? value : JSON.stringify(value)
    if (value === null || !words.isIn(text, isLog)) return [column, value]
    const erased = words.erasedIn(text, isLog)
    return [column, typeof value === 'string' ? erased : JSON.parse(erased)]
  })
  return Object.fromEntries(values)
}

/** The same for columns that are sealed. */
async function eraseSealed({ db, store, secrets }: Erasing, words: Words): Promise<number> {
  let count = 0
  for (const [name, columns] of columnsTo('opened')) {
    for (const column of columns.map(identifier)) {
      const table = identifier(name)
      const sealed = await queryRows<{ at: string; text: string }>(db)`
        SELECT t.ctid::text AS "at", t.${column} AS "text" FROM ${table} t
        WHERE ${rowsOf(name, store.id)} AND t.${column} IS NOT NULL FOR UPDATE`
      for (const { at, text } of sealed) {
        const opened = secrets.open(text)
        if (!words.isIn(opened, true)) continue
        const after = secrets.seal(words.erasedIn(opened, true))
        count += await execute(db)`UPDATE ${table} t SET ${column} = ${after} WHERE t.ctid = ${at}::tid`
      }
    }
  }
  return count
}

/** Takes a person out of everything that is no record. Returns how many rows of each kind had something. */
export async function eraseCopies(
  erasing: Erasing,
  person: Person,
  { entries, all }: Awaited<ReturnType<typeof readHistory>>,
): Promise<Counts> {
  const { db, store } = erasing
  const { customerId, records, words } = person
  const counts: Counts = { History: await emptyHistory(erasing, entries, words), Events: 0, Deliveries: 0 }
  for (const service of services) {
    for (const [kind, count] of Object.entries(await emptyEvents(erasing, service, all[service], words)))
      counts[kind] = (counts[kind] ?? 0) + count
  }
  counts.Mails = await emptyMails(erasing, person)
  counts.CsvLines = await emptyLines(erasing, all, words)
  for (const name of columnsTo('goes').keys()) {
    counts[name] = await execute(db)`
      DELETE FROM ${identifier(name)} WHERE "storeId" = ${store.id}::int AND "customerId" = ${customerId}::int`
  }
  await execute(db)`
    UPDATE "PaymentEntry" SET "customer" = ${ERASED}
    WHERE "storeId" = ${store.id}::int AND "orderId" = ${anyOf(records.Orders)} AND "customer" IS NOT NULL`
  counts.Texts =
    (await eraseTexts(erasing, 'searched', words)) +
    (await eraseTexts(erasing, 'logged', words)) +
    (await eraseSealed(erasing, words))
  return counts
}
