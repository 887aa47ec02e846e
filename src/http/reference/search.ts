import { type Candidate, nearestName } from '../../foundation/values/nearest.ts'
import { isPhrase, synonymsOf } from './synonyms.ts'

type FindKind = 'guide' | 'error' | 'operation' | 'event' | 'parameter' | 'field' | 'conventions' | 'changelog'

/** What can be found. */
export interface Entry {
  readonly kind: FindKind
  readonly title: string
  /** Around the title, such as the record of a field. */
  readonly context: string
  readonly text: string
  readonly address: string
  /** Of an operation, such as `GET /StoreWebAPI/v1/Products/{catalogid}`. */
  readonly request?: string
}

export const QUERY_LENGTH_MAX = 100
export const FOUND_MAX = 50
const WORDS_MAX = 8
const EXCERPT_LENGTH = 200
/** A sentence before its word longer than this is not shown from its beginning. */
const LEAD_LENGTH_MAX = 300

/** Whole things go before their parts. A title that is the word outweighs that. */
const weights: Readonly<Record<FindKind, number>> = {
  guide: 30,
  operation: 30,
  error: 20,
  conventions: 25,
  event: 15,
  field: 10,
  parameter: 8,
  changelog: 0,
}

/** Guides and their parts that are about what was typed go before the rest: a name of several words outweighs that. */
const LEADING = 140
/** Shorter words are near to too many others. */
const MISSPELT_LENGTH_MIN = 4

/** What was typed for one thing, and what else may stand for it. */
interface Term {
  readonly word: string
  readonly others: readonly string[]
}

/**
 * Returns a function that finds the entries with all words of a query or their synonyms, the best first, 50 from the given place on. Where
 * none has all, it finds those with the most. A word that occurs nowhere is taken for the nearest one. An address such as `GET /Orders` finds its operations. Case does not matter.
 */
export function createSearch(entries: readonly Entry[]) {
  const indexed = entries.map(indexedOf)
  let vocabulary: readonly Candidate[] | undefined
  const corrected = (word: string): string => {
    const isKnown = word.length < MISSPELT_LENGTH_MIN || isPhrase(word) || indexed.some(({ all }) => all.includes(word))
    if (isKnown) return word
    vocabulary ??= vocabularyOf(indexed)
    return nearestName(word, vocabulary) ?? word
  }
  return (query: string, from = 0) => {
    const typed = wordsOf(query, (word) => indexed.some(({ all }) => `${all} `.includes(`${word} `)))
    const words = typed.map(corrected)
    const terms = termsOf(words)
    const byAddress = operationsAt(entries, query)
    const { found, isPartial } = byAddress.length > 0 ? { found: byAddress, isPartial: false } : bestOf(indexed, terms)
    const sought = terms.flatMap(({ word, others }) => [word, ...others])
    const shown = found.slice(from, from + FOUND_MAX)
    return {
      found: shown.map((entry) => ({ ...entry, excerpt: excerptOf(entry.text, sought) })),
      /** How many there are before this page. */
      from,
      total: found.length,
      /** Nothing has all words: these have as many as any. */
      isPartial,
      /** What it was taken for. Empty: it is as it was typed. */
      meant: words.join(' ') === typed.join(' ') ? '' : words.join(' '),
    }
  }
}

type Indexed = ReturnType<typeof indexedOf>

function indexedOf(entry: Entry) {
  // Words of a title such as `SKUInfo.StockAdjust` begin within it.
  const beginnings = apart(entry.title)
  const all = `${entry.title} ${beginnings} ${entry.context} ${entry.text}`.toLowerCase()
  // Of an operation.
  const [, id = ''] = entry.request === undefined ? [] : entry.context.split(': ')
  // Its kind is shown beside it.
  const title = entry.title.toLowerCase().replace(/^notification: /, '')
  return { entry, title, beginnings, id: apart(id), all, spaced: ` ${apart(all)}` }
}

function vocabularyOf(indexed: readonly Indexed[]): Candidate[] {
  const words = new Set(indexed.flatMap(({ spaced }) => spaced.split(' ')))
  return [...words].filter(({ length }) => length >= MISSPELT_LENGTH_MIN).map((name) => ({ name, spellings: [name] }))
}

function bestOf(indexed: readonly Indexed[], terms: readonly Term[]): { found: Entry[]; isPartial: boolean } {
  const ranked = indexed.flatMap((one) => {
    const fits = terms.map((term) => fitOf(term, one)).filter((fit) => fit > 0)
    return fits.length === 0 ? [] : { entry: one.entry, count: fits.length, rank: rankOf(one, terms, fits) }
  })
  const most = ranked.reduce((max, { count }) => Math.max(max, count), 0)
  const best = ranked.filter(({ count }) => count === most).toSorted((one, other) => other.rank - one.rank)
  return { found: best.map(({ entry }) => entry), isPartial: most > 0 && most < terms.length }
}

function rankOf(one: Indexed, terms: readonly Term[], fits: readonly number[]): number {
  const { entry, title, beginnings, id } = one
  const query = terms.map(({ word }) => word).join(' ')
  // A title that says this in one piece is meant more likely, and more so if it says nothing else.
  const exact =
    title === query ? (terms.length > 1 ? 200 : 100) : isNamed(id, terms) ? 60 : beginnings.includes(query) ? 25 : 0
  const leading =
    entry.kind === 'guide' && terms.every((term) => isAbout(one, term)) ? LEADING + (entry.context === '' ? 20 : 0) : 0
  return fits.reduce((sum, fit) => sum + fit, 0) + exact + leading + weights[entry.kind] - title.length / 1_000
}

/** Whether a guide says the word or another for it in its title, or the word in the first paragraph. */
function isAbout({ entry, title, spaced }: Indexed, { word, others }: Term): boolean {
  if (entry.context === '' && spaced.includes(` ${word}`)) return true
  return [word, ...others].some((each) => ` ${title}`.includes(` ${each}`))
}

/** Whether the words of `createOrder` or their synonyms are those of `placeOrder`. */
function isNamed(id: string, terms: readonly Term[]): boolean {
  const names = id.split(' ')
  const isWord = ({ word, others }: Term, name = '') => word === name || others.includes(name)
  return names.length === terms.length && terms.every((term, index) => isWord(term, names[index]))
}

/** 0: it is not there at all. */
function fitOf({ word, others }: Term, one: Indexed): number {
  // What was not typed must be a word, or its beginning.
  const meant = others.filter((other) => one.spaced.includes(` ${other}`))
  return Math.max(fitOfWord(word, one), ...meant.map((other) => fitOfWord(other, one) * 0.8))
}

function fitOfWord(word: string, { entry, title, beginnings, all }: Indexed): number {
  if (title === word) return 60
  if (title.endsWith(`.${word}`)) return 50
  if (` ${beginnings}`.includes(` ${word}`)) return 30
  if (entry.context.toLowerCase() === word) return 20
  if (!all.includes(word)) return 0
  return title.includes(word) ? 15 : 2
}

/** Words that every text has say nothing, unless nothing else was typed. */
const empty = new Set(['a', 'an', 'the', 'of', 'to', 'for', 'in', 'is', 'how', 'do', 'i', 'can', 'my'])

/** What occurs nowhere as it was typed, such as `createOrder`, is taken apart. */
function wordsOf(query: string, occurs: (word: string) => boolean): string[] {
  const typed = query.slice(0, QUERY_LENGTH_MAX).split(/\s+/).filter(Boolean)
  const words = typed.flatMap((word) => {
    const lower = word.toLowerCase()
    return occurs(lower) || !/[a-z][A-Z]/.test(word) ? lower : apart(word).split(' ')
  })
  const telling = words.filter((word) => word !== '' && !empty.has(word))
  return [...new Set(telling.length > 0 ? telling : words)].slice(0, WORDS_MAX)
}

function termsOf(words: readonly string[]): Term[] {
  const terms: Term[] = []
  for (let index = 0; index < words.length; index++) {
    const word = words[index] ?? ''
    const pair = `${word} ${words[index + 1] ?? ''}`
    if (isPhrase(pair)) index++
    const meant = isPhrase(pair) ? pair : word
    const singular = /[^s]s$/.test(meant) && meant.length > 3 ? [meant.slice(0, -1)] : []
    terms.push({ word: meant, others: [...singular, ...[meant, ...singular].flatMap(synonymsOf)] })
  }
  return terms
}

/** The operations of an address, with a method or without, and then those below it. */
function operationsAt(entries: readonly Entry[], query: string): Entry[] {
  const [, method = '', address] =
    /^\s*(?:(get|post|put|delete)\s+)?(?:https?:\/\/[^/\s]+)?(\/\S*)\s*$/i.exec(query) ?? []
  if (address === undefined) return []
  const sought = shapeOf(address)
  const found = entries.flatMap((entry) => {
    const [verb = '', path = ''] = entry.request?.split(' ') ?? []
    const shape = shapeOf(path)
    const isBelow = shape === sought || shape.startsWith(`${sought}/`)
    if (entry.request === undefined || !isBelow || (method !== '' && verb !== method.toUpperCase())) return []
    return { entry, shape }
  })
  return found.toSorted((one, other) => one.shape.length - other.shape.length).map(({ entry }) => entry)
}

/** `/StoreWebAPI/v2/Products/12?limit=1` → `/products/{}` */
export function shapeOf(address: string): string {
  const [path = ''] = address.toLowerCase().split(/[?#]/)
  return path
    .replace(/^\/[^/]+\/v\d+(?=\/)/, '')
    .replace(/\/+$/, '')
    .replace(/(?<=\/)(?:\{[^}]*\}|:\w+|\d+)(?=\/|$)/g, '{}')
}

/** `SKUInfo.StockAdjust` → `sku info stock adjust` */
function apart(title: string): string {
  return title
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .replace(/([A-Z]{2})([A-Z][a-z])/g, '$1 $2')
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .toLowerCase()
}

/** What stands around the first word that was found, from its sentence on, in parts of which every second is a word. */
function excerptOf(text: string, words: readonly string[]): string[] {
  const lower = text.toLowerCase()
  const places = words.map((word) => lower.indexOf(word)).filter((place) => place !== -1)
  const place = places.length === 0 ? 0 : Math.min(...places)
  const sentence = Math.max(...['. ', '? '].map((end) => text.lastIndexOf(end, place - 1))) + 2
  const isFar = place - sentence > LEAD_LENGTH_MAX
  const begin = place === 0 || sentence === 1 ? 0 : isFar ? text.indexOf(' ', place - EXCERPT_LENGTH / 4) + 1 : sentence
  const far = begin + Math.max(EXCERPT_LENGTH, place - begin + EXCERPT_LENGTH / 4)
  const end = far >= text.length ? text.length : text.lastIndexOf(' ', far)
  const part = text.slice(begin, end <= begin ? far : end)
  const shown = `${isFar ? '… ' : ''}${part}${end < text.length ? ' …' : ''}`
  const pattern = words.map((word) => word.replace(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`)).join('|')
  return pattern === '' ? [shown] : shown.split(new RegExp(`(${pattern})`, 'iu'))
}
