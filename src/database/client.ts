import type { EventEmitter } from 'node:events'
import { PrismaPg } from '@prisma/adapter-pg'
import type { Secrets } from '../values/secrets.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'

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

/** Connections per process. More do not raise throughput on a small machine, and they worsen the slowest answers. */
const POOL_MAX = 10
/** Above the time limit of any transaction. */
const STATEMENT_MS_MAX = 90_000
/** Statements kept prepared on each connection. */
const STATEMENTS_MAX = 500

/** A client for `url` (postgresql://…). It connects at the first statement; `$disconnect()` closes it. */
export function connect(url: string, { poolMax = POOL_MAX }: { poolMax?: number } = {}): Db {
  const names = new Map<string, string>()
  const statementName = (text: string) => {
    const known = names.get(text)
    if (known !== undefined) return known
    // Past the bound, statements run unprepared, so that generated texts cannot fill the server's memory.
    if (names.size >= STATEMENTS_MAX) return ''
    const name = `s${names.size}`
    names.set(text, name)
    return name
  }
  const adapter = new PrismaPg(
    {
      connectionString: url,
      max: poolMax,
      connectionTimeoutMillis: 10_000,
      // A connection that the network dropped silently would hang forever, with everything that waits for it.
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
      query_timeout: STATEMENT_MS_MAX,
      // Between two users of the pool a connection has no error listener for a moment, and an error from the server would
      // end the process. The next user gets the error anyway.
      onConnect: (client: EventEmitter) => void client.on('error', () => undefined),
    },
    { statementNameGenerator: ({ sql }) => statementName(sql) },
  )
  return new PrismaClient({ adapter, errorFormat: 'minimal' })
}

/** Attempts in all for a transaction that PostgreSQL ended for a deadlock or a serialization failure. */
const ATTEMPTS_MAX = 5

/** What runs after each open transaction. */
const followUps = new WeakMap<Db | Transaction, ((db: Db) => Promise<void>)[]>()

/** Lets `run` follow the transaction `tx` of `inTransaction`, whether it was committed, rolled back or lost. */
export function afterTransaction(tx: Db | Transaction, run: (db: Db) => Promise<void>): void {
  const later = followUps.get(tx)
  if (!later) throw new Error('Not a transaction of inTransaction')
  later.push(run)
}

/**
 * Runs `work` in one transaction (READ COMMITTED), or joins the transaction that `db` already is.
 * Retries after a deadlock, so `work` must have no effect outside the database.
 */
export async function inTransaction<T>(db: Db | Transaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
  if (!isClient(db)) return work(db)
  for (let attempt = 1; ; attempt++) {
    const later: ((db: Db) => Promise<void>)[] = []
    const follow = (tx: Transaction) => {
      followUps.set(tx, later)
      return work(tx)
    }
    try {
      return await db.$transaction(follow, { maxWait: 10_000, timeout: 60_000 }).finally(() => runAll(later, db))
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !isRetryable(error)) throw error
    }
  }
}

async function runAll(later: readonly ((db: Db) => Promise<void>)[], db: Db): Promise<void> {
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

/** The driver's error. Prisma wraps it in an error of its own, except at commit. */
export function driverError(error: unknown): Record<string, unknown> | undefined {
  const { meta, cause } = (error ?? {}) as { meta?: { driverAdapterError?: { cause?: unknown } }; cause?: unknown }
  const found = meta?.driverAdapterError?.cause ?? cause
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined
}
