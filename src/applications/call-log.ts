import { LRUCache } from 'lru-cache'
import { type Db, queryRows, type Transaction } from '../database/client.ts'
import type { ApiCall, Prisma } from '../database/generated/client.ts'
import { outageOf } from '../database/outage.ts'
import { constant, sql } from '../database/sql.ts'

type WaitingCall = Omit<ApiCall, 'id'>

/**
 * An API request that used a subscription's token, and its response. `path`: without the query; 200 characters are kept.
 * `status`: from 400 on, a refusal, except 404 to a read; a 401 does not count as use of the subscription. `message`:
 * that of the error, empty on success; 300 characters are kept.
 */
export type AnsweredCall = Omit<WaitingCall, 'at'>

/** The calls kept per subscription: this many successful ones and this many refusals. */
const KEPT_MAX = 100
/** The maximum number of queued calls, for all subscriptions. Reached only when the database is down for seconds. */
const WAITING_MAX = 20_000
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

/** The last calls and the last refusals of each subscription, and the time of its last use. */
export type CallLog = ReturnType<typeof createCallLog>

/**
 * Queues calls in memory and writes them together every 2 s, so that logging adds no delay to a request. A killed
 * process loses the calls that were not yet written. While the database is down, the newest calls stay queued. A write
 * whose result an outage hid is repeated, so its calls can appear twice. `log` gets what could not be written.
 */
export function createCallLog(services: {
  db: Db
  now: () => Date
  log?: { warn(details: object, message: string): void; error(details: object, message: string): void }
}) {
  const { db, now, log } = services
  const throttledAt = new LRUCache<number, number>({ max: SUBSCRIPTIONS_MAX })
  let waiting = createWaiting()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isAway = false
  let isStopped = false

  /** Queues a call in memory. Runs no statement, never waits and never throws. */
  function record({ path, message, ...call }: AnsweredCall): void {
    const at = now()
    if (call.status === THROTTLED) {
      const sinceMs = at.getTime() - (throttledAt.get(call.subscriptionId) ?? Number.NEGATIVE_INFINITY)
      if (sinceMs >= 0 && sinceMs < THROTTLED_PAUSE_MS) return
      throttledAt.set(call.subscriptionId, at.getTime())
    }
    const texts = { path: storable(path, PATH_LENGTH_MAX), message: storable(message, MESSAGE_LENGTH_MAX) }
    waiting.add({ at, ...call, ...texts })
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
    })
    await writing
  }

  async function write(): Promise<void> {
    const calls = waiting.all()
    if (calls.length === 0) return
    waiting = createWaiting()
    try {
      const busy = await writeCalls(db, calls)
      isAway = false
      putBack(calls.filter(({ subscriptionId }) => busy.has(subscriptionId)))
    } catch (error) {
      // Any error but an outage would only repeat.
      if (!outageOf(error)) return log?.error({ err: error, calls: calls.length }, 'calls could not be logged')
      if (!isAway) log?.warn({ err: error }, 'calls are not logged until the database answers')
      isAway = true
      putBack(calls)
    }
  }

  function putBack(calls: readonly WaitingCall[]): void {
    if (calls.length === 0) return
    const later = waiting.all()
    waiting = createWaiting()
    for (const call of [...calls, ...later]) waiting.add(call)
    flushLater()
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

/** Returns text that PostgreSQL can store, whatever the client sent. */
function storable(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).toWellFormed().replaceAll('\0', '\uFFFD')
}

/** Queues each subscription's newest calls. Above the bound, drops those of the subscription queued longest. */
function createWaiting() {
  const bySubscription = new Map<number, { fine: WaitingCall[]; refused: WaitingCall[] }>()
  let count = 0

  function add(call: WaitingCall): void {
    const kept = bySubscription.get(call.subscriptionId) ?? { fine: [], refused: [] }
    bySubscription.set(call.subscriptionId, kept)
    const calls = isRefusal(call) ? kept.refused : kept.fine
    calls.push(call)
    if (calls.length > KEPT_MAX) calls.shift()
    else count++
    if (count > WAITING_MAX) dropFirst()
  }

  function dropFirst(): void {
    for (const [subscriptionId, { fine, refused }] of bySubscription) {
      bySubscription.delete(subscriptionId)
      count -= fine.length + refused.length
      return
    }
  }

  const all = () => [...bySubscription.values()].flatMap(({ fine, refused }) => [...fine, ...refused])
  return { add, all }
}

/**
 * Writes the calls and returns the subscriptions whose rows other transactions hold: those calls were not written and
 * can be retried. Never waits for a locked row, so that processes writing at the same time cannot deadlock. Skips the
 * time of last use when the row is locked, because another process is then writing a time just as recent.
 */
async function writeCalls(db: Db, calls: readonly WaitingCall[]): Promise<ReadonlySet<number>> {
  const inOrder = calls.toSorted((one, other) => one.at.getTime() - other.at.getTime())
  const busy = await db.$queryRaw<{ id: number }[]>`
    WITH "given" AS MATERIALIZED (
      SELECT * FROM ROWS FROM (
        json_to_recordset(${JSON.stringify(inOrder)}::text::json) AS (
          "subscriptionId" int, "at" timestamptz, "method" text, "path" text, "status" int, "message" text
        )
      ) WITH ORDINALITY AS "given" ("subscriptionId", "at", "method", "path", "status", "message", "place")
    ), "standing" AS MATERIALIZED (
      SELECT "id" FROM "Subscription" WHERE "id" IN (SELECT "subscriptionId" FROM "given") FOR KEY SHARE SKIP LOCKED
    ), "free" AS MATERIALIZED (
      SELECT "id" FROM "Subscription" WHERE "id" IN (SELECT "subscriptionId" FROM "given") FOR NO KEY UPDATE SKIP LOCKED
    ), "used" AS (
      UPDATE "Subscription" SET "lastUsedAt" = greatest("lastUsedAt", "at")
      FROM (
        SELECT "subscriptionId", max("at") AS "at" FROM "given" WHERE "status" <> ${UNAUTHORIZED} GROUP BY "subscriptionId"
      ) AS "last" JOIN "free" ON "free"."id" = "subscriptionId"
      WHERE "Subscription"."id" = "free"."id"
    ), "written" AS (
      INSERT INTO "ApiCall" ("subscriptionId", "at", "method", "path", "status", "message")
      SELECT "subscriptionId", "at", "method", "path", "status", "message"
      FROM "given" JOIN "standing" ON "standing"."id" = "subscriptionId"
      ORDER BY "place"
    )
    SELECT "id" FROM "Subscription"
    WHERE "id" IN (SELECT "subscriptionId" FROM "given") AND "id" NOT IN (SELECT "id" FROM "standing")`
  await trim(db, [...new Set(calls.map(({ subscriptionId }) => subscriptionId))])
  return new Set(busy.map(({ id }) => id))
}

/** Deletes all but the newest calls. Skips rows that another transaction is deleting. */
async function trim(db: Db, subscriptionIds: readonly number[]): Promise<void> {
  await db.$executeRaw`
    DELETE FROM "ApiCall" WHERE "id" = ANY (ARRAY (
      SELECT "id" FROM "ApiCall" WHERE "id" = ANY (ARRAY (
        SELECT "id" FROM (
          SELECT "id", row_number() OVER (
            PARTITION BY "subscriptionId", 
              "status" >= ${REFUSED_FROM} AND NOT ("status" = ${NOTHING_THERE} AND "method" IN ('GET', 'HEAD'))
            ORDER BY "at" DESC, "id" DESC
          ) AS "place"
          FROM "ApiCall" WHERE "subscriptionId" = ANY (string_to_array(${subscriptionIds.join()}, ',')::int[])
        ) AS "ranked"
        WHERE "place" > ${KEPT_MAX}
      ))
      FOR UPDATE SKIP LOCKED
    ))`
}

/** Returns a subscription's newest calls and refusals, `limit` (at most 100) of each, perhaps without the last 2 s. */
export async function lastCalls(
  db: Db | Transaction,
  { subscriptionId, limit }: { subscriptionId: number; limit: number },
) {
  const newest = (where: Prisma.ApiCallWhereInput) =>
    db.apiCall.findMany({
      where: { subscriptionId, ...where },
      select: { at: true, method: true, path: true, status: true, message: true },
      orderBy: [{ at: 'desc' }, { id: 'desc' }],
      take: Math.min(limit, KEPT_MAX),
    })
  const unfound = { status: NOTHING_THERE, method: { in: READING } }
  const calls = await newest({ OR: [{ status: { lt: REFUSED_FROM } }, unfound] })
  return { calls, refusals: await newest({ status: { gte: REFUSED_FROM }, NOT: unfound }) }
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
export async function refusedSubscriptions(
  { db, now }: { db: Db | Transaction; now: () => Date },
  storeId: number,
): Promise<RefusedSubscription[]> {
  const rows = await queryRows<{ id: number; name: string; calls: (RefusedSubscription['last'] & { at: string })[] }>(
    db,
    sql`SELECT s."id", a."name", c."calls"
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
      WHERE c."calls" IS NOT NULL`,
  )
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
