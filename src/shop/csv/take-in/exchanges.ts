import { SECRET_LINES_MAX, TOGETHER_MAX } from '../lines/limits.ts'
import type { Problem } from '../lines/records.ts'

// Lines that give a record the unique text of another one, which is free only if a line of the same file changes that record's.

/** A line that gives a record a unique text. */
export interface Renaming {
  readonly line: number
  readonly recordId: number
  readonly name: string
  /** The record that has the text now; undefined: none has. */
  readonly holder: number | undefined
  /** Whether the line gives a password too. */
  readonly hasSecret: boolean
}

type Taking = Renaming & { readonly holder: number }

export interface Settled {
  readonly refused: readonly { readonly line: number; readonly problem: Problem }[]
  /** Lines by the transaction that makes them, in the order in which transactions are to be made. */
  readonly together: readonly { readonly line: number; readonly together: number }[]
}

/** The renamings of a file, which are settled when all are known: a later line may free what an earlier one takes. */
export class Exchanges {
  readonly #taking: Taking[] = []
  /** The lines that free a record's text, by the record. */
  readonly #freeing = new Map<number, Renaming>()

  add(renaming: Renaming): void {
    const { recordId, holder } = renaming
    // Other capitals of the same text free nothing.
    if (holder === recordId) return
    this.#freeing.set(recordId, renaming)
    if (holder !== undefined) this.#taking.push({ ...renaming, holder })
  }

  /** Refuses the lines whose text nothing frees, with `column` as their fault, and groups the others. */
  settle(column: string, typeName: string): Settled {
    const refused = new Map<number, Problem>()
    const refuse = ({ line, name, recordId }: Renaming, problem: string) => {
      refused.set(line, [column, name, problem])
      // Its record keeps its own text, for which another line may wait.
      this.#freeing.delete(recordId)
    }
    const takerOf = new Map(this.#taking.map((one) => [one.holder, one]))
    for (const one of this.#taking) {
      for (let next: Taking | undefined = one; next !== undefined; next = takerOf.get(next.recordId)) {
        if (refused.has(next.line) || this.#freeing.has(next.holder)) break
        refuse(next, `is already used by another ${typeName}`)
      }
    }
    const together = new Map<number, number>()
    let groups = 0
    const group = (lines: readonly Renaming[]) => {
      groups++
      for (const { line } of lines) together.set(line, groups)
    }
    const waiting = new Map(this.#taking.flatMap((one) => (refused.has(one.line) ? [] : [[one.holder, one]])))
    for (const first of this.#freeing.values()) {
      if (first.holder !== undefined || !waiting.has(first.recordId)) continue
      for (const part of inParts(connectedFrom(first, waiting))) group(part)
    }
    // What no free text ends is a cycle, which one transaction has to make.
    for (const one of waiting.values()) {
      if (together.has(one.line) || refused.has(one.line)) continue
      const cycle = connectedFrom(one, waiting)
      const [part = [], ...more] = inParts(cycle)
      if (more.length === 0) group(part)
      else for (const each of cycle) refuse(each, tooLong)
    }
    return {
      refused: [...refused].map(([line, problem]) => ({ line, problem })),
      together: [...together].map(([line, number]) => ({ line, together: number })),
    }
  }
}

const tooLong = [
  `is exchanged in a cycle of more than ${TOGETHER_MAX} lines, or ${SECRET_LINES_MAX} with passwords`,
  'Give one of these records an unused text by an earlier file',
].join('. ')

/**
 * Returns a line and those that wait for it, each after the line that frees its text. They do not branch, because no two lines
 * take the same text.
 */
function connectedFrom(first: Renaming, waiting: ReadonlyMap<number, Renaming>): Renaming[] {
  const lines = [first]
  let next = waiting.get(first.recordId)
  for (; next !== undefined && next.line !== first.line; next = waiting.get(next.recordId)) lines.push(next)
  return lines
}

/** Divides lines, in their order, into parts that one transaction can make. */
function inParts(lines: readonly Renaming[]): Renaming[][] {
  const parts: Renaming[][] = []
  let secrets = 0
  for (const one of lines) {
    const part = parts.at(-1)
    secrets += one.hasSecret ? 1 : 0
    if (part !== undefined && part.length < TOGETHER_MAX && secrets <= SECRET_LINES_MAX) part.push(one)
    else {
      parts.push([one])
      secrets = one.hasSecret ? 1 : 0
    }
  }
  return parts
}
