import { LRUCache } from 'lru-cache'
import type { Caller } from '../../../engine/caller.ts'
import { type Db, queryRows, type Transaction } from '../../../foundation/database/client.ts'
import type { ApiCall, Prisma } from '../../../foundation/database/generated/client.ts'
import { outageOf } from '../../../foundation/database/outage.ts'
import { constant, identifier, type Sql, sql } from '../../../foundation/database/sql.ts'

interface WaitingCall extends Omit<ApiCall, 'id' | 'ignored'> {
  readonly ignored: readonly string[]
  readonly body: string | null
}

/**
 * An API request that used a subscription's token, and its response. `path`: without the query; 200 characters are kept.
 * `status`: from 400 on, a refusal, except 404 to a read; a 401 does not count as use of the subscription. `message`:
 * that of the error, empty on success; 300 characters are kept. `ignored`: names of members and parameters that were ignored;
 * those within 1 kB are kept. `body`: what a refused request sent, of 16 kB at most; kept for 7 days if the subscription keeps bodies
 * when it is written.
 */
export type AnsweredCall = Omit<WaitingCall, 'at'>

/** The calls kept per subscription: this many successful ones and this many refusals. */
const KEPT_MAX = 100
/** The maximum number of queued calls, for all subscriptions. Reached only when the database is down for seconds. */
const WAITING_MAX = 20_000
/** The maximum number of queued bodies, for all subscriptions: 8 MB. Calls beyond it are queued without theirs. */
const BODIES_WAITING_MAX = 500
/** How long the body of a refused request is kept. */
export const BODIES_KEPT_DAYS = 7
const BODIES_KEPT_MS = BODIES_KEPT_DAYS * 86_400_000
const FLUSH_MS = 2_000
const STOP_MS = 5_000
const REFUSED_FROM = 400
/** A normal answer to a read: a client that polls for new orders every minute must not displace real refusals. */
const NOTHING_THERE = 404
const READING = ['GET', 'HEAD']
const UNAUTHORIZED = 401
const THROTTLED = 429
/** The log keeps one throttled request per subscription in this time, because thousands may arrive. */
const THROTTLED_PAUSE_MS = 1_000
const SUBSCRIPTIONS_MAX = 10_000
const PATH_LENGTH_MAX = 200
const MESSAGE_LENGTH_MAX = 300
const REQUEST_ID_LENGTH_MAX = 100
export const IGNORED_BYTES_MAX = 1_024
/** The most that is kept of a body. */
export const BODY_BYTES_MAX = 16_384

/** The last calls and the last refusals of each subscription, and the time of its last use. */
export type CallLog = ReturnType<typeof createCallLog>

interface CallLogServices {
  readonly db: Db
  readonly now: () => Date
  readonly log?: { warn(details: object, message: string): void; error(details: object, message: string): void }
}

/**
 * Queues calls in memory and writes them together every 2 s, so that logging adds no delay to a request. A killed
 * process loses the calls that were not yet written. While the database is down, the newest calls stay queued. A write
 * whose result an outage hid is repeated, so its calls can appear twice. `log` gets what could not be written.
 */
export function createCallLog(services: CallLogServices) {
  const waiting = createWaiting()
  const write = createWriter(services, waiting)
  const isOneTooMany = createThrottledCheck()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isStopped = false

  /** Queues a call in memory. Runs no statement, never waits and never throws. */
  function record(call: AnsweredCall): void {
    const at = services.now()
    if (isOneTooMany(call, at)) return
    waiting.add(storableCall(call, at))
    flushLater()
  }

  function flushLater(): void {
    if (!isStopped) timer ??= setTimeout(flush, FLUSH_MS).unref()
  }

  /** Writes the queued calls and resolves when that succeeded or failed. Never rejects. */
  async function flush(): Promise<void> {
    // A write in progress has already taken its calls, so later calls need another write.
    while (writing) await writing
    clearTimeout(timer)
    timer = undefined
    writing = write().finally(() => {
      writing = undefined
      if (waiting.isAny()) flushLater()
    })
    await writing
  }

  /** Writes the queued calls a last time, within 5 s. */
  async function stop(): Promise<void> {
    isStopped = true
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const limit = setTimeout(resolve, STOP_MS)
    await Promise.race([flush(), late])
    clearTimeout(limit)
  }

  return { record, flush, stop }
}

/** Returns what writes the queued calls. Those that can be written later are queued again. Never rejects. */
function createWriter({ db, log }: CallLogServices, waiting: ReturnType<typeof createWaiting>) {
  let isAway = false
  return async (): Promise<void> => {
    const calls = waiting.takeAll()
    if (calls.length === 0) return
    try {
      const busy = await writeCalls(db, calls)
      isAway = false
      waiting.putBack(calls.filter(({ subscriptionId }) => busy.has(subscriptionId)))
    } catch (error) {
      // Any error but an outage would only repeat.
      if (!outageOf(error)) return log?.error({ err: error, calls: calls.length }, 'calls could not be logged')
      if (!isAway) log?.warn({ err: error }, 'calls are not logged until the database answers')
      isAway = true
      waiting.putBack(calls)
    }
  }
}

/** Returns whether a call was throttled as one that the log got of its subscription just before. */
function createThrottledCheck() {
  const throttledAt = new LRUCache<number, number>({ max: SUBSCRIPTIONS_MAX })
  return ({ subscriptionId, status }: AnsweredCall, at: Date): boolean => {
    if (status !== THROTTLED) return false
    const sinceMs = at.getTime() - (throttledAt.get(subscriptionId) ?? Number.NEGATIVE_INFINITY)
    if (sinceMs >= 0 && sinceMs < THROTTLED_PAUSE_MS) return true
    throttledAt.set(subscriptionId, at.getTime())
    return false
  }
}

function storableCall(call: AnsweredCall, at: Date): WaitingCall {
  const path = storable(call.path, PATH_LENGTH_MAX)
  const message = storable(call.message, MESSAGE_LENGTH_MAX)
  const requestId = storable(call.requestId, REQUEST_ID_LENGTH_MAX)
  return { ...call, at, path, message, requestId, ignored: namesWithin(call.ignored, IGNORED_BYTES_MAX) }
}

/** Returns text that PostgreSQL can store, whatever the client sent. */
function storable(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).toWellFormed().replaceAll('\0', '\uFFFD')
}

/** Returns the first names that have at most so many bytes together. */
function namesWithin(names: readonly string[], bytesMax: number): readonly string[] {
  if (names.length === 0) return names
  const kept: string[] = []
  let bytes = 0
  for (const name of names) {
    const text = storable(name, bytesMax)
    bytes += Buffer.byteLength(text)
    if (bytes > bytesMax) break
    kept.push(text)
  }
  return kept
}

/** Queues each subscription's newest calls. Above the bound, drops those of the subscription queued longest. */
function createWaiting() {
  const bySubscription = new Map<number, { fine: WaitingCall[]; refused: WaitingCall[] }>()
  let count = 0
  let bodies = 0

  function add(call: WaitingCall): void {
    const kept = bySubscription.get(call.subscriptionId) ?? { fine: [], refused: [] }
    bySubscription.set(call.subscriptionId, kept)
    const calls = isRefusal(call) ? kept.refused : kept.fine
    const queued = call.body !== null && bodies === BODIES_WAITING_MAX ? { ...call, body: null } : call
    calls.push(queued)
    count++
    if (queued.body !== null) bodies++
    if (calls.length > KEPT_MAX) forget(calls.splice(0, 1))
    if (count > WAITING_MAX) dropFirst()
  }

  function dropFirst(): void {
    for (const [subscriptionId, { fine, refused }] of bySubscription) {
      bySubscription.delete(subscriptionId)
      forget([...fine, ...refused])
      return
    }
  }

  function forget(calls: readonly WaitingCall[]): void {
    count -= calls.length
    bodies -= calls.filter(({ body }) => body !== null).length
  }

  function takeAll(): WaitingCall[] {
    const calls = [...bySubscription.values()].flatMap(({ fine, refused }) => [...fine, ...refused])
    bySubscription.clear()
    forget(calls)
    return calls
  }

  /** Queues calls that were taken, before those that came since. */
  function putBack(calls: readonly WaitingCall[]): void {
    for (const call of [...calls, ...takeAll()]) add(call)
  }

  return { add, takeAll, putBack, isAny: () => count > 0 }
}

/**
 * Writes the calls and returns the subscriptions whose rows other transactions hold: those calls were not written and
 * can be retried. Never waits for a locked row, so that processes writing at the same time cannot deadlock. Skips the
 * time of last use when the row is locked, because another process is then writing a time just as recent. A body is written under
 * the lock that a change of `keepsBodies` takes, so that none comes after the merchant has switched it off.
 */
async function writeCalls(db: Db, calls: readonly WaitingCall[]): Promise<ReadonlySet<number>> {
  const inOrder = calls.toSorted((one, other) => one.at.getTime() - other.at.getTime())
  const busy = await db.$queryRaw<{ id: number }[]>`
    WITH "given" AS MATERIALIZED (
      SELECT nextval('"ApiCall_id_seq"') AS "id", "call".* FROM ROWS FROM (
        json_to_recordset(${JSON.stringify(inOrder)}::text::json) AS (
          "subscriptionId" int, "at" timestamptz, "method" text, "path" text, "status" int, "message" text,
          "requestId" text, "ignored" text[], "body" text
        )
      ) WITH ORDINALITY AS "call" ("subscriptionId", "at", "method", "path", "status", "message", "requestId", "ignored",
        "body", "place")
    ), "standing" AS MATERIALIZED (
      SELECT "id" FROM "Subscription" WHERE "id" IN (SELECT "subscriptionId" FROM "given") FOR KEY SHARE SKIP LOCKED
    ), "free" AS MATERIALIZED (
      SELECT "id", "keepsBodies" FROM "Subscription" WHERE "id" IN (SELECT "subscriptionId" FROM "given")
      FOR NO KEY UPDATE SKIP LOCKED
    ), "writable" AS MATERIALIZED (
      SELECT "id" FROM "standing"
      WHERE "id" IN (SELECT "id" FROM "free") OR "id" NOT IN (SELECT "subscriptionId" FROM "given" WHERE "body" IS NOT NULL)
    ), "used" AS (
      UPDATE "Subscription" SET "lastUsedAt" = greatest("lastUsedAt", "at")
      FROM (
        SELECT "subscriptionId", max("at") AS "at" FROM "given" WHERE "status" <> ${UNAUTHORIZED} GROUP BY "subscriptionId"
      ) AS "last" JOIN "free" ON "free"."id" = "subscriptionId"
      WHERE "Subscription"."id" = "free"."id"
    ), "written" AS (
      INSERT INTO "ApiCall" ("id", "subscriptionId", "at", "method", "path", "status", "message", "requestId", "ignored")
      SELECT "given"."id", "subscriptionId", "at", "method", "path", "status", "message", "requestId", "ignored"
      FROM "given" JOIN "writable" ON "writable"."id" = "subscriptionId"
      ORDER BY "place"
    ), "bodies" AS (
      INSERT INTO "RefusedBody" ("callId", "at", "body")
      SELECT "given"."id", "at", "body"
      FROM "given" JOIN "writable" ON "writable"."id" = "subscriptionId" JOIN "free" ON "free"."id" = "subscriptionId"
      WHERE "body" IS NOT NULL AND "keepsBodies"
    )
    SELECT "id" FROM "Subscription"
    WHERE "id" IN (SELECT "subscriptionId" FROM "given") AND "id" NOT IN (SELECT "id" FROM "writable")`
  await trim(db, [...new Set(calls.map(({ subscriptionId }) => subscriptionId))])
  return new Set(busy.map(({ id }) => id))
}

/** Deletes all but the newest calls, with their bodies. Skips rows that another transaction is deleting. */
async function trim(db: Db, subscriptionIds: readonly number[]): Promise<void> {
  await db.$executeRaw(sql`
    DELETE FROM "ApiCall" WHERE "id" = ANY (ARRAY (
      SELECT "id" FROM "ApiCall" WHERE "id" = ANY (ARRAY (
        SELECT "id" FROM (
          SELECT "id", row_number() OVER (
            PARTITION BY "subscriptionId", ${refusalIn('ApiCall')} ORDER BY "at" DESC, "id" DESC
          ) AS "place"
          FROM "ApiCall" WHERE "subscriptionId" = ANY (string_to_array(${subscriptionIds.join()}, ',')::int[])
        ) AS "ranked"
        WHERE "place" > ${KEPT_MAX}
      ))
      FOR UPDATE SKIP LOCKED
    ))`)
}

/** Deletes the bodies of a subscription. Locks its calls first, as the deletion of old calls does. */
export async function deleteBodies(tx: Transaction, subscriptionId: number): Promise<void> {
  await tx.$executeRaw`
    DELETE FROM "RefusedBody" WHERE "callId" IN (
      SELECT "id" FROM "ApiCall" WHERE "subscriptionId" = ${subscriptionId} ORDER BY "id" FOR UPDATE
    )`
}

/** SQL of `isRefusal`, over the rows of `table`. */
export function refusalIn(table: string): Sql {
  const of = identifier(table)
  return sql`(${of}."status" >= ${constant(REFUSED_FROM)}
    AND NOT (${of}."status" = ${constant(NOTHING_THERE)} AND ${of}."method" IN ('GET', 'HEAD')))`
}

/** A call as it is shown. */
export type LoggedCall = Awaited<ReturnType<typeof newest>>[number]

/**
 * Returns a subscription's newest calls and refusals, `limit` (at most 100) of each, perhaps without the last 2 s. `body`: null where
 * none was kept.
 */
export async function lastCalls(services: LogServices, of: Wanted) {
  return { calls: await newest(services, of, answered), refusals: await newest(services, of, refused) }
}

/** Calls and refusals of a subscription: as many as are kept. */
export const LISTED_MAX = 2 * KEPT_MAX

/** Returns a subscription's newest calls and refusals together, the newest first, or the refusals alone; at most 200. */
export async function newestCalls(
  services: LogServices,
  { subscriptionId, limit, onlyRefused }: Wanted & { onlyRefused: boolean },
): Promise<LoggedCall[]> {
  if (onlyRefused) return newest(services, { subscriptionId, limit }, refused)
  const { calls, refusals } = await lastCalls(services, { subscriptionId, limit })
  return [...calls, ...refusals]
    .toSorted((one, other) => other.at.getTime() - one.at.getTime() || other.id - one.id)
    .slice(0, limit)
}

type LogServices = Pick<Caller, 'db' | 'now'>

type Wanted = { readonly subscriptionId: number; readonly limit: number }

const unfound: Prisma.ApiCallWhereInput = { status: NOTHING_THERE, method: { in: READING } }
const answered: Prisma.ApiCallWhereInput = { OR: [{ status: { lt: REFUSED_FROM } }, unfound] }
const refused: Prisma.ApiCallWhereInput = { status: { gte: REFUSED_FROM }, NOT: unfound }

async function newest({ db, now }: LogServices, { subscriptionId, limit }: Wanted, where: Prisma.ApiCallWhereInput) {
  const rows = await db.apiCall.findMany({
    where: { subscriptionId, ...where },
    omit: { subscriptionId: true },
    include: { refusedBody: { select: { body: true } } },
    orderBy: [{ at: 'desc' }, { id: 'desc' }],
    take: Math.min(limit, KEPT_MAX),
  })
  const since = now().getTime() - BODIES_KEPT_MS
  return rows.map(({ refusedBody, id, ...row }) => {
    return { id: Number(id), ...row, body: row.at.getTime() > since ? (refusedBody?.body ?? null) : null }
  })
}

/** Calls that must all have been refused before a subscription counts as failing: one mistake is none. */
const FAILING_CALLS = 3
const FAILING_MS = 30 * 86_400_000
const LOOKED_AT_MAX = 100

export interface RefusedSubscription {
  readonly id: number
  /** That of the application. */
  readonly name: string
  readonly last: Pick<ApiCall, 'method' | 'path' | 'status' | 'message' | 'at'>
}

/**
 * Returns the subscriptions of a store whose last three calls (or all of fewer) were refused, the last within 30 days,
 * newest first. Looks at the hundred applications that were registered last.
 *
 * The order by "subscriptionId" makes PostgreSQL read three entries of its index. Without it, PostgreSQL may read all
 * calls in the order of ids.
 */
export async function refusedSubscriptions({ db, now }: LogServices, storeId: number): Promise<RefusedSubscription[]> {
  const rows = await queryRows<{ id: number; name: string; calls: (RefusedSubscription['last'] & { at: string })[] }>(
    db,
  )`
    SELECT s."id", a."name", c."calls"
      FROM (
        SELECT "id", "applicationId" FROM "Subscription" WHERE "storeId" = ${storeId}::int
        ORDER BY "applicationId" DESC LIMIT ${constant(LOOKED_AT_MAX)}
      ) s
      JOIN "Application" a ON a."id" = s."applicationId"
      CROSS JOIN LATERAL (
        SELECT json_agg(l ORDER BY l."id" DESC) AS "calls" FROM (
          SELECT "id", "method", "path", "status", "message", "at" FROM "ApiCall"
          WHERE "subscriptionId" BETWEEN s."id" AND s."id"
          ORDER BY "subscriptionId" DESC, "id" DESC LIMIT ${constant(FAILING_CALLS)}
        ) l
      ) c
      WHERE c."calls" IS NOT NULL`
  const since = now().getTime() - FAILING_MS
  return rows
    .filter(({ calls }) => calls.every(isRefusal))
    .flatMap(({ id, name, calls }) =>
      calls.slice(0, 1).map((call) => ({ id, name, last: { ...call, at: new Date(call.at) } })),
    )
    .filter(({ last }) => last.at.getTime() >= since)
    .toSorted((one, other) => other.last.at.getTime() - one.last.at.getTime())
}

function isRefusal({ status, method }: Pick<AnsweredCall, 'status' | 'method'>): boolean {
  return status >= REFUSED_FROM && !(status === NOTHING_THERE && READING.includes(method))
}
