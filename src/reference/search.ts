export type FindKind = 'guide' | 'operation' | 'event' | 'parameter' | 'field' | 'conventions' | 'changelog'

/** What can be found. */
export interface Entry {
  readonly kind: FindKind
  readonly title: string
  /** Around the title, such as the service of a field. */
  readonly context: string
  readonly text: string
  readonly address: string
}

export interface Found extends Entry {
  /** What stands around the first word that was found, in parts of which every second is a word. */
  readonly excerpt: readonly string[]
}

export const QUERY_LENGTH_MAX = 100
const WORDS_MAX = 8
const FOUND_MAX = 50
const EXCERPT_LENGTH = 200

/** Of two that fit equally well, which goes first. */
const weights: Readonly<Record<FindKind, number>> = {
  guide: 6,
  operation: 5,
  event: 5,
  conventions: 4,
  field: 3,
  parameter: 2,
  changelog: 1,
}

/** Returns a function that finds the entries with all words of a query, the best first, 50 at most; case does not matter. */
export function createSearch(entries: readonly Entry[]): (query: string) => Found[] {
  const indexed = entries.map((entry) => ({
    entry,
    title: entry.title.toLowerCase(),
    // Words of a title such as `SKUInfo.StockAdjust` begin within it.
    beginnings: apart(entry.title),
    all: `${entry.title} ${apart(entry.title)} ${entry.context} ${entry.text}`.toLowerCase(),
  }))
  return (query) => {
    const words = wordsOf(query)
    if (words.length === 0) return []
    const found = indexed.flatMap(({ entry, title, beginnings, all }) => {
      if (!words.every((word) => all.includes(word))) return []
      const fit = words.reduce((sum, word) => sum + fitOf(word, title, beginnings), 0)
      // A title that says nothing else is meant more likely.
      const exact = title === words.join(' ') ? 100 : 0
      return { entry, rank: fit + exact + weights[entry.kind] - title.length / 1_000 }
    })
    found.sort((one, other) => other.rank - one.rank)
    return found.slice(0, FOUND_MAX).map(({ entry }) => ({ ...entry, excerpt: excerptOf(entry.text, words) }))
  }
}

function wordsOf(query: string): string[] {
  const words = query.slice(0, QUERY_LENGTH_MAX).toLowerCase().split(/\s+/).filter(Boolean)
  return [...new Set(words)].slice(0, WORDS_MAX)
}

function fitOf(word: string, title: string, beginnings: string): number {
  if (title === word) return 60
  if (` ${beginnings}`.includes(` ${word}`)) return 30
  return title.includes(word) ? 15 : 2
}

/** `SKUInfo.StockAdjust` → `sku info stock adjust` */
function apart(title: string): string {
  return title
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]{2})([A-Z][a-z])/g, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase()
}

function excerptOf(text: string, words: readonly string[]): string[] {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place !== -1)
  const start = places.length === 0 ? 0 : Math.max(0, Math.min(...places) - EXCERPT_LENGTH / 4)
  const begin = start === 0 ? 0 : text.indexOf(' ', start) + 1
  const part = text.slice(begin, begin + EXCERPT_LENGTH)
  const shown = `${begin > 0 ? '… ' : ''}${part}${begin + EXCERPT_LENGTH < text.length ? ' …' : ''}`
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')
  return shown.split(new RegExp(`(${pattern})`, 'iu'))
}
