import type { Secrets } from '../values/secrets.ts'
import { adapterOf, beginning, poolInstead } from './adapter.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'
import { databaseError } from './outage.ts'
import { CONNECT_MS_MAX, type ConnectOptions, type OpenTransaction, Pool } from './pool.ts'
import type { Query } from './query.ts'
import { sql } from './sql.ts'

export type Db = PrismaClient
export type Transaction = Prisma.TransactionClient

/** What nearly every function over the database needs. */
export interface DataServices {
  db: Db
  secrets: Secrets
  now: () => Date
}

/** What it takes to make a secret, and to say until when it works. */
export type SealingServices = Pick<DataServices, 'secrets' | 'now'>

/** The same for a function that can join a transaction. */
export type JoiningServices = Omit<DataServices, 'db'> & { db: Db | Transaction }

/** A page of a list by ascending id. */
export interface Paging {
  readonly limit: number
  readonly offset: number
}

/** A page of a list by descending id, from before an id. */
export interface PageBefore {
  readonly limit: number
  readonly before?: number | undefined
}

export function byId({ limit, offset }: Paging) {
  return { orderBy: { id: 'asc' }, take: limit, skip: offset } as const
}

const pools = new WeakMap<Db, Pool>()

/** A client for `url` (postgresql://…). It connects at the first statement; `$disconnect()` closes it. */
export function connect(url: string, options: ConnectOptions = {}): Db {
  const pool = new Pool(url, options)
  const db = new PrismaClient({ adapter: adapterOf(pool), errorFormat: 'minimal' })
  pools.set(db, pool)
  return db
}

/**
 * A client like `connect`'s that uses what Prisma makes of the data model for `db`, which takes 0.1 s and 9 MB, and ends before
 * `db`. Two that look for a record by its key in the same moment, one by each client, may do so on one pool.
 */
export function connectBeside(db: Db, url: string, options: ConnectOptions): Db {
  const pool = new Pool(url, options)
  const beside = db.$extends({
    client: {
      $transaction: (work: (tx: Transaction) => Promise<unknown>, times: object) =>
        poolInstead.run(pool, () => db.$transaction((tx) => poolInstead.run(undefined, () => work(tx)), times)),
      $disconnect: () => pool.end(),
    },
    // Awaited inside, because Prisma begins when its promise is awaited.
    query: { $allOperations: ({ args, query }) => poolInstead.run(pool, async () => await query(args)) },
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
  // It is awaited after the end.
  last.catch(() => {})
  opened.last = last
  return undefined
}

/** A transaction of `inTransaction`. */
interface Open {
  readonly followUps: FollowUp[]
  readonly transaction: OpenTransaction
  /** What the transaction still waits for when its end is on its way. */
  last?: Promise<unknown>
}

const open = new WeakMap<Db | Transaction, Open>()

function runnerOf(db: Db | Transaction | Pool): Pick<Pool, 'run'> | undefined {
  return db instanceof Pool ? db : (open.get(db)?.transaction ?? pools.get(db as Db))
}

/** Takes a statement as a template: its values become parameters, or parts of the text if they are fragments. */
type Tag<T> = (...template: Parameters<typeof sql>) => Promise<T>

/**
 * The rows that a statement returns, past Prisma, whose way around a statement costs more than most statements. Their values are
 * numbers (up to 32 bits), texts, booleans, dates and JSON.
 */
export function queryRows<T>(db: Db | Transaction | Pool): Tag<T[]> {
  return async (...template) => {
    const statement = sql(...template)
    const runner = runnerOf(db)
    return runner ? (await runner.run(statement)).rows : (db as Transaction).$queryRaw<T[]>(statement)
  }
}

/** The transaction `tx` of `inTransaction`, asked by SQL text. Only a text with values is kept prepared. */
export function queryIn(tx: Transaction): Query {
  const transaction = open.get(tx)?.transaction
  if (transaction === undefined) throw new Error('Not a transaction of inTransaction')
  return {
    query: async (text, values = []) =>
      (await transaction.run({ text, ...(values.length > 0 && { values: [...values] }) })).rows,
  }
}

/** Who reads for a store. */
export interface StoreReader {
  readonly db: Db | Transaction
  readonly store: { readonly id: number }
}

/** `queryRows` when the store has its turn (`readInTurn`). */
export function rowsInTurn<T>(reader: StoreReader): Tag<T[]> {
  return (...template) => readInTurn(reader, () => queryRows<T>(reader.db)(...template))
}

/**
 * Runs a statement that reads for a store: together with all others of that store, those outside of transactions have at most half
 * of the connections at a time; more wait. Each has its turn alone, so that the connection works for another as soon as the result
 * is here.
 */
export function readInTurn<T>({ db, store }: StoreReader, statement: () => Promise<T>): Promise<T> {
  const reads = isClient(db) ? pools.get(db)?.reads : undefined
  return reads ? reads(String(store.id), 1, statement) : statement()
}

/** Runs a statement, and returns the number of rows that it changed. */
export function execute(db: Db | Transaction | Pool): Tag<number> {
  return async (...template) => {
    const statement = sql(...template)
    const runner = runnerOf(db)
    return runner ? ((await runner.run(statement)).rowCount ?? 0) : (db as Transaction).$executeRaw(statement)
  }
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
  const pool = pools.get(db) as Pool
  const transact = async () => {
    const followUps: FollowUp[] = []
    let opened: Open | undefined
    const joined = async (tx: Transaction) => {
      open.set(tx, opened as Open)
      if (lockMs !== undefined) await execute(tx)`SELECT set_config('lock_timeout', ${String(lockMs)}, true)`
      return work(tx)
    }
    const times = { maxWait: CONNECT_MS_MAX, timeout: pool.limits.transactionMs }
    // Where the last statement fails, PostgreSQL makes a rollback of the commit behind it.
    const begun = (transaction: OpenTransaction) => {
      opened ??= { followUps, transaction }
    }
    const ended = beginning.run(begun, () => db.$transaction(joined, times)).finally(() => opened?.last)
    return ended.finally(async () => {
      for (const run of followUps) await run(db)
    })
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
      const isRetryable = ['40P01', '40001'].includes(databaseError(error)?.code ?? '')
      if (attempt >= ATTEMPTS_MAX || !isRetryable) throw error
    }
  }
}

/** False for a transaction. Transactions have `$transaction` too (a savepoint), but only a client has `$connect`. */
export function isClient(db: Db | Transaction): db is Db {
  return '$connect' in db
}
