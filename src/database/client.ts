import type { Socket } from 'node:net'
import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import type { Secrets } from '../values/secrets.ts'
import { cancelStatement } from './connection.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'
import type { DatabaseHealth } from './health.ts'
import { driverError } from './outage.ts'
import { createShare, type Share } from './shares.ts'

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

/** The limits of a client's transactions, and of its statements outside one. */
export interface Limits {
  /** Waiting for a lock. */
  readonly lockMs: number
  /** A statement of a transaction. */
  readonly statementMs: number
  /** Between two statements of a transaction: then PostgreSQL ends it, whose process may be gone or stopped. */
  readonly idleMs: number
  /** A transaction as a whole, waits included. */
  readonly transactionMs: number
  /** A statement outside a transaction; it changes one row, or none. */
  readonly singleMs: number
}

/** Clients of the API give up after 30 to 60 s. */
export const requestLimits: Limits = {
  lockMs: 5_000,
  statementMs: 30_000,
  idleMs: 30_000,
  transactionMs: 60_000,
  singleMs: 10_000,
}

/** For imports, exports, deliveries and what is deleted by age. */
export const backgroundLimits: Limits = {
  lockMs: 60_000,
  statementMs: 600_000,
  idleMs: 600_000,
  transactionMs: 60_000,
  singleMs: 90_000,
}

export interface ConnectOptions {
  /** The most connections. More than ten do not raise throughput on a small machine, and they worsen the slowest answers. */
  readonly poolMax?: number
  readonly limits?: Limits
  /** Whether connections keep statements prepared; default: yes. A pooler may give each transaction another session. */
  readonly isPreparing?: boolean
  readonly health?: DatabaseHealth
}

const POOL_MAX = 10
/** How long a statement or a transaction waits for a connection. */
const CONNECT_MS_MAX = 5_000
/** Statements kept prepared on each connection. */
const STATEMENTS_MAX = 500

/** What belongs to a client besides its connections. */
interface Attached {
  readonly limits: Limits
  /** Changes of one store, and of all stores: less than all connections, so that reads always find one. */
  readonly ofStore: Share
  readonly ofAll: Share
}

const attached = new WeakMap<Db, Attached>()

/** A client for `url` (postgresql://…). It connects at the first statement; `$disconnect()` closes it. */
export function connect(
  url: string,
  { poolMax = POOL_MAX, limits = requestLimits, isPreparing = true, health }: ConnectOptions = {},
): Db {
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
    connectionTimeoutMillis: CONNECT_MS_MAX,
    // A connection that the network dropped silently would hang forever, with everything that waits for it.
    keepAlive: true,
    keepAliveInitialDelayMillis: 30_000,
    // Between two users of the pool a connection has no error listener for a moment, and an error from the server would
    // end the process. The next user gets the error anyway.
    onConnect: (client: pg.ClientBase) => {
      client.on('error', () => undefined)
      limit(client, limits)
    },
  }
  const options = { statementNameGenerator: ({ sql }: { sql: string }) => statementName(sql) }
  const adapter = health ? new GuardedPg(health, config, options) : new PrismaPg(config, options)
  const db = new PrismaClient({ adapter, errorFormat: 'minimal' })
  const part = (share: number) => Math.max(1, Math.floor(poolMax * share))
  attached.set(db, {
    limits,
    ofStore: createShare(part(0.4), 'Too many changes of this store are under way'),
    ofAll: createShare(part(0.8), 'Too many changes are under way'),
  })
  return db
}

type Callback = (error: Error | undefined, result: unknown) => void

/** pg's, which has no code. */
const TIMEOUT_MESSAGE = 'Query read timeout'

/**
 * Gives each statement of a connection its time, and each transaction its limits, by the statement that begins it: behind a
 * pooler, a session belongs to a connection for no longer than a transaction.
 */
function limit(client: pg.ClientBase, { lockMs, statementMs, idleMs, singleMs }: Limits): void {
  const begin = `BEGIN; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${statementMs};
    SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`
  const query = client.query.bind(client) as (statement: pg.QueryConfig, ...others: unknown[]) => unknown
  const limited = (statement: pg.QueryConfig & { query_timeout?: number }, values?: unknown, callback?: Callback) => {
    const isBegin = statement.text === 'BEGIN'
    // A text of several statements cannot be prepared.
    if (isBegin) Object.assign(statement, { text: begin, name: undefined })
    const isInside = isBegin || client.getTransactionStatus() === 'T'
    // PostgreSQL itself ends a statement of a transaction sooner.
    statement.query_timeout = isInside ? statementMs + CONNECT_MS_MAX : singleMs
    const answered: Callback | undefined =
      callback && !isInside
        ? (error, result) => {
            if (error?.message !== TIMEOUT_MESSAGE) return callback(error, result)
            // Without it, PostgreSQL would go on for nobody, and have ever more to do.
            cancelStatement(client).finally(() => callback(error, result))
          }
        : callback
    const running = query(statement, values, answered)
    if (running instanceof Promise) running.catch((error: Error) => end(client, error))
    return running
  }
  client.query = limited as pg.ClientBase['query']
}

/** Ends a connection that is still busy with a statement, so that nobody gets it from the pool. */
function end(client: pg.ClientBase, { message }: Error): void {
  const { connection } = client as unknown as { connection: { stream: Socket } }
  if (message === TIMEOUT_MESSAGE) connection.stream.destroy()
}

/** An adapter whose statements end at once while the database does not answer. */
class GuardedPg extends PrismaPg {
  readonly #health: DatabaseHealth

  constructor(health: DatabaseHealth, ...args: ConstructorParameters<typeof PrismaPg>) {
    super(...args)
    this.#health = health
  }

  override async connect() {
    const health = this.#health
    const adapter = await super.connect()
    const start = adapter.startTransaction.bind(adapter)
    adapter.startTransaction = async (level) => {
      let started: ReturnType<typeof start> | undefined
      const starting = () => {
        started = start(level)
        return started
      }
      const transaction = await health.guard(starting).catch((error) => {
        // Nobody would give back the connection of a late one.
        started?.then((late) => late.executeRaw(rollback).finally(() => late.rollback())).catch(() => {})
        throw error
      })
      return guarded(transaction, (statement) => health.watch(statement))
    }
    return guarded(adapter, (statement) => health.guard(statement))
  }
}

const rollback = { sql: 'ROLLBACK', args: [], argTypes: [] }

type Statements = Pick<Awaited<ReturnType<PrismaPg['connect']>>, 'queryRaw' | 'executeRaw'>

function guarded<S extends Statements>(statements: S, guard: DatabaseHealth['guard']): S {
  const query = statements.queryRaw.bind(statements)
  const execute = statements.executeRaw.bind(statements)
  statements.queryRaw = (statement) => guard(() => query(statement))
  statements.executeRaw = (statement) => guard(() => execute(statement))
  return statements
}

/** Attempts in all for a transaction that PostgreSQL ended for a deadlock or a serialization failure. */
const ATTEMPTS_MAX = 5

export interface TransactionOptions {
  /** The store whose records change: its changes have a part of the connections. */
  readonly storeId?: number
  /** Waiting for a lock, if less than the client's limit. */
  readonly lockMs?: number | undefined
}

type FollowUp = (db: Db) => Promise<void>

/** What runs after each open transaction. */
const followUps = new WeakMap<Db | Transaction, FollowUp[]>()

/** Lets `run` follow the transaction `tx` of `inTransaction`, whether it was committed, rolled back or lost. */
export function afterTransaction(tx: Db | Transaction, run: FollowUp): void {
  const later = followUps.get(tx)
  if (!later) throw new Error('Not a transaction of inTransaction')
  later.push(run)
}

/**
 * Runs `work` in one transaction (READ COMMITTED), or joins the transaction that `db` already is.
 * Retries after a deadlock, so `work` must have no effect outside the database. Throws `unavailable` when other changes
 * leave no connection in time.
 */
export async function inTransaction<T>(
  db: Db | Transaction,
  work: (tx: Transaction) => Promise<T>,
  { storeId, lockMs }: TransactionOptions = {},
): Promise<T> {
  if (!isClient(db)) return work(db)
  const { limits, ofStore, ofAll } = attached.get(db) as Attached
  const transact = async () => {
    const later: FollowUp[] = []
    const limited = async (tx: Transaction) => {
      followUps.set(tx, later)
      if (lockMs !== undefined) await tx.$queryRaw`SELECT set_config('lock_timeout', ${String(lockMs)}, true)`
      return work(tx)
    }
    const times = { maxWait: CONNECT_MS_MAX, timeout: limits.transactionMs }
    return db.$transaction(limited, times).finally(() => runAll(later, db))
  }
  const run = () => ofAll(0, () => retried(transact))
  return storeId === undefined ? run() : ofStore(storeId, run)
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
