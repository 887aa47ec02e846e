import { setTimeout as delay } from 'node:timers/promises'
import { type Db, execute, isClient, queryRows, type Transaction } from '../../foundation/database/client.ts'
import { anyOfFew, identifier, lines, storeId } from '../../foundation/database/sql.ts'
import type { Caller, RaisedEvent, RecordKind } from '../caller.ts'
import type { EventKind } from '../definition/event-kinds.ts'
import type { Selected } from '../definition/reader.ts'
import type { Change, Resource } from '../definition/resource.ts'
import { getRecord } from '../reading/read.ts'
import { type ComparedChange, differencesOf } from './differences.ts'
import { recordHistory } from './history.ts'

// What is recorded of every change, from one comparison: its history, and the events that its definition names.

/**
 * Raises the events of records about to be deleted, which their events show as they were last. Reads them: call it before anything
 * is written.
 */
export async function raiseDeletions(changes: readonly Change[]): Promise<void> {
  for (const { kind, caller, resource, id } of changes) {
    const deleted = resource.events?.deleted
    if (kind !== 'delete' || deleted === undefined) continue
    raise(caller, deleted, resource, id, { body: await getRecord(caller, resource, id) })
  }
}

/** Raises the other events that the definition names at once, and records the history, in the transaction of the changes. */
export function recordChanges(changes: readonly Change[]): Promise<void> {
  const compared = changes.map((change): ComparedChange => {
    const { resource, kind, before, after } = change
    return { ...change, differences: before && differencesOf(resource, before, kind === 'delete' ? null : after) }
  })
  for (const change of compared) raiseOf(change)
  return recordHistory(compared)
}

function raiseOf({ kind, caller, resource, id, after, differences }: ComparedChange): void {
  const { events } = resource
  if (events === undefined || kind === 'delete') return
  if (differences === null) {
    if (events.new) raise(caller, events.new, resource, id)
    return
  }
  const others = events.notifiedBesides?.(after) ?? []
  const members = differences.members.filter((member) => !others.includes(member))
  if (events.changed && members.length > 0) raise(caller, events.changed, resource, id, { members })
}

/** Bodies that one statement reads, because a body can have 10 MB and one text carries them all. */
const READ_MAX = 20
/** Characters of bodies that one statement writes. */
const WRITTEN_MAX = 4 * 1024 * 1024

interface Told {
  /** The record's JSON text. Omitted or null: the record as the change leaves it. */
  readonly body?: string | null
  /** The members that took other values, for a kind that names them. Those that answers do not show are left out. */
  readonly members?: readonly string[]
}

/** Raises an event in the transaction of a change, once for each kind and record, which has all members then. */
export function raise(
  { raised }: Caller,
  { type: eventType }: EventKind,
  resource: Resource,
  recordId: number,
  { body = null, members }: Told = {},
): void {
  if (!raised) throw new Error('An event was raised outside a change')
  const key = `${eventType} ${recordId}`
  const event = raised.get(key) ?? { eventType, resource, recordId, body, members: members && new Set<string>() }
  for (const member of members ?? []) {
    const isShown = resource.fields.get(member.split('.', 1)[0] as string) !== undefined
    if (isShown) event.members?.add(member)
  }
  raised.set(key, event)
}

/**
 * Writes events. Each body is the record's JSON text as GET returns it, and never changes afterwards. Returns what writes the
 * last of them, which is on its way as soon as it is called.
 */
export async function recordEvents(tx: Caller, raised: readonly RaisedEvent[]): Promise<() => Promise<void>> {
  let rows: EventRow[] = []
  let length = 0
  for (let first = 0; first < raised.length; first += READ_MAX) {
    const batch = raised.slice(first, first + READ_MAX)
    const bodies = await readBodies(tx, batch)
    for (const { resource, recordId, eventType, body: given, members } of batch) {
      const name = nameOf(resource, recordId)
      const body = given ?? bodies.get(name)
      if (body === undefined) throw new Error(`There is no record for the event of ${name}`)
      if (length + body.length > WRITTEN_MAX) {
        await insertEvents(tx, rows)
        rows = []
        length = 0
      }
      rows.push({ eventType, recordId, body, changed: changedIn(members) })
      length += body.length
    }
  }
  return () => insertEvents(tx, rows)
}

interface EventRow {
  readonly eventType: number
  readonly recordId: number
  readonly body: string
  /** Null: its kind names no members. */
  readonly changed: string | null
}

/** The members of an event in one order, whichever of them changed first. None that answers show is a blank, because `lines` has NULL for an empty text. */
function changedIn(members: ReadonlySet<string> | undefined): string | null {
  return members ? [...members].sort().join(',') || ' ' : null
}

async function insertEvents({ db, store, now }: Caller, rows: readonly EventRow[]): Promise<void> {
  if (rows.length === 0) return
  await execute(db)`
    INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "changed", "createdAt")
    SELECT ${store.id}::int, n."eventType", n."recordId", n."body", btrim(n."changed"), ${now().toISOString()}::timestamptz
    FROM unnest(${lines(rows.map(({ eventType }) => eventType))}::smallint[],
      ${lines(rows.map(({ recordId }) => recordId))}::int[], ${lines(rows.map(({ body }) => body))},
      ${lines(rows.map(({ changed }) => changed))}) n ("eventType", "recordId", "body", "changed")`
}

/** The bodies of these records: made from what the change's own statement returned, or read. */
async function readBodies(tx: Caller, raised: readonly RaisedEvent[]): Promise<Map<string, string>> {
  const bodies = new Map<string, string>()
  const wanted = raised.filter(({ body }) => body === null)
  for (const [resource, events] of Map.groupBy(wanted, (event) => event.resource)) {
    const ids = new Set<number>()
    for (const { recordId } of events) {
      const written = tx.written?.get(resource)?.get(recordId)
      if (written) bodies.set(nameOf(resource, recordId), resource.reader.compose(written))
      else ids.add(recordId)
    }
    if (ids.size === 0) continue
    const { table, reader } = resource
    const rows = await queryRows<{ id: number; row: string }>(tx.db)`
      SELECT t."id", ${reader.select}::text AS "row"
      FROM ${identifier(table)} t JOIN "Store" s ON s."id" = t."storeId"
      WHERE t."storeId" = ${storeId(tx.store)} AND t."id" = ${anyOfFew([...ids])}`
    for (const { id, row } of rows) bodies.set(nameOf(resource, id), reader.compose(JSON.parse(row) as Selected))
  }
  return bodies
}

function nameOf({ service }: RecordKind, recordId: number): string {
  return `${service} ${recordId}`
}

/** The NOTIFY channel for committed events that have no number yet. */
export const eventsChannel = 'events'
/** The NOTIFY channel for deliveries that are due. */
export const deliveriesChannel = 'deliveries'
/** The NOTIFY channel for mails that are due. */
export const mailsChannel = 'mails'
/** The NOTIFY channel for persons who were erased. */
export const erasuresChannel = 'erasures'

type Channel = typeof eventsChannel | typeof deliveriesChannel | typeof mailsChannel | typeof erasuresChannel

/** Between two calls. Without it, each of many changes would wake the workers of all processes. */
const PAUSE_MS = 20

/** The channels with a call under way; true: another call has come since. */
const underWay = new WeakMap<Db, Map<Channel, boolean>>()

/**
 * Wakes the waiting workers of all processes after a commit. Does nothing inside a transaction, because NOTIFY there
 * makes commits queue behind one another: call it after the commit. Returns at once, and merges calls made while one is
 * under way, or within 20 ms after it. A failure is ignored, because workers also poll.
 */
export function announce(db: Db | Transaction, channel: Channel): void {
  if (!isClient(db)) return
  const channels = underWay.get(db) ?? new Map<Channel, boolean>()
  underWay.set(db, channels)
  if (channels.has(channel)) channels.set(channel, true)
  else void notify(db, channel, channels)
}

async function notify(db: Db, channel: Channel, channels: Map<Channel, boolean>): Promise<void> {
  do {
    channels.set(channel, false)
    await execute(db)`SELECT pg_notify(${channel}, '')`.catch(() => undefined)
    await delay(PAUSE_MS, undefined, { ref: false })
  } while (channels.get(channel))
  channels.delete(channel)
}
