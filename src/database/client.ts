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

/** Connections of one process: more gain nothing on a small machine and worsen the slowest answers. */
const POOL_MAX = 10
/** Above the time that any transaction has. */
const STATEMENT_MS_MAX = 90_000
/** How many statements are kept prepared on each connection. */
const STATEMENTS_MAX = 500

export interface ConnectOptions {
  poolMax?: number
}

/** A client on `url` (postgresql://…). It connects at the first statement; `$disconnect()` ends it. */
export function connect(url: string, { poolMax = POOL_MAX }: ConnectOptions = {}): Db {
  const names = new Map<string, string>()
  const adapter = new PrismaPg(
    {
      connectionString: url,
      max: poolMax,
      connectionTimeoutMillis: 10_000,
      // A connection that a network has forgotten says nothing for ever; whoever waits on it would too.
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
      query_timeout: STATEMENT_MS_MAX,
      // Handed from one user of the pool to the next, a connection has no listener for a moment, and an error that the
      // server sends just then would end the process. Whoever uses it next is told all the same.
      onConnect: (client: EventEmitter) => void client.on('error', () => undefined),
    },
    { statementNameGenerator: ({ sql }) => statementName(names, sql) },
  )
  return new PrismaClient({ adapter, errorFormat: 'minimal' })
}

/** Prepared statements are named by their text; past the bound, texts run unprepared, so that generated ones cannot fill the server. */
function statementName(names: Map<string, string>, sql: string): string {
  const known = names.get(sql)
  if (known !== undefined) return known
  const name = names.size < STATEMENTS_MAX ? `s${names.size}` : ''
  if (name !== '') names.set(sql, name)
  return name
}

/** How often a transaction that lost a deadlock or a serialization race is tried in all. */
const ATTEMPTS_MAX = 5

/**
 * Runs `work` in one transaction (READ COMMITTED); inside a transaction it takes part in that one.
 * A transaction that PostgreSQL ended for a deadlock is run again, so `work` must have no effect besides the database.
 */
export async function inTransaction<T>(db: Db | Transaction, work: (tx: Transaction) => Promise<T>): Promise<T> {
  if (!isClient(db)) return work(db)
  for (let attempt = 1; ; attempt++) {
    try {
      return await db.$transaction(work, { maxWait: 10_000, timeout: 60_000 })
    } catch (error) {
      if (attempt >= ATTEMPTS_MAX || !isRetryable(error)) throw error
    }
  }
}

/** False: a transaction. Those have `$transaction` too (a savepoint), whatever their type says; only a client can connect. */
export function isClient(db: Db | Transaction): db is Db {
  return '$connect' in db
}

function isRetryable(error: unknown): boolean {
  const code = databaseError(error)?.code
  return code === '40P01' || code === '40001' || (error as { code?: unknown })?.code === 'P2034'
}

export interface DatabaseError {
  /** SQLSTATE, such as 23505. */
  code: string
  /** The violated unique index or foreign key; undefined for every other error. */
  constraint: string | undefined
}

/**
 * SQLSTATE and constraint of an error of PostgreSQL, out of the error that Prisma wrapped it in; null for every other error.
 * Both come from fields of the protocol, never from the message, because that is in the language of the server (lc_messages).
 */
export function databaseError(error: unknown): DatabaseError | null {
  const cause = driverError(error)
  const code = cause?.originalCode ?? cause?.code
  if (!cause || typeof code !== 'string') return null
  return { code, constraint: (cause.constraint as { index?: string } | undefined)?.index }
}

/** What the driver said: Prisma wraps it in an error of its own, but for what happens at the commit. */
export function driverError(error: unknown): Record<string, unknown> | undefined {
  const { meta, cause } = (error ?? {}) as { meta?: { driverAdapterError?: { cause?: unknown } }; cause?: unknown }
  const found = meta?.driverAdapterError?.cause ?? cause
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined
}
