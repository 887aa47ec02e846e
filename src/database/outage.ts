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

/** Kinds of driver errors without a connection, or with a lost one. */
const kinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'])
/** Prisma: unreachable, timed out, closed, no free connection in time, still a deadlock at the last attempt. */
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028', 'P2034'])

const tooLong = `It took longer than the time limit of the database; ${again}`
/** Also behind the move, until the server is started on the other database. */
const moving = `The store is being moved to another database, and takes no changes until then; ${again}`

/** By SQLSTATE, the message of each group of errors that pass by themselves, or when the operator ends their cause. */
const messages: readonly (readonly [RegExp, string])[] = [
  [/^(55P03|40001|40P01)$/, `Another change holds the record; ${again}`],
  [/^57014$/, tooLong],
  // Only reading: a standby, or a setting. No room on the disk, or in memory; no file could be written.
  [/^(25006|53[124]00|58030)$/, `The database cannot do this at present; ${again}`],
  // Connection exceptions, too many connections, stopping, starting, a transaction or session ended for being idle.
  [/^(08\w{3}|53300|57P0\d|25P0[34])$/, `The database does not answer; ${again}`],
]

/** pg's, for a statement that this process ends for its time. The database answers others meanwhile, or `Outage` says otherwise. */
const readTimeout = /^Query read timeout/m

/** Messages of pg and of the system that come without a code. They are English whatever the server's language. */
const noConnection =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|(connect|read|write|getaddrinfo) E[A-Z_]+\b)/m

/**
 * Returns a 503 failure when the error means that the database is unavailable, or that a lock, a connection or a result
 * did not come in time; null for every other error. After a lost connection, whether a change in progress was committed is
 * unknown.
 */
export function outageOf(error: unknown): StoreFailure | null {
  if (error instanceof Outage) return new StoreFailure('unavailable', error.message, { origin: error })
  // A host may have several addresses, each with its error.
  const { code, message } = (error instanceof AggregateError ? error.errors[0] : error) as {
    code?: string
    message?: string
  }
  const { kind = '', originalCode = '' } = (driverError(error) ?? {}) as { kind?: string; originalCode?: string }
  const ofState = messages.find(([states]) => states.test(originalCode))?.[1]
  const ofStatement = readTimeout.test(message ?? '') ? tooLong : undefined
  const known = isOfMove(error) ? moving : (ofState ?? ofStatement)
  const isOutage = kinds.has(kind) || prismaCodes.has(code ?? '') || noConnection.test(message ?? '')
  if (known === undefined && !isOutage) return null
  const logDetail = `${code ?? ''} ${kind} ${originalCode}`.trim() || String(message)
  return new StoreFailure('unavailable', known ?? `The database does not answer; ${again}`, {
    logDetail,
    origin: error,
  })
}

/** What an error is to the caller: a refusal, an outage, or a defect, which says nothing from inside and is for the log. */
export function failureOf(error: unknown): StoreFailure {
  if (error instanceof StoreFailure) return error
  return outageOf(error) ?? new StoreFailure('defect', 'Internal error', { origin: error })
}

/** Whether a change was refused because the store is moved. All are; the health of the database logs it for all. */
export function isOfMove(error: unknown): boolean {
  const { originalCode, originalMessage } = driverError(error) ?? {}
  return originalCode === READ_ONLY && String(originalMessage).startsWith(MOVING)
}

/**
 * For `catch` behind a change that a read makes beside, such as a time of last use: the read goes on where the database, or a move,
 * allows reading alone.
 */
export function passOverReadOnly(error: unknown): void {
  if (driverError(error)?.originalCode !== READ_ONLY) throw error
}

/** Whether a lock did not come in time. */
export function isLockTimeout(error: unknown): boolean {
  return driverError(error)?.originalCode === '55P03'
}

/** The driver's error. Prisma wraps it in an error of its own, except at commit; `queryRows` does not. */
export function driverError(error: unknown): Record<string, unknown> | undefined {
  if (error instanceof pg.DatabaseError) {
    return { originalCode: error.code, originalMessage: error.message, constraint: { index: error.constraint } }
  }
  const { meta, cause } = (error ?? {}) as { meta?: { driverAdapterError?: { cause?: unknown } }; cause?: unknown }
  const found = meta?.driverAdapterError?.cause ?? cause
  return typeof found === 'object' && found !== null ? (found as Record<string, unknown>) : undefined
}
