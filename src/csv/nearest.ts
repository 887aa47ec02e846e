import type { Column } from './columns.ts'

/** The name of the column that a heading means in all likelihood; null: none is near it. */
export function nearest(heading: string, columns: readonly Column[]): string | null {
  const meant = lettersOf(heading)
  const near = columns
    .map(({ name, path, field }) => {
      const spellings = [name, path.at(-1) ?? '', field.label].filter((spelling) => spelling !== '')
      return { name, edits: Math.min(...spellings.map((spelling) => distance(meant, lettersOf(spelling)))) }
    })
    .toSorted((one, other) => one.edits - other.edits)
  const [first] = near
  return first !== undefined && first.edits <= Math.max(1, Math.floor(meant.length / 3)) ? first.name : null
}

const LENGTH_MAX = 60

function lettersOf(text: string): string {
  return text
    .slice(0, LENGTH_MAX)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

/** The letters to add, omit or replace that turn one text into the other (Levenshtein). */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (const [place, letter] of [...one].entries()) {
    const next = [place + 1]
    for (const [at, compared] of [...other].entries()) {
      const replaced = (row[at] ?? 0) + (letter === compared ? 0 : 1)
      next.push(Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1))
    }
    row = next
  }
  return row.at(-1) ?? 0
}
