import { StoreFailure } from '../values/failure.ts'
import { driverError } from './client.ts'

/** What the driver says when it has no connection, or lost it. */
const kinds = new Set(['DatabaseNotReachable', 'ConnectionClosed', 'SocketTimeout', 'TooManyConnections'])
/** What Prisma says: unreachable, timed out, closed, no connection free in time. */
const prismaCodes = new Set(['P1001', 'P1002', 'P1008', 'P1017', 'P2024', 'P2028'])
/** PostgreSQL's own: connection exceptions, too many connections, stopping, starting. */
const sqlStates = /^(08\w{3}|53300|57P0[123])$/

/** What the package pg or the system says without a code; both are English whatever language the server speaks. */
const noConnection =
  /^(Connection terminated|timeout exceeded when trying to connect|Client has encountered a connection error|(connect|write) E[A-Z]+\b)/m

/**
 * The refusal that a failure of the database, not of the request, means: 503, to come back in a moment.
 * Null for every other error. Whether a change that was under way was made is then not known.
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
