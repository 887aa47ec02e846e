import type { Problem } from './records.ts'

// Lines that give a record the unique text of another one, which is free only if a line of the same file changes that record's.

/** Lines that are made in one transaction. */
export const TOGETHER_MAX = 100

/** A line that gives a record a unique text. */
export interface Renaming {
  readonly line: number
  readonly recordId: number
  readonly name: string
  /** The record that has the text now; undefined: none has. */
  readonly holder: number | undefined
}

export interface Settled {
  readonly refused: readonly { readonly line: number; readonly problem: Problem }[]
  readonly together: readonly { readonly line: number; readonly together: number }[]
}

/** The renamings of a file, which are settled when all are known: a later line may free what an earlier one takes. */
export class Exchanges {
  readonly #taking: (Renaming & { holder: number })[] = []
  /** The lines that free a record's text, by the record. */
  readonly #freeing = new Map<number, number>()

  add(renaming: Renaming): void {
    const { line, recordId, holder } = renaming
    // Other capitals of the same text free nothing.
    if (holder === recordId) return
    this.#freeing.set(recordId, line)
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
      for (let next: typeof one | undefined = one; next !== undefined; next = takerOf.get(next.recordId)) {
        if (refused.has(next.line) || this.#freeing.has(next.holder)) break
        refuse(next, `is already used by another ${typeName}`)
      }
    }
    const waiting = this.#taking.filter(({ line }) => !refused.has(line))
    const groups = groupsOf(waiting.map(({ line, holder }) => [line, this.#freeing.get(holder) as number]))
    const together = new Map<number, number>()
    for (const group of groups) {
      const first = group.reduce((least, line) => Math.min(least, line))
      if (group.length <= TOGETHER_MAX) for (const line of group) together.set(line, first)
    }
    for (const one of waiting) {
      if (!together.has(one.line)) refuse(one, `is exchanged among more than ${TOGETHER_MAX} lines. Use several files`)
    }
    return {
      refused: [...refused].map(([line, problem]) => ({ line, problem })),
      together: [...together].map(([line, first]) => ({ line, together: first })),
    }
  }
}

/** The lines that are connected. */
function groupsOf(pairs: readonly (readonly [number, number])[]): Set<readonly number[]> {
  const groups = new Map<number, number[]>()
  for (const [one, other] of pairs) {
    const [large, small] = [groups.get(one) ?? [one], groups.get(other) ?? [other]].toSorted(
      (a, b) => b.length - a.length,
    ) as [number[], number[]]
    if (large !== small) for (const line of small) large.push(line)
    for (const line of small) groups.set(line, large)
    groups.set(one, large).set(other, large)
  }
  return new Set(groups.values())
}
