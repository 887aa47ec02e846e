import type { Caller } from '../caller.ts'
import { inChange } from './change.ts'

/** Rolls a rehearsed change back. */
class Rehearsed<T> extends Error {
  readonly outcome: T

  constructor(outcome: T) {
    super('A rehearsal ends with a rollback')
    this.outcome = outcome
  }
}

/** Makes a change, returns what came of it, and rolls it back. So it refuses what making it refuses. */
export async function inRehearsal<T>(caller: Caller, steps: (tx: Caller) => Promise<T>): Promise<T> {
  try {
    return await inChange(caller, async (tx) => {
      throw new Rehearsed(await steps(tx))
    })
  } catch (error) {
    if (error instanceof Rehearsed) return error.outcome
    throw error
  }
}
