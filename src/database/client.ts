import { PrismaPg } from '@prisma/adapter-pg'
import type pg from 'pg'
import type { Secrets } from '../values/secrets.ts'
import { createSemaphore, type Semaphore } from '../values/semaphore.ts'
import { type Prisma, PrismaClient } from './generated/client.ts'
import type { DatabaseHealth } from './health.ts'
import { cutConnection, type Limits, limitConnection, requestLimits } from './limits.ts'
import { driverError, Outage } from './outage.ts'

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
  /** Changes, by store: fewer than there are connections, so that reads always find one. */
  readonly changes: Semaphore
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
      limitConnection(client, limits)
    },
  }
  const options = { statementNameGenerator: ({ sql }: { sql: string }) => statementName(sql) }
  const adapter = health ? new GuardedPg(health, config, options) : new PrismaPg(config, options)
  const db = new PrismaClient({ adapter, errorFormat: 'minimal' })
  attached.set(db, { limits, changes: createSemaphore(boundsOfChanges(poolMax)) })
  return db
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

/** Gives the reads of each store half of the connections at a time; more wait. */
export function createStoreReads(poolMax: number): Semaphore {
  return createSemaphore({
    ...boundsOfChanges(poolMax),
    capacity: Number.POSITIVE_INFINITY,
    capacityOfKey: Math.ceil(poolMax / 2),
    message: 'Too many reads of this store are under way; try again in a moment',
  })
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
      return guarded(transaction, watching(health, transaction))
    }
    return guarded(adapter, (statement) => health.guard(statement))
  }
}

/** Cuts the connection of a transaction when a statement of it is given up: it may end later, under another user of the pool. */
function watching(health: DatabaseHealth, transaction: Awaited<ReturnType<Adapter['startTransaction']>>) {
  const { client } = transaction as unknown as { client: pg.ClientBase }
  const release = transaction.rollback.bind(transaction)
  let isGivenUp = false
  const releaseOrCut = async () => {
    if (isGivenUp) cutConnection(client)
    await release()
  }
  Object.assign(transaction, { commit: releaseOrCut, rollback: releaseOrCut })
  return <T>(statement: () => Promise<T>) =>
    health.watch(statement).catch((error) => {
      isGivenUp ||= error instanceof Outage
      throw error
    })
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
  { storeId = NO_STORE, lockMs }: TransactionOptions = {},
): Promise<T> {
  if (!isClient(db)) return work(db)
  const { limits } = attached.get(db) as Attached
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
  return changes ? changes.run(String(storeId), 1, work) : work()
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
