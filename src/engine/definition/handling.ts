import type { StoreFailure } from '../../foundation/values/failure.ts'
import { type Candidate, nearestName } from '../../foundation/values/nearest.ts'
import { refused } from './refused.ts'

// How a request is read (RFC 7240, `handling`): a strict one is refused for names that nobody knows and for values that would not be
// stored, a lenient one is told which they were.

const NAMES_MAX = 20
/** One more than a refusal names, so that it can say that there are more. */
const REFUSALS_MAX = 101
const NAME_LENGTH_MAX = 60
/** Look-ups of the nearest name in one request: each compares a name with every name of a record. */
const LOOK_UPS_MAX = 100

/** How one request is read, and what of it was ignored. */
export class Handling {
  readonly isStrict: boolean
  /** What is wrong with the address of a strict change: told together with what is wrong with each of its records. */
  readonly refusals: StoreFailure[] = []
  readonly #ignored = new Set<string>()
  #lookUps = 0

  constructor(isStrict: boolean) {
    this.isStrict = isStrict
  }

  refuse(refusal: StoreFailure): void {
    if (this.refusals.length < REFUSALS_MAX) this.refusals.push(refusal)
  }

  /** Refuses a member that its object has twice, of which the last would count. Undefined: the request is lenient. */
  get repeat(): ((path: string) => void) | undefined {
    if (!this.isStrict) return undefined
    return (path) =>
      this.refuse(refused(shownName(path), `${shownName(path)} is given twice in one object; send it once`))
  }

  /** Notes a parameter or the path of a member that was ignored. */
  ignore(path: string): void {
    const name = shownName(path.replace(/\[\d+\]/g, ''))
    if (name !== '' && this.#ignored.size < NAMES_MAX) this.#ignored.add(name)
  }

  /** The names that were ignored, each once and without the places of items; at most 20, of at most 60 characters. */
  get ignored(): readonly string[] {
    return [...this.#ignored]
  }

  /** The name that is meant in all likelihood: of the first list that has one. Null: none, or the request has asked too often. */
  nearest(name: string, ...lists: readonly (readonly Candidate[])[]): string | null {
    for (const candidates of lists) {
      if (this.#lookUps++ >= LOOK_UPS_MAX) return null
      const found = nearestName(name, candidates)
      if (found !== null) return found
    }
    return null
  }
}

/** A name of a request as answers and logs show it. */
export function shownName(name: string): string {
  return name.slice(0, NAME_LENGTH_MAX).toWellFormed()
}
