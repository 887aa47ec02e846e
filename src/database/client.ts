import { AsyncLocalStorage } from 'node:async_hooks'
import { PrismaPg } from '@prisma/adapter-pg'
import pg from 'pg'
import type { Secrets } from '../values/secrets.ts'
import { createSemaphore, type Semaphore } from '../values/semaphore.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'
import type { DatabaseHealth } from './health.ts'
import { cutConnection, type Limits, limitConnection, requestLimits } from './limits.ts'
import type { PoolObserver } from './metrics.ts'
import { driverError, Outage } from './outage.ts'
import { queryCompilerOptions } from './query-compiler.ts'
import type { Sql } from './sql.ts'

export type Db = PrismaClient
export type Transaction = Prisma.TransactionClient

/** What nearly every function over the database needs. */
export interface DataServices {
  db: Db
  secrets: Secrets
  now: () => Date
}

/** The same for a function that can join a transaction. */
export type JoiningServices = Omit<DataServices, 'db'> & { db: Db | Transaction }

/** A page of a list by ascending id. */
export interface Paging {
  readonly limit: number
  readonly offset: number
}

export function byId({ limit, offset }: Paging) {
  return { orderBy: { id: 'asc' }, take: limit, skip: offset } as const
}

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

type Guard = Pick<DatabaseHealth, 'guard' | 'watch' | 'onRecovery'>

const unguarded: Guard = {
  guard: (statement) => statement(),
  watch: (statement) => statement(),
  onRecovery: () => {},
}

const unobserved: PoolObserver = { opened: () => {}, waitedForConnection: () => {}, waitedForTurn: () => {} }

const POOL_MAX = 10
/** How long a statement or a transaction waits for a connection. */
const CONNECT_MS_MAX = 5_000
/** Statements kept prepared on each connection. */
const STATEMENTS_MAX = 500

/** What belongs to a client besides its connections. */
interface Attached {
  readonly limits: Limits
  /** Changes, by store: fewer than there are connections, so that reads always find one. */
  readonly changes: Semaphore['run']
  readonly run: RunStatement
  /** Statements that wait for one whose connection they share. */
  readonly companions: Set<Companion>
}

interface Companion {
  readonly statement: Sql
  readonly sent: (result: Promise<pg.QueryResult>) => void
}

/** Runs a statement past Prisma, whose way around a statement costs more than most statements. */
type RunStatement = (statement: Sql) => Promise<pg.QueryResult>

const attached = new WeakMap<Db, Attached>()

/** A client for `url` (postgresql://…). It connects at the first statement; `$disconnect()` closes it. */
export function connect(url: string, options: ConnectOptions = {}): Db {
  const { adapter, attach } = openPool(url, options)
  const clientOptions: Prisma.PrismaClientOptions = { adapter, errorFormat: 'minimal', ...queryCompilerOptions }
  return attach(new PrismaClient(clientOptions))
}

/**
 * A client like `connect`'s, with connections and limits of its own. It shares what Prisma makes of the data model for `db`,
 * which takes 13 MB, and ends with it at the latest.
 */
export async function connectBeside(db: Db, url: string, options: ConnectOptions): Promise<Db> {
  const { adapter, attach } = openPool(url, options)
  const connected = await adapter.connect()
  const $transaction: Db['$transaction'] = (work: unknown, options?: object) => {
    // What the transaction's work runs by another client is that one's.
    const outside = (tx: Transaction) =>
      adapters.run(undefined, () => (work as (tx: Transaction) => Promise<never>)(tx))
    return adapters.run(connected, () => db.$transaction(outside, options))
  }
  const beside = db.$extends({
    client: { $transaction, $disconnect: () => connected.dispose() },
    // Awaited inside, because an operation begins when its promise is awaited.
    query: { $allOperations: ({ args, query }) => adapters.run(connected, async () => await query(args)) },
  })
  return attach(beside as unknown as Db)
}

/** The adapter of a client beside another, for what it runs. Absent: that of the other. */
const adapters = new AsyncLocalStorage<Adapter | undefined>()

function openPool(
  url: string,
  {
    poolMax = POOL_MAX,
    limits = requestLimits,
    isPreparing = true,
    health = unguarded,
    onLost,
    observer = unobserved,
  }: ConnectOptions,
) {
  const names = new Map<string, string>()
  const statementName = (text: string) => {
    const known = names.get(text)
    if (known !== undefined) return known
    // Past the bound, statements run unprepared, so that generated texts cannot fill the server's memory.
    if (!isPreparing || names.size >= STATEMENTS_MAX) return ''
    const name = `s${names.size}`
    names.set(text, name)
    return name
  }
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
  const companions = new Set<Companion>()
  const send: RunStatement = async (statement) => {
    if (companions.size === 0) return pool.query(prepare(statement))
    const client = await pool.connect()
    const query = (each: Sql) => queryOn(client, prepare(each))
    const own = query(statement)
    const others = [...companions].map((companion) => {
      const result = health.watch(() => query(companion.statement))
      companion.sent(result)
      return result
    })
    companions.clear()
    // As `pool.query` does, which trusts no connection behind an error.
    const giveBack = (settled: PromiseSettledResult<unknown>[]) =>
      client.release(settled.some(({ status }) => status === 'rejected'))
    Promise.allSettled([own, ...others]).then(giveBack)
    return own
  }
  const run: RunStatement = (statement) => single(() => send(statement))
  const attach = (db: Db) => {
    const { run: inTurn } = createSemaphore(boundsOfChanges(poolMax))
    attached.set(db, {
      limits,
      changes: timed(inTurn, (seconds) => observer.waitedForTurn('changes', seconds)),
      run,
      companions,
    })
    return db
  }
  return { adapter, attach }
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

/** By a callback, so that a statement past its time is cancelled (`limitConnection`). */
function queryOn(client: pg.ClientBase, statement: ReturnType<Prepare>): Promise<pg.QueryResult> {
  const { promise, resolve, reject } = Promise.withResolvers<pg.QueryResult>()
  // pg's types leave out that a statement with a name takes its values beside it too.
  const query = client.query.bind(client) as unknown as (
    statement: object,
    values: unknown[],
    callback: (error: Error | undefined, result: pg.QueryResult) => void,
  ) => void
  query(statement, statement.values, (error, result) => (error ? reject(error) : resolve(result)))
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

/** Runs a statement outside of transactions. */
type RunSingle = <T>(statement: () => Promise<T>) => Promise<T>

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

/**
 * Waits for statements of one transaction that left together, and throws what the first of them was refused for: the others fail
 * because it did.
 */
export async function allInOrder(statements: readonly (Promise<unknown> | undefined)[]): Promise<void> {
  for (const settled of await Promise.allSettled(statements)) if (settled.status === 'rejected') throw settled.reason
}

/**
 * Lets the end of the transaction `tx` leave together with its last statements, which must be on their way already. What they
 * return cannot undo the transaction any more; their failure does.
 */
export function endWith(tx: Db | Transaction, last: Promise<unknown>): Promise<unknown> | undefined {
  const opened = open.get(tx)
  if (opened === undefined) return last
  // It is waited for behind the end.
  last.catch(() => {})
  opened.last = last
  return undefined
}

/** A transaction of `inTransaction`. */
interface Open {
  readonly followUps: FollowUp[]
  /** What the transaction still waits for when its end is on its way. */
  last?: Promise<unknown>
  /** Present as soon as it has begun. */
  run?: RunStatement
}

const open = new WeakMap<Db | Transaction, Open>()
/** The transaction that is being started, until it has its connection. */
const starting = new AsyncLocalStorage<Open>()

function runnerOf(db: Db | Transaction): RunStatement | undefined {
  return (open.get(db) ?? attached.get(db as Db))?.run
}

/** The rows that a statement returns. Their values are numbers (up to 32 bits), texts, booleans, dates and JSON. */
export async function queryRows<T>(db: Db | Transaction, statement: Sql): Promise<T[]> {
  const run = runnerOf(db)
  return run ? (await run(statement)).rows : db.$queryRaw<T[]>(statement)
}

/**
 * Runs a statement behind the next one that `db` sends outside of transactions in this turn of the event loop, on the same
 * connection and in one piece with it, which takes half the time of one by itself. Runs `alone` when none is sent.
 */
export async function queryRowsBehind<T>(db: Db, statement: Sql, alone: () => Promise<T[]>): Promise<T[]> {
  const companions = attached.get(db)?.companions
  if (companions === undefined) return alone()
  const { promise, resolve } = Promise.withResolvers<T[]>()
  const companion: Companion = { statement, sent: (result) => resolve(result.then(({ rows }) => rows)) }
  companions.add(companion)
  setImmediate(() => companions.delete(companion) && resolve(alone()))
  return promise
}

/** Runs a statement, and returns the number of rows that it changed. */
export async function execute(db: Db | Transaction, statement: Sql): Promise<number> {
  const run = runnerOf(db)
  return run ? ((await run(statement)).rowCount ?? 0) : db.$executeRaw(statement)
}

type Prepare = (statement: Sql) => { name: string; text: string; values: unknown[] }

interface Guards {
  readonly health: Guard
  readonly single: RunSingle
  readonly prepare: Prepare
}

/** An adapter whose statements take turns, and end at once while the database does not answer. */
class GuardedPg extends PrismaPg {
  readonly #guards: Guards

  constructor(guards: Guards, ...args: ConstructorParameters<typeof PrismaPg>) {
    super(...args)
    this.#guards = guards
  }

  override async connect() {
    const { health, single, prepare } = this.#guards
    const adapter = await super.connect()
    const start = adapter.startTransaction.bind(adapter)
    adapter.startTransaction = async (level) => {
      let started: ReturnType<typeof start> | undefined
      const begin = () => {
        started = start(level)
        return started
      }
      const transaction = await health.guard(begin).catch((error) => {
        // Nobody would give back the connection of a late one.
        started?.then((late) => late.executeRaw(rollback).finally(() => late.rollback())).catch(() => {})
        throw error
      })
      const { watch, run } = watching(health, transaction, prepare)
      const opened = starting.getStore()
      // Only its own: the work of a transaction may begin another.
      if (opened) opened.run ??= run
      return guarded(transaction, watch)
    }
    return routed(guarded(adapter, single))
  }
}

/** Leaves to the adapter of a client beside this one what that client runs. */
function routed(adapter: Adapter): Adapter {
  const own = {
    queryRaw: adapter.queryRaw.bind(adapter),
    executeRaw: adapter.executeRaw.bind(adapter),
    startTransaction: adapter.startTransaction.bind(adapter),
  }
  const current = () => {
    const other = adapters.getStore()
    return other === undefined || other === adapter ? own : other
  }
  adapter.queryRaw = (statement) => current().queryRaw(statement)
  adapter.executeRaw = (statement) => current().executeRaw(statement)
  adapter.startTransaction = (level) => current().startTransaction(level)
  return adapter
}

/** Cuts the connection of a transaction when a statement of it is given up: it may end later, under another user of the pool. */
function watching(health: Guard, transaction: Awaited<ReturnType<Adapter['startTransaction']>>, prepare: Prepare) {
  const { client } = transaction as unknown as { client: pg.ClientBase }
  const release = transaction.rollback.bind(transaction)
  let isGivenUp = false
  let isOver = false
  const releaseOrCut = async () => {
    isOver = true
    if (isGivenUp) cutConnection(client)
    await release()
  }
  const executeRaw = transaction.executeRaw.bind(transaction)
  const ending: typeof executeRaw = (statement) => {
    isOver ||= statement.sql === 'COMMIT' || statement.sql === 'ROLLBACK'
    return executeRaw(statement)
  }
  Object.assign(transaction, { executeRaw: ending, commit: releaseOrCut, rollback: releaseOrCut })
  const watch = <T>(statement: () => Promise<T>) =>
    health.watch(statement).catch((error) => {
      isGivenUp ||= error instanceof Outage
      throw error
    })
  const run: RunStatement = async (statement) => {
    // Prisma has ended it for its time. Somebody else may have the connection.
    if (isOver) throw new Outage('The transaction took longer than its time limit')
    return watch(() => client.query(prepare(statement)))
  }
  return { watch, run }
}

const rollback = { sql: 'ROLLBACK', args: [], argTypes: [] }

type Adapter = Awaited<ReturnType<PrismaPg['connect']>>
type Statements = Pick<Adapter, 'queryRaw' | 'executeRaw'>

function guarded<S extends Statements>(statements: S, guard: DatabaseHealth['guard']): S {
  const query = statements.queryRaw.bind(statements)
  const execute = statements.executeRaw.bind(statements)
  statements.queryRaw = (statement) => guard(() => query(statement))
  statements.executeRaw = (statement) => guard(() => execute(statement))
  return statements
}

/** Attempts in all for a transaction that PostgreSQL ended for a deadlock or a serialization failure. */
const ATTEMPTS_MAX = 5

const NO_STORE = 0

export interface TransactionOptions {
  /** The store whose records change: its changes have a part of the connections. Absent: those of no store have one together. */
  readonly storeId?: number
  /** Waiting for a lock, if less than the client's limit. */
  readonly lockMs?: number | undefined
}

type FollowUp = (db: Db) => Promise<void>

/** Lets `run` follow the transaction `tx` of `inTransaction`, whether it was committed, rolled back or lost. */
export function afterTransaction(tx: Db | Transaction, run: FollowUp): void {
  const opened = open.get(tx)
  if (!opened) throw new Error('Not a transaction of inTransaction')
  opened.followUps.push(run)
}

/**
 * Runs `work` in one transaction (READ COMMITTED), or joins the transaction that `db` already is.
 * Retries after a deadlock, so `work` must have no effect outside the database. Throws `unavailable` when other changes
 * leave no connection in time.
 */
export async function inTransaction<T>(
  db: Db | Transaction,
  work: (tx: Transaction) => Promise<T>,
  { storeId = NO_STORE, lockMs }: TransactionOptions = {},
): Promise<T> {
  if (!isClient(db)) return work(db)
  const { limits } = attached.get(db) as Attached
  const transact = async () => {
    const opened: Open = { followUps: [] }
    const limited = async (tx: Transaction) => {
      open.set(tx, opened)
      if (lockMs !== undefined) await tx.$queryRaw`SELECT set_config('lock_timeout', ${String(lockMs)}, true)`
      return work(tx)
    }
    const times = { maxWait: CONNECT_MS_MAX, timeout: limits.transactionMs }
    const transaction = starting.run(opened, () => db.$transaction(limited, times))
    // Where the last statement fails, PostgreSQL makes a rollback of the commit behind it.
    const ended = transaction.finally(() => opened.last)
    return ended.finally(() => runAll(opened.followUps, db))
  }
  return inTurn(db, storeId, () => retried(transact))
}

/** `inTransaction` for a change of the caller's store. */
export function inStoreTransaction<T>(
  { db, store, lockMs }: { db: Db | Transaction; store: { readonly id: number }; lockMs?: number },
  work: (tx: Transaction) => Promise<T>,
): Promise<T> {
  return inTransaction(db, work, { storeId: store.id, lockMs })
}

/**
 * Runs statements outside a transaction that may wait for others' changes when the store has its turn, as `inTransaction`
 * does. In a transaction, at once.
 */
export async function inTurn<T>(db: Db | Transaction, storeId: number, work: () => Promise<T>): Promise<T> {
  const changes = isClient(db) ? attached.get(db)?.changes : undefined
  return changes ? changes(String(storeId), 1, work) : work()
}

async function retried<T>(transact: () => Promise<T>): Promise<T> {
  for (let attempt = 1; ; attempt++) {
    try {
      return await transact()
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !isRetryable(error)) throw error
    }
  }
}

async function runAll(later: readonly FollowUp[], db: Db): Promise<void> {
  for (const run of later) await run(db)
}

/** False for a transaction. Transactions have `$transaction` too (a savepoint), but only a client has `$connect`. */
export function isClient(db: Db | Transaction): db is Db {
  return '$connect' in db
}

function isRetryable(error: unknown): boolean {
  const code = databaseError(error)?.code
  return code === '40P01' || code === '40001' || (error as { code?: unknown })?.code === 'P2034'
}

/**
 * The SQLSTATE (such as 23505) of a PostgreSQL error that Prisma wrapped, and the violated unique index or foreign key, if
 * any; null for every other error. Reads protocol fields, because messages are in the language of the server (lc_messages).
 */
export function databaseError(error: unknown): { code: string; constraint: string | undefined } | null {
  const cause = driverError(error)
  const code = cause?.originalCode ?? cause?.code
  if (!cause || typeof code !== 'string') return null
  return { code, constraint: (cause.constraint as { index?: string } | undefined)?.index }
}
