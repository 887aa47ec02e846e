import type { Secrets } from '../values/secrets.ts'
import { adapters, type RunStatement, starting } from './adapter.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'
import { driverError } from './outage.ts'
import { CONNECT_MS_MAX, type ConnectOptions, openPool, type Pool } from './pool.ts'
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

const pools = new WeakMap<Db, Pool>()

/** A client for `url` (postgresql://…). It connects at the first statement; `$disconnect()` closes it. */
export function connect(url: string, options: ConnectOptions = {}): Db {
  const pool = openPool(url, options)
  const clientOptions: Prisma.PrismaClientOptions = {
    adapter: pool.adapter,
    errorFormat: 'minimal',
    ...queryCompilerOptions,
  }
  const db = new PrismaClient(clientOptions)
  pools.set(db, pool)
  return db
}

/**
 * A client like `connect`'s, with connections and limits of its own. It shares what Prisma makes of the data model for `db`,
 * which takes 13 MB, and ends with it at the latest.
 */
export async function connectBeside(db: Db, url: string, options: ConnectOptions): Promise<Db> {
  const pool = openPool(url, options)
  const connected = await pool.adapter.connect()
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
  }) as unknown as Db
  pools.set(beside, pool)
  return beside
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

function runnerOf(db: Db | Transaction): RunStatement | undefined {
  return (open.get(db) ?? pools.get(db as Db))?.run
}

/** The rows that a statement returns. Their values are numbers (up to 32 bits), texts, booleans, dates and JSON. */
export async function queryRows<T>(db: Db | Transaction, statement: Sql): Promise<T[]> {
  const run = runnerOf(db)
  return run ? (await run(statement)).rows : db.$queryRaw<T[]>(statement)
}

/** Runs a statement, and returns the number of rows that it changed. */
export async function execute(db: Db | Transaction, statement: Sql): Promise<number> {
  const run = runnerOf(db)
  return run ? ((await run(statement)).rowCount ?? 0) : db.$executeRaw(statement)
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
  const { limits } = pools.get(db) as Pool
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
  const changes = isClient(db) ? pools.get(db)?.changes : undefined
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
