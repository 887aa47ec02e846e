/** A name that may be meant, and how else people write it. */
export interface Meant {
  readonly name: string
  readonly spellings: readonly string[]
}

/** The name that is meant in all likelihood; null: none is near. Letter case and signs do not count. */
export function nearestName(given: string, candidates: readonly Meant[]): string | null {
  const letters = lettersOf(given)
  const editsMax = Math.max(1, Math.floor(letters.length / 3))
  let nearest: string | null = null
  let fewest = editsMax + 1
  for (const { name, spellings } of candidates) {
    for (const spelling of spellings) {
      const compared = lettersOf(spelling)
      if (compared === '' || Math.abs(compared.length - letters.length) >= fewest) continue
      const edits = distance(letters, compared)
      if (edits < fewest) [nearest, fewest] = [name, edits]
    }
  }
  return nearest
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
