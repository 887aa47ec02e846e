import { AsyncLocalStorage } from 'node:async_hooks'
import pg from 'pg'
import { createSemaphore, type Semaphore } from '../values/semaphore.ts'
import { type Guard, GuardedPg, type RunSingle, type RunStatement } from './adapter.ts'
import { cutConnection, type Limits, limitConnection, requestLimits } from './limits.ts'
import type { PoolObserver } from './metrics.ts'
import type { Sql } from './sql.ts'

export interface ConnectOptions {
  /** The most connections. More than ten do not raise throughput on a small machine, and they worsen the slowest answers. */
  readonly poolMax?: number
  readonly limits?: Limits
  /** Whether connections keep statements prepared; default: yes. A pooler may give each transaction another session. */
  readonly isPreparing?: boolean
  readonly health?: Guard
  /** Called whenever a connection is lost. */
  readonly onLost?: () => void
  readonly observer?: PoolObserver
}

const unguarded: Guard = {
  guard: (statement) => statement(),
  watch: (statement) => statement(),
  onRecovery: () => {},
}

const unobserved: PoolObserver = { opened: () => {}, waitedForConnection: () => {}, waitedForTurn: () => {} }

const POOL_MAX = 10
/** How long a statement or a transaction waits for a connection. */
export const CONNECT_MS_MAX = 5_000
/** Statements kept prepared on each connection. */
const STATEMENTS_MAX = 500

/** The connections of a client, and what runs on them past Prisma. */
export interface Pool {
  readonly adapter: GuardedPg
  readonly limits: Limits
  /** Changes, by store: fewer than there are connections, so that reads always find one. */
  readonly changes: Semaphore['run']
  readonly run: RunStatement
}

/** Opens no connection yet. */
export function openPool(
  url: string,
  {
    poolMax = POOL_MAX,
    limits = requestLimits,
    isPreparing = true,
    health = unguarded,
    onLost,
    observer = unobserved,
  }: ConnectOptions,
): Pool {
  const statementName = isPreparing ? statementNames() : () => ''
  const config = {
    connectionString: url,
    max: poolMax,
    // A statement need not wait for the answer to the one before it.
    pipeline: true,
    connectionTimeoutMillis: CONNECT_MS_MAX,
    // A connection that the network dropped silently would hang forever, with everything that waits for it.
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    // Between two users of the pool a connection has no error listener for a moment, and an error from the server would
    // end the process. The next user gets the error anyway.
    onConnect: (client: pg.ClientBase) => {
      client.on('error', () => onLost?.())
      limitConnection(client, limits, { onReadOnly: () => cutIdle() })
    },
  }
  const pool = new pg.Pool(config)
  observer.opened(pool, poolMax)
  timeConnect(pool, observer.waitedForConnection)
  // An idle connection that is lost would end the process otherwise. Prisma listens only once it has run something.
  pool.on('error', () => {})
  const cutIdle = idleConnections(pool)
  health.onRecovery(cutIdle)
  const options = {
    statementNameGenerator: ({ sql }: { sql: string }) => statementName(sql),
    disposeExternalPool: true,
  }
  const prepare = ({ text, values }: Sql) => ({ name: statementName(text), text, values })
  const single = inReadTurns(health, poolMax, observer)
  const adapter = new GuardedPg({ health, single, prepare }, pool, options)
  pool.query = cancellingQuery(pool)
  const { run: inTurn } = createSemaphore(boundsOfChanges(poolMax))
  return {
    adapter,
    limits,
    changes: timed(inTurn, (seconds) => observer.waitedForTurn('changes', seconds)),
    run: (statement) => single(() => pool.query(prepare(statement))),
  }
}

/** Returns what names a statement by its text, so that each connection keeps it prepared. */
function statementNames() {
  const names = new Map<string, string>()
  return (text: string): string => {
    const known = names.get(text)
    if (known !== undefined) return known
    // Past the bound, statements run unprepared, so that generated texts cannot fill the server's memory.
    if (names.size >= STATEMENTS_MAX) return ''
    const name = `s${names.size}`
    names.set(text, name)
    return name
  }
}

type Connect = (error: Error | undefined, client: pg.PoolClient | undefined, done: (release?: unknown) => void) => void

/** Tells how long each connection of the pool was waited for. */
function timeConnect(pool: pg.Pool, waited: (seconds: number) => void): void {
  const connectPool = pool.connect.bind(pool)
  const connectTimed = (callback?: Connect) => {
    const sinceMs = performance.now()
    const end = () => waited((performance.now() - sinceMs) / 1_000)
    if (callback === undefined) return connectPool().finally(end)
    return connectPool((...connected) => {
      end()
      callback(...connected)
    })
  }
  pool.connect = connectTimed as pg.Pool['connect']
}

/** Tells how long each turn was waited for. */
function timed(run: Semaphore['run'], waited: (seconds: number) => void): Semaphore['run'] {
  return (key, weight, work) => {
    const sinceMs = performance.now()
    return run(key, weight, () => {
      waited((performance.now() - sinceMs) / 1_000)
      return work()
    })
  }
}

/** What Prisma calls for a single statement. pg-pool's own ends one past its time with the loss of its connection, before it is cancelled. */
function cancellingQuery(pool: pg.Pool): pg.Pool['query'] {
  const query = async (statement: pg.QueryConfig) => {
    const client = await pool.connect()
    const result = queryOn(client, statement)
    // None is trusted behind an error.
    result.then(
      () => client.release(),
      () => client.release(true),
    )
    return result
  }
  return query as pg.Pool['query']
}

/** By a callback, so that a statement past its time is cancelled (`limitConnection`). */
function queryOn(client: pg.ClientBase, statement: pg.QueryConfig): Promise<pg.QueryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>()
  // pg's types leave out that a statement with a name takes its values beside it too.
  const query = client.query.bind(client) as unknown as (
    statement: object,
    values: unknown[],
    callback: (error: Error | undefined, result: pg.QueryResult) => void,
  ) => void
  query(statement, statement.values ?? [], (error, result) => (error ? reject(error) : resolve(result)))
  return promise
}

/**
 * Returns what cuts the connections that nobody uses now. After a failover they may lead to a machine that is gone, or to a
 * server that only reads from now on, and their next users would wait for it or be refused.
 */
function idleConnections(pool: pg.Pool): () => void {
  const idle = new Set<pg.PoolClient>()
  pool.on('release', (_error, client) => idle.add(client))
  pool.on('acquire', (client) => idle.delete(client))
  pool.on('remove', (client) => idle.delete(client))
  return () => {
    for (const client of idle) cutConnection(client)
  }
}

/** How long a change or a read waits for its turn. */
const TURN_MS_MAX = 10_000

/** Two stores together leave room for the changes of a third. */
function boundsOfChanges(poolMax: number) {
  const capacity = Math.max(1, Math.floor(poolMax * 0.8))
  return {
    capacity,
    capacityOfKey: Math.max(1, Math.floor((capacity - 1) / 2)),
    waitingMax: 1_000,
    waitingOfKeyMax: 200,
    waitMs: TURN_MS_MAX,
    message: 'Too many changes of this store are under way; try again in a moment',
  }
}

/** The store that reads, by what runs for it. */
const readers = new AsyncLocalStorage<string>()

/**
 * Runs `work`, which reads for a store: together with all others of that store, its statements outside of transactions have
 * at most half of the connections at a time; more wait. Each has its turn alone, so that the connection works for another as
 * soon as the result is here.
 */
export function readFor<T>(storeId: number, work: () => Promise<T>): Promise<T> {
  return readers.run(String(storeId), work)
}

function inReadTurns(health: Guard, poolMax: number, observer: PoolObserver): RunSingle {
  const { run: inTurn } = createSemaphore({
    ...boundsOfChanges(poolMax),
    capacity: Number.POSITIVE_INFINITY,
    capacityOfKey: Math.ceil(poolMax / 2),
    message: 'Too many reads of this store are under way; try again in a moment',
  })
  const reads = timed(inTurn, (seconds) => observer.waitedForTurn('reads', seconds))
  return (statement) => {
    const storeId = readers.getStore()
    const run = () => health.guard(statement)
    return storeId === undefined ? run() : reads(storeId, 1, run)
  }
}
