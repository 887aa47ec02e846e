import type { Fate } from '../process/log.ts'
import type { DatabaseHealth } from './health.ts'
import { isOfMove, outageOf } from './outage.ts'

/**
 * Decides for all parts of the process which lines of the log an outage of the database has made superfluous: its health says
 * once that it began and once that it ended. `fateOf` is for the log. A defect is logged as it is, also during an outage, and so is
 * a lost connection while the database answers.
 */
export function createOutageLines() {
  let health: Pick<DatabaseHealth, 'answers'> | undefined
  return {
    /** Until then every line is logged. */
    watch(watched: Pick<DatabaseHealth, 'answers'>): void {
      health = watched
    },
    fateOf(error: unknown): Fate | Promise<Fate> {
      if (isOfMove(error)) return 'omitted'
      if (health === undefined || outageOf(error) === null) return 'logged'
      // The first errors come before it is known that the database does not answer.
      return health.answers().then((answers) => (answers ? 'logged' : 'debug'))
    },
  }
}
