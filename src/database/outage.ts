import { StoreFailure } from '../values/failure.ts'
import { driverError } from './client.ts'

/** Kinds of driver errors without a connection, or with a lost one. */
const kinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'])
/** Prisma: unreachable, timed out, closed, no free connection in time. */
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028'])
/** PostgreSQL: connection exceptions, too many connections, stopping, starting. */
const sqlStates = /^(08\w{3}|53300|57P0[123])$/

/** Messages of pg and of the system that come without a code. They are English whatever the server's language. */
const noConnection =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|(connect|write) E[A-Z]+\b)/m

/**
 * Returns a 503 failure when the error means that the database is unavailable; null for every other error. Whether a change in
 * progress was committed is unknown then.
 */
export function outageOf(error: unknown): StoreFailure | null {
  const { code, message } = error as { code?: string; message?: string }
  const cause = driverError(error) as { kind?: string; originalCode?: string } | undefined
  const isOutage =
    kinds.has(cause?.kind ?? '') ||
    prismaCodes.has(code ?? '') ||
    sqlStates.test(cause?.originalCode ?? '') ||
    noConnection.test(message ?? '')
  if (!isOutage) return null
  const logDetail = `${code ?? ''} ${cause?.kind ?? ''} ${cause?.originalCode ?? ''}`.trim() || String(message)
  return new StoreFailure('unavailable', 'The database does not answer; try again in a moment', { logDetail })
}
