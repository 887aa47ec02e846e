import pg from 'pg'
import { Semaphore } from '../values/semaphore.ts'
import { Connection, queryWithin } from './connection.ts'
import type { DatabaseHealth } from './health.ts'
import { type Limits, requestLimits } from './limits.ts'
import type { PoolObserver } from './metrics.ts'
import { Outage } from './outage.ts'

// How a statement runs: `Pool.run` outside of transactions, `Pool.begin` and `OpenTransaction.run` inside of one. Both take what
// the engine writes (`queryRows` and `execute` in client.ts) and what Prisma makes of its calls (adapter.ts).

export type Guard = Pick<DatabaseHealth, 'guard' | 'watch' | 'onRecovery'>

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

/** A statement, or several without values. */
export interface Statement {
  readonly text: string
  readonly values?: unknown[]
  readonly rowMode?: 'array' | undefined
  readonly types?: pg.CustomTypesConfig | undefined
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
/** PostgreSQL itself ends a statement of a transaction this much sooner. */
const MARGIN_MS = 5_000

/**
 * The routines by which PostgreSQL itself refuses to write, on a standby for example. A trigger that raises the same SQLSTATE
 * (25006) has another, and messages are in the language of the server.
 */
const refusesWrites = /^PreventCommand(IfReadOnly|DuringRecovery)$/

/** Connections, and what runs on them. It opens none before the first statement. */
export class Pool {
  readonly limits: Limits
  /** Changes, by store: fewer than there are connections, so that reads always find one. */
  readonly changes: Semaphore['run']
  /** Statements outside of transactions, by the store that reads: at most half of the connections at a time. */
  readonly reads: Semaphore['run']
  readonly #pool: pg.Pool
  readonly #health: Guard
  readonly #observer: PoolObserver
  readonly #nameOf: (text: string) => string

  constructor(url: string, options: ConnectOptions = {}) {
    const { poolMax = POOL_MAX, limits = requestLimits, isPreparing = true, health = unguarded } = options
    const { observer = unobserved, onLost } = options
    this.limits = limits
    this.#health = health
    this.#observer = observer
    this.#nameOf = isPreparing ? statementNames() : () => ''
    this.#pool = new pg.Pool({
      Client: Connection,
      connectionString: url,
      max: poolMax,
      // A statement need not wait for the answer to the one before it.
      pipeline: true,
      connectionTimeoutMillis: CONNECT_MS_MAX,
      // A connection that the network dropped silently would hang forever, with everything that waits for it.
      keepAlive: true,
      keepAliveInitialDelayMillis: 30_000,
      onConnect: (client) => {
        client.on('error', () => onLost?.())
      },
    })
    // An idle connection that is lost would end the process otherwise.
    this.#pool.on('error', () => {})
    health.onRecovery(() => this.#cutIdle())
    observer.opened(this.#pool, poolMax)
    const bounds = boundsOfChanges(poolMax)
    this.changes = timed(new Semaphore(bounds), (seconds) => observer.waitedForTurn('changes', seconds))
    const reads = new Semaphore({
      ...bounds,
      capacity: Number.POSITIVE_INFINITY,
      capacityOfKey: Math.ceil(poolMax / 2),
      message: 'Too many reads of this store are under way; try again in a moment',
    })
    this.reads = timed(reads, (seconds) => observer.waitedForTurn('reads', seconds))
  }

  /** Runs a statement outside of transactions. */
  run(statement: Statement): Promise<pg.QueryResult> {
    return this.#health.guard(async () => {
      const client = await this.#take()
      try {
        const result = await this.#send(client, statement, this.limits.singleMs)
        client.release()
        return result
      } catch (error) {
        // No connection is trusted behind an error.
        if (isLoss(error)) cut(client)
        else client.release(true)
        throw error
      }
    })
  }

  /** Begins a transaction (READ COMMITTED). Whoever begins it ends it. */
  async begin(): Promise<OpenTransaction> {
    let taking: Promise<pg.PoolClient> | undefined
    const take = () => {
      taking = this.#take()
      return taking
    }
    const client = await this.#health.guard(take).catch((error) => {
      // Nobody would give back a late one.
      taking?.then((late) => late.release()).catch(() => {})
      throw error
    })
    const ms = this.limits.statementMs + MARGIN_MS
    const send = (statement: Statement) => this.#health.watch(() => this.#send(client, statement, ms))
    return new OpenTransaction({ client, limits: this.limits, send })
  }

  /** Resolves when every connection has been released. */
  end(): Promise<void> {
    return this.#pool.end()
  }

  /**
   * Cuts the connections that nobody uses now. After a failover they may lead to a machine that is gone, or to a server that only
   * reads from now on, and their next users would wait for it or be refused.
   */
  #cutIdle(): void {
    for (let idle = this.#pool.idleCount; idle > 0; idle--) this.#pool.connect().then(cut, () => {})
  }

  #take(): Promise<pg.PoolClient> {
    const sinceMs = performance.now()
    const taken = () => this.#observer.waitedForConnection((performance.now() - sinceMs) / 1_000)
    return this.#pool.connect().finally(taken)
  }

  /** Sends a statement, which has so many milliseconds. What is sent in one turn of the event loop leaves in one piece. */
  async #send(client: pg.PoolClient, statement: Statement, ms: number): Promise<pg.QueryResult> {
    const { stream } = client.connection
    stream.cork()
    process.nextTick(() => stream.uncork())
    const { text, values, rowMode, types } = statement
    // A text of several statements cannot be prepared; it has no values.
    const name = values === undefined ? '' : this.#nameOf(text)
    try {
      return await queryWithin(client, { name, text, values: values ?? [], rowMode, types }, ms)
    } catch (error) {
      if (isReadOnly(error)) this.#cutIdle()
      throw error
    }
  }
}

interface TransactionParts {
  readonly client: pg.PoolClient
  readonly limits: Limits
  readonly send: (statement: Statement) => Promise<pg.QueryResult>
}

/** A transaction on its connection, from its beginning on. */
export class OpenTransaction {
  readonly #parts: TransactionParts
  #isBegun = false
  #isOver = false
  #isLost = false

  constructor(parts: TransactionParts) {
    this.#parts = parts
  }

  /** Throws an `Outage` when it is over: somebody else may have the connection. */
  async run(statement: Statement): Promise<pg.QueryResult> {
    if (this.#isOver) throw new Outage('The transaction took longer than its time limit')
    if (!this.#isBegun) this.#begin()
    return this.#send(statement)
  }

  /**
   * Nobody waits for it to begin: that leaves with its first statement, and carries the limits, because behind a pooler a session
   * belongs to a connection for no longer than a transaction.
   */
  #begin(): void {
    this.#isBegun = true
    const { client, limits } = this.#parts
    const { lockMs, statementMs, idleMs } = limits
    const text = `BEGIN; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${statementMs};
      SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`
    this.#send({ text }).catch(() => {
      // Without its transaction, no statement may have an effect.
      this.#isLost = true
      client.connection.stream.destroy()
    })
  }

  /** Ends the transaction and releases the connection. After an outage it is not committed, even if its work continued. */
  async end(command: 'COMMIT' | 'ROLLBACK'): Promise<void> {
    this.#isOver = true
    try {
      if (this.#isLost && command === 'COMMIT') throw new Outage('The database does not answer')
      if (this.#isBegun && !this.#isLost) await this.#send({ text: command })
    } finally {
      if (this.#isLost) cut(this.#parts.client)
      else this.#parts.client.release()
    }
  }

  #send(statement: Statement): Promise<pg.QueryResult> {
    return this.#parts.send(statement).catch((error) => {
      this.#isLost ||= isLoss(error)
      throw error
    })
  }
}

/** Gives back a connection that nobody shall have any more, however busy it is. */
function cut(client: pg.PoolClient): void {
  client.connection.stream.destroy()
  client.release(true)
}

function isReadOnly(error: unknown): boolean {
  return error instanceof pg.DatabaseError && refusesWrites.test(error.routine ?? '')
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

/**
 * Whether a connection cannot be used behind an error: its statement may still run, the server only reads, or a statement is prepared for
 * columns that are others by now.
 */
function isLoss(error: unknown): boolean {
  return !(error instanceof pg.DatabaseError) || isReadOnly(error) || error.routine === 'RevalidateCachedQuery'
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

/** Tells how long each turn was waited for. */
function timed(turns: Semaphore, waited: (seconds: number) => void): Semaphore['run'] {
  return (key, weight, work) => {
    const sinceMs = performance.now()
    return turns.run(key, weight, () => {
      waited((performance.now() - sinceMs) / 1_000)
      return work()
    })
  }
}
