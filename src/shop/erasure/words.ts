import { isRecord } from '../../engine/definition/input.ts'
import { join, type Sql, sql } from '../../foundation/database/sql.ts'
import { ERASED } from './personal.ts'

/** Shorter texts stand in others by chance. */
const SOUGHT_LENGTH_MIN = 5
const IN_TEXTS_LENGTH_MIN = 4

/** In lower case. */
type Name = readonly [first: string, last: string]

interface WordsJson extends Pick<Words, 'names' | 'shared'> {
  readonly identifying: readonly string[]
  readonly all: readonly string[]
}

/** The texts by which a person is found in what others wrote, and those that tell of the person where one of these stands. */
export class Words {
  /** E-mail addresses and whole names, in lower case: they tell one person from others. */
  readonly #identifying = new Set<string>()
  /** Streets, telephone numbers and the like, which a household may share. */
  readonly #shared = new Set<string>()
  readonly #names = new Map<string, Name>()
  /** Everything of the person, in lower case. */
  readonly #all = new Set<string>()
  /** What follows from the words, as long as none is added. */
  #pattern: RegExp | undefined
  #inside: RegExp | undefined
  #forms: Readonly<Record<'log' | 'text', readonly string[]>> | undefined

  /** Adds the text of a member; `isSought`: which is looked for by itself. */
  add(name: string, text: string, isSought: boolean): void {
    const word = text.trim().toLowerCase()
    if (word === '') return
    this.#forget()
    this.#all.add(word)
    if (!isSought || word.length < SOUGHT_LENGTH_MIN || /(First|Last)Name$/.test(name)) return
    const isAddress = word.includes('@')
    ;(isAddress ? this.#identifying : this.#shared).add(word)
  }

  /** Adds the names in a record: those that begin alike belong to one person. */
  addNames(record: object): void {
    this.#forget()
    for (const [name, first] of Object.entries(record)) {
      const last = name.endsWith('FirstName') && (record as Record<string, unknown>)[name.replace(/First/, 'Last')]
      if (typeof first !== 'string' || typeof last !== 'string' || first.trim() === '' || last.trim() === '') continue
      const [one, other] = [first.trim().toLowerCase(), last.trim().toLowerCase()]
      this.#names.set(`${one} ${other}`, [one, other])
      for (const whole of [`${one} ${other}`, `${other} ${one}`, `${other}, ${one}`]) {
        this.#identifying.add(whole)
        this.#all.add(whole)
      }
    }
  }

  #forget(): void {
    this.#pattern = undefined
    this.#inside = undefined
    this.#forms = undefined
  }

  get emails(): string[] {
    return [...this.#identifying].filter((word) => word.includes('@'))
  }

  get names(): Name[] {
    return [...this.#names.values()]
  }

  get shared(): string[] {
    return [...this.#shared]
  }

  toJSON(): WordsJson {
    const { names } = this
    return { identifying: [...this.#identifying], shared: this.shared, all: [...this.#all], names }
  }

  static from({ identifying, shared, all, names }: WordsJson): Words {
    const words = new Words()
    for (const word of identifying) words.#identifying.add(word)
    for (const word of shared) words.#shared.add(word)
    for (const word of all) words.#all.add(word)
    for (const pair of names) words.#names.set(pair.join(' '), pair)
    return words
  }

  #sought(isLog: boolean): readonly string[] {
    const identifying = () => [...this.#identifying].flatMap(formsOf)
    this.#forms ??= { text: identifying(), log: [...identifying(), ...this.shared.flatMap(formsOf)] }
    return this.#forms[isLog ? 'log' : 'text']
  }

  /** Whether a text in SQL tells of the person; `isLog`: also by what a household shares. */
  condition(text: Sql, isLog: boolean): Sql {
    const like = (words: readonly string[]) => words.map((word) => `%${word.replace(/[\\%_]/g, '\\$&')}%`)
    const lower = sql`lower(${text})`
    const alternatives = [sql`${lower} LIKE ANY (ARRAY (SELECT lower(unnest(${like(this.#sought(isLog))}::text[]))))`]
    for (const pair of this.#names.values()) {
      const quoted = like(pair.map((name) => JSON.stringify(name)))
      alternatives.push(sql`${lower} LIKE ALL (ARRAY (SELECT lower(unnest(${quoted}::text[]))))`)
    }
    return sql`(${join(alternatives, ' OR ')})`
  }

  /** The same of a text here. */
  isIn(text: string, isLog: boolean): boolean {
    const lower = text.toLowerCase()
    const isPair = (pair: readonly string[]) => pair.every((name) => lower.includes(JSON.stringify(name)))
    return this.#sought(isLog).some((word) => lower.includes(word)) || this.#names.values().some(isPair)
  }

  /** Takes the person out of a text, JSON or not, in which `isIn` has found one. Rows of a list are looked at one by one. */
  erasedIn(text: string, isLog: boolean): string {
    const value = parsed(text)
    return value === undefined ? this.#withoutAll(text) : JSON.stringify(this.#erased(value, isLog))
  }

  #erased(value: unknown, isLog: boolean): unknown {
    const isList = Array.isArray(value) && value.every((item) => typeof item === 'object')
    if (!isList) return mapTexts(value, (text) => this.#withoutAll(text))
    return value.map((item) => (this.isIn(JSON.stringify(item), isLog) ? this.#erased(item, isLog) : item))
  }

  /** Takes what is sought out of a text that is kept. */
  without(text: string): string {
    this.#pattern ??= patternOf(this.#sought(true))
    return text.replace(this.#pattern, ERASED)
  }

  #withoutAll(text: string): string {
    if (this.#all.has(text.trim().toLowerCase())) return ERASED
    const longer = () => [...this.#all].filter((word) => word.length >= IN_TEXTS_LENGTH_MIN).flatMap(formsOf)
    this.#inside ??= patternOf(longer(), '(?<![\\p{L}\\d])', '(?![\\p{L}\\d])')
    return this.without(text).replace(this.#inside, ERASED)
  }
}

/** A word as it is, in JSON, and in addresses. */
function formsOf(word: string): string[] {
  const inAddress = encodeURIComponent(word).toLowerCase()
  return [...new Set([word, JSON.stringify(word).slice(1, -1), inAddress, inAddress.replaceAll('%20', '+')])]
}

/** The longest first, so that none leaves a part of another. */
function patternOf(words: readonly string[], before = '', after = ''): RegExp {
  const escaped = words
    .toSorted((one, other) => other.length - one.length)
    .map((word) => word.replace(/[.*+?^${}()|[\]\\/]/g, '\\$&'))
  return escaped.length === 0 ? /(?!)/ : new RegExp(`${before}(?:${escaped.join('|')})${after}`, 'giu')
}

function parsed(text: string): unknown {
  if (!/^\s*[[{]/.test(text)) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

function mapTexts(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value)
  if (Array.isArray(value)) return value.map((item) => mapTexts(item, map))
  if (!isRecord(value)) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, mapTexts(inner, map)]))
}
