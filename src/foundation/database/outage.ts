import pg from 'pg'
import { StoreFailure } from '../values/failure.ts'
import { MOVING } from './moved.ts'

/** SQLSTATE of read_only_sql_transaction, which the server answers with 503. */
export const READ_ONLY = '25006'

/** An outage that this process itself noticed. Its message is for callers, and a sentence with a semicolon's continuation. */
export class Outage extends Error {
  constructor(message: string) {
    super(`${message}; ${again}`)
  }
}

const again = 'try again in a moment'

/** Prisma's, for a transaction that did not begin or end in time. */
const TRANSACTION_ERROR = 'P2028'

/** Also after the move, until the server is started on the other database. */
const moving = `The store is being moved to another database, and accepts no changes until then; ${again}`

/** By SQLSTATE, the message of each group of errors that pass by themselves, or when the operator ends their cause. */
const messages: readonly (readonly [RegExp, string])[] = [
  [/^(55P03|40001|40P01)$/, `Another change holds the record; ${again}`],
  [/^57014$/, `It took longer than the time limit of the database; ${again}`],
  // Only reading: a standby, or a setting. No room on the disk, or in memory; no file could be written.
  [/^(25006|53[124]00|58030)$/, `The database cannot do this at present; ${again}`],
  // Connection exceptions, too many connections, stopping, starting, a transaction or session ended for being idle.
  [/^(08\w{3}|53300|57P0\d|25P0[34])$/, `The database does not answer; ${again}`],
]

/** Messages of pg and of the system that come without a code. They are English whatever the server's language. */
const noConnection =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|(connect|read|write|getaddrinfo) E[A-Z_]+\b)/

/**
 * Returns a 503 failure when the error means that the database is unavailable, or that a lock, a connection or a result
 * did not come in time; null for every other error. After a lost connection, whether a change in progress was committed is
 * unknown.
 */
export function outageOf(error: unknown): StoreFailure | null {
  const cause = causeOf(error)
  if (cause instanceof Outage) return new StoreFailure('unavailable', cause.message, { origin: error })
  // A host may have several addresses, each with its error.
  const { code, message } = (cause instanceof AggregateError ? cause.errors[0] : cause) as {
    code?: string
    message?: string
  }
  const state = databaseError(error)?.code ?? ''
  const known = isOfMove(error) ? moving : messages.find(([states]) => states.test(state))?.[1]
  if (known === undefined && code !== TRANSACTION_ERROR && !noConnection.test(message ?? '')) return null
  const logDetail = code ?? String(message)
  const said = known ?? `The database does not answer; ${again}`
  return new StoreFailure('unavailable', said, { logDetail, origin: error })
}

/** What an error is to the caller: a refusal, an outage, or a defect, which says nothing from inside and is for the log. */
export function failureOf(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error
  return outageOf(error) ?? new StoreFailure('internal-error', 'Internal error', { origin: error })
}

/** Whether a change was refused because the store is moved. All are; the health of the database logs it for all. */
export function isOfMove(error: unknown): boolean {
  const { code, message } = databaseError(error) ?? {}
  return code === READ_ONLY && String(message).startsWith(MOVING)
}

/**
 * For `catch` behind a change that a read makes beside, such as a time of last use: the read goes on where the database, or a move,
 * allows only reading.
 */
export function passOverReadOnly(error: unknown): void {
  if (databaseError(error)?.code !== READ_ONLY) throw error
}

/** Whether a lock did not come in time. */
export function isLockTimeout(error: unknown): boolean {
  return databaseError(error)?.code === '55P03'
}

/**
 * Brings the error of a statement through Prisma, which passes on what it does not know. One with a `code` it would take for its own,
 * and keep nothing else of it.
 */
export class StatementError extends Error {
  constructor(cause: unknown) {
    super(String((cause as { message?: unknown }).message), { cause })
  }
}

function causeOf(error: unknown): unknown {
  return error instanceof StatementError ? error.cause : error
}

/**
 * What PostgreSQL answered instead of a result, with its SQLSTATE (such as 23505) and the violated constraint or index, if any; null
 * for every other error. Its message is in the language of the server (lc_messages).
 */
export function databaseError(error: unknown): pg.DatabaseError | null {
  const cause = causeOf(error)
  return cause instanceof pg.DatabaseError ? cause : null
}
