import type { Socket } from 'node:net'
import type pg from 'pg'
import { cancelStatement } from './connection.ts'

/** The limits of a client's transactions, and of its statements outside one. */
export interface Limits {
  /** Waiting for a lock. */
  readonly lockMs: number
  /** A statement of a transaction. */
  readonly statementMs: number
  /** The longest pause between two statements of a transaction; then PostgreSQL ends the session, since its process may be gone. */
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

/** PostgreSQL itself ends a statement of a transaction this much sooner. */
const MARGIN_MS = 5_000

/**
 * The routines by which PostgreSQL itself refuses to write, on a standby for example. A trigger that raises the same SQLSTATE
 * (25006) has another, and messages are in the language of the server.
 */
const refusesWrites = /^PreventCommand(IfReadOnly|DuringRecovery)$/

interface LimitOptions {
  /** Runs when a change fails because the server only reads. Its connection is cut by then. */
  readonly onReadOnly?: () => void
}

type Callback = (error: Error | undefined, result: unknown) => void

/** pg's, which has no code. */
const TIMEOUT_MESSAGE = 'Query read timeout'

/** What a statement returns that returns nothing. */
const nothing = { rows: [], rowCount: 0, fields: [] }

/**
 * Gives each statement of a connection its time, and each transaction its limits, by the statement that begins it: behind a
 * pooler, a session belongs to a connection for no longer than a transaction. What is sent at once leaves in one piece, and
 * nobody waits for a transaction to begin: it leaves with its first statement. A connection on which a transaction cannot
 * write because the server only reads is cut: after a failover, the next one may lead to the primary.
 */
export function limitConnection(
  client: pg.ClientBase,
  { lockMs, statementMs, idleMs, singleMs }: Limits,
  { onReadOnly }: LimitOptions = {},
): void {
  const begin = `BEGIN; SET LOCAL lock_timeout = ${lockMs}; SET LOCAL statement_timeout = ${statementMs};
    SET LOCAL idle_in_transaction_session_timeout = ${idleMs}`
  const query = client.query.bind(client) as (statement: pg.QueryConfig, ...others: unknown[]) => unknown
  const { stream } = (client as unknown as { connection: { stream: Socket } }).connection
  let isInside = false
  const limited = (statement: pg.QueryConfig & { query_timeout?: number }, values?: unknown, callback?: Callback) => {
    stream.cork()
    process.nextTick(() => stream.uncork())
    const isBegin = statement.text === 'BEGIN'
    // A text of several statements cannot be prepared.
    if (isBegin) Object.assign(statement, { text: begin, name: undefined })
    const isOfTransaction = isBegin || isInside
    isInside = isOfTransaction && statement.text !== 'COMMIT' && statement.text !== 'ROLLBACK'
    statement.query_timeout = isOfTransaction ? statementMs + MARGIN_MS : singleMs
    const answered: Callback | undefined =
      callback && !isOfTransaction
        ? (error, result) => {
            if (error?.message !== TIMEOUT_MESSAGE) return callback(error, result)
            // Otherwise PostgreSQL would go on with it, and the next request would begin another.
            cancelStatement(client).finally(() => callback(error, result))
          }
        : callback
    const running = query(statement, values, answered)
    if (!(running instanceof Promise)) return running
    // Without its transaction, no statement may have an effect.
    running.catch(({ message, routine }) => {
      const isReadOnly = refusesWrites.test(routine)
      if (isBegin || isReadOnly || message === TIMEOUT_MESSAGE) cutConnection(client)
      if (isReadOnly) onReadOnly?.()
    })
    return isBegin ? Promise.resolve(nothing) : running
  }
  client.query = limited as pg.ClientBase['query']
}

/** Cuts a connection that is still busy with a statement, so that nobody gets it from the pool. */
export function cutConnection(client: pg.ClientBase): void {
  const { connection } = client as unknown as { connection: { stream: Socket } }
  connection.stream.destroy()
}
