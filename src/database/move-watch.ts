import { readMove } from './moved.ts'
import { isOfMove } from './outage.ts'
import type { Query } from './query.ts'

/** Between two looks at a move that goes on. */
const LOOK_MS = 1_000

interface MoveLog {
  warn(details: object, message: string): void
}

/** Logs once that the store is being moved, and once how that ended, however many changes are refused for it. */
export function watchMove(database: Query, log: MoveLog) {
  let timer: NodeJS.Timeout | undefined
  let isSaid = false
  let isStopped = false

  async function look(): Promise<void> {
    const move = await readMove(database).catch(() => undefined)
    // The database does not answer. Others say so.
    if (move === undefined) return lookAgain()
    if (move?.step === 'left') return log.warn({ to: move.other }, hasMoved)
    if (move?.step === 'leaving' || move?.step === 'releasing') {
      if (!isSaid) log.warn({ to: move.other }, isMoving)
      isSaid = true
      return lookAgain()
    }
    timer = undefined
    if (isSaid) log.warn({}, 'the move of the store was given up: changes are taken again')
    isSaid = false
  }

  function lookAgain(): void {
    if (!isStopped) timer = setTimeout(look, LOOK_MS).unref()
  }

  return {
    /** Gets every error of the database. */
    note(error: unknown): void {
      if (timer !== undefined || isStopped || !isOfMove(error)) return
      timer = setTimeout(look, 0).unref()
    },
    stop(): void {
      isStopped = true
      clearTimeout(timer)
    },
  }
}

const isMoving = 'the store is being moved: changes are refused, and reads go on'
const hasMoved =
  'the store has been moved, and changes are refused here for good: stop this server, and start it with the other database (docs/operations.md)'
