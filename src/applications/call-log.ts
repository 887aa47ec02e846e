import { LRUCache } from 'lru-cache'
import type { Db, Transaction } from '../database/client.ts'
import type { ApiCall, Prisma } from '../database/generated/client.ts'
import { outageOf } from '../database/outage.ts'

/** A request to the API that a subscription's token came with, and its answer. */
export interface AnsweredCall {
  readonly subscriptionId: number
  readonly method: string
  /** Without the query. At most 200 characters are kept. */
  readonly path: string
  /** From 400 on it is a refusal, but for a reader's 404, which says that nothing is there; 401 alone is no use of the subscription. */
  readonly status: number
  /** What was said of it; empty where nothing was wrong. At most 300 characters are kept. */
  readonly message: string
}

/** The last calls of each subscription and its last refusals, and when it was last used. */
export interface CallLog {
  /** Notes a call, in memory. Costs no statement, waits for nothing and never fails. */
  record(call: AnsweredCall): void
  /** Writes what is waiting, and resolves when that is done or has failed; then it waits for the next time. Never rejects. */
  flush(): Promise<void>
  /** Writes what is waiting once more, within 5 s. */
  stop(): Promise<void>
}

export interface CreateCallLog {
  db: Db
  now: () => Date
  /** Told of what could not be written. */
  log?: { warn(details: object, message: string): void; error(details: object, message: string): void }
}

/** How many of a subscription's fine calls, and how many of its refusals, are kept. */
const KEPT_MAX = 100
/** How many calls wait in memory, of all subscriptions; the database then has been away for seconds. */
const WAITING_MAX = 20_000
const FLUSH_MS = 2_000
const STOP_MS = 5_000
const REFUSED_FROM = 400
/** To a reader this is an answer: who asks for new orders every minute must not push real refusals out. */
const NOTHING_THERE = 404
const READING = ['GET', 'HEAD']
const UNAUTHORIZED = 401
const THROTTLED = 429
/** Of a subscription's throttled requests one is noted in this time: they may come by the thousand. */
const THROTTLED_PAUSE_MS = 1_000
const SUBSCRIPTIONS_MAX = 10_000
const PATH_LENGTH_MAX = 200
const MESSAGE_LENGTH_MAX = 300

/**
 * Calls are gathered in memory and written together every 2 s, so that a request pays nothing for being noted; what was
 * noted since then is lost with a killed process. While the database is away, the newest calls wait for it. Should an
 * outage hide that they were written, they are written twice.
 */
export function createCallLog({ db, now, log }: CreateCallLog): CallLog {
  let waiting = createWaiting()
  const isFirstThrottled = createThrottledFilter()
  let timer: NodeJS.Timeout | undefined
  let writing: Promise<void> | undefined
  let isAway = false
  let isStopped = false

  function record({ subscriptionId, method, path, status, message }: AnsweredCall): void {
    const at = now()
    if (status === THROTTLED && !isFirstThrottled(subscriptionId, at.getTime())) return
    waiting.add({
      subscriptionId,
      at,
      method,
      path: storable(path, PATH_LENGTH_MAX),
      status,
      message: storable(message, MESSAGE_LENGTH_MAX),
    })
    flushLater()
  }

  function flushLater(): void {
    if (!isStopped) timer ??= setTimeout(flush, FLUSH_MS).unref()
  }

  async function flush(): Promise<void> {
    // What came after the one under way took its share is for the next.
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
      onFailure(calls, error)
    }
  }

  /** Another time, what an outage prevented; what the database refused, it would refuse again. */
  function onFailure(calls: readonly WaitingCall[], error: unknown): void {
    if (!outageOf(error)) {
      log?.error({ err: error, calls: calls.length }, 'calls could not be logged')
      return
    }
    if (!isAway) log?.warn({ err: error }, 'calls cannot be logged until the database answers')
    isAway = true
    putBack(calls)
  }

  function putBack(calls: readonly WaitingCall[]): void {
    if (calls.length === 0) return
    const later = waiting.all()
    waiting = createWaiting()
    for (const call of [...calls, ...later]) waiting.add(call)
    flushLater()
  }

  async function stop(): Promise<void> {
    isStopped = true
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const limit = setTimeout(resolve, STOP_MS)
    await Promise.race([flush(), late])
    clearTimeout(limit)
  }

  return { record, flush, stop }
}

/** Lets one throttled request of a subscription through in a second. */
function createThrottledFilter() {
  const throttledAt = new LRUCache<number, number>({ max: SUBSCRIPTIONS_MAX })
  return (subscriptionId: number, atMs: number): boolean => {
    const sinceMs = atMs - (throttledAt.get(subscriptionId) ?? Number.NEGATIVE_INFINITY)
    if (sinceMs >= 0 && sinceMs < THROTTLED_PAUSE_MS) return false
    throttledAt.set(subscriptionId, atMs)
    return true
  }
}

type WaitingCall = Omit<ApiCall, 'id'>

/** Text that PostgreSQL takes, whatever was sent. */
function storable(text: string, lengthMax: number): string {
  return text.slice(0, lengthMax).toWellFormed().replaceAll('\0', '\uFFFD')
}

/** Calls by subscription, of each the newest; beyond the bound, those of the subscription go that has waited longest. */
function createWaiting() {
  const bySubscription = new Map<number, ReturnType<typeof addSubscription>>()
  let count = 0

  function add(call: WaitingCall): void {
    const { fine, refused } = bySubscription.get(call.subscriptionId) ?? addSubscription(call.subscriptionId)
    const calls = isRefusal(call) ? refused : fine
    calls.push(call)
    count++
    if (calls.length > KEPT_MAX) {
      calls.shift()
      count--
    }
    if (count > WAITING_MAX) dropFirst()
  }

  function addSubscription(id: number) {
    const kept: { fine: WaitingCall[]; refused: WaitingCall[] } = { fine: [], refused: [] }
    bySubscription.set(id, kept)
    return kept
  }

  function dropFirst(): void {
    for (const [subscriptionId, { fine, refused }] of bySubscription) {
      bySubscription.delete(subscriptionId)
      count -= fine.length + refused.length
      return
    }
  }

  function all(): WaitingCall[] {
    return [...bySubscription.values()].flatMap(({ fine, refused }) => [...fine, ...refused])
  }

  return { add, all }
}

/**
 * Any number of processes write at once, while subscriptions come and go: nothing here waits for a row that another
 * transaction holds, so that no deadlock can begin. Returns the subscriptions whose calls were not written, because
 * somebody holds them: they are being removed, or are worth another try. When another process tells the time of the last
 * use, that is as good as ours.
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

/** Leaves the newest. Rows that another transaction is deleting are left to it. */
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

/** A call as it was noted. */
export type LoggedCall = Pick<ApiCall, 'at' | 'method' | 'path' | 'status' | 'message'>

export interface LastCalls {
  /** The fine ones, newest first. */
  readonly calls: readonly LoggedCall[]
  /** Newest first. */
  readonly refusals: readonly LoggedCall[]
}

/** The newest of a subscription's calls and refusals, `limit` of each; there are 100 at most. Those of the last two seconds may be missing. */
export async function lastCalls(
  db: Db | Transaction,
  { subscriptionId, limit }: { subscriptionId: number; limit: number },
): Promise<LastCalls> {
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

function isRefusal({ status, method }: AnsweredCall): boolean {
  return status >= REFUSED_FROM && !(status === NOTHING_THERE && READING.includes(method))
}
