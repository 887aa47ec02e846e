/** A name that may be meant, with the letters of every way in which people write it. */
export interface Candidate {
  readonly name: string
  readonly spellings: readonly string[]
}

/** A name with points, of which people also write the last part alone, or what pages call it. Letter case and signs do not count. */
export function candidateOf(name: string, label = ''): Candidate {
  const letters = new Set([name, name.slice(name.lastIndexOf('.') + 1), label].map(lettersOf))
  letters.delete('')
  return { name, spellings: [...letters] }
}

/**
 * The name that is meant in all likelihood; null: none is near. Letter case and signs do not count. A name that ends with what is
 * given comes before one that is spelt otherwise, because people leave out the beginning that all names of a record have in common.
 */
export function nearestName(given: string, candidates: readonly Candidate[]): string | null {
  const letters = lettersOf(given)
  const editsMax = Math.floor(letters.length / 3)
  let nearest: string | null = null
  let fewest = editsMax + 1
  for (const { name, spellings } of candidates) {
    for (const spelling of spellings) {
      const isEnd = letters.length > 1 && spelling.length > letters.length && spelling.endsWith(letters)
      const edits = isEnd ? END : distance(letters, spelling, fewest)
      if (edits < fewest) [nearest, fewest] = [name, edits]
    }
  }
  return nearest
}

const LENGTH_MAX = 60
/** Between no edit and one. */
const END = 0.5

/** What counts of a name when names are compared. */
export function lettersOf(text: string): string {
  return text
    .slice(0, LENGTH_MAX)
    .toLowerCase()
    .replaceAll(/[^a-z0-9]/g, '')
}

/** The letters to add, omit or replace that turn one text into the other (Levenshtein), or `most` where they are as many or more. */
function distance(one: string, other: string, most: number): number {
  if (Math.abs(one.length - other.length) >= most) return most
  let row = Array.from({ length: other.length + 1 }, (_, at) => at)
  for (let place = 0; place < one.length; place++) {
    const next = [place + 1]
    let least = place + 1
    for (let at = 0; at < other.length; at++) {
      const replaced = (row[at] ?? 0) + (one[place] === other[at] ? 0 : 1)
      const edits = Math.min(replaced, (row[at + 1] ?? 0) + 1, (next[at] ?? 0) + 1)
      next.push(edits)
      least = Math.min(least, edits)
    }
    if (least >= most) return most
    row = next
  }
  return row.at(-1) ?? 0
}
