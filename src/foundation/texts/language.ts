import { readdirSync, readFileSync } from 'node:fs'
import { IntlMessageFormat } from 'intl-messageformat'
import { LRUCache } from 'lru-cache'
import { formatOf } from './format.ts'
import { refusalsOf } from './refusals.ts'
import { type Phrase, type Reader, Text, type TextValue } from './text.ts'

/** The locales that a person may choose, by their BCP 47 tags, the first for who wants none of them. */
export const locales = {
  'en-US': 'English (United States)',
  'en-GB': 'English (United Kingdom)',
  'de-DE': 'Deutsch (Deutschland)',
  'de-AT': 'Deutsch (Österreich)',
  'de-CH': 'Deutsch (Schweiz)',
} as const

export type Locale = keyof typeof locales

export const localeTags = Object.keys(locales) as Locale[]

const REFUSALS = 'refusals.json'

/** A message that nobody has translated yet is empty in its file. */
const isSaid = ([, said]: readonly [string, string]) => said !== ''

/** By English message, in ICU syntax; or as a template has it, with `{1}` for what it prints and tags without attributes. */
type Catalogue = ReadonlyMap<string, string>

interface Catalogues {
  readonly messages: Catalogue
  readonly refusals: Catalogue
}

/** Of the language whose messages the keys are. */
const noCatalogues: Catalogues = { messages: new Map(), refusals: new Map() }

/**
 * Reads a language from its files when somebody wants it first, because most commands and many servers never do: one for the
 * refusals, and the others for what pages say, in parts of a handy size.
 */
function readCatalogues(tag: string): Catalogues {
  if (tag === 'en') return noCatalogues
  const directory = new URL(`./${tag}/`, import.meta.url)
  const entriesOf = (file: string) =>
    JSON.parse(readFileSync(new URL(file, directory), 'utf8')) as Record<string, string>
  const files = readdirSync(directory).filter((file) => file !== REFUSALS)
  return {
    messages: new Map(files.flatMap((file) => Object.entries(entriesOf(file)).filter(isSaid))),
    refusals: new Map(Object.entries(entriesOf(REFUSALS)).filter(isSaid)),
  }
}

const catalogues = new LRUCache<string, Catalogues>({ max: localeTags.length, memoMethod: readCatalogues })

/** In what language a page is, and how it writes numbers and dates. */
export interface Language extends Reader {
  readonly locale: Locale
  /** Such as `de`. */
  readonly tag: string
  /** The message as the catalogue has it. Null: it has none. */
  lookUp(message: string): string | null
}

const languages = new LRUCache<Locale, Language>({ max: localeTags.length, memoMethod: makeLanguage })

export function languageOf(locale: Locale): Language {
  return languages.memo(locale)
}

/** Says a phrase in English, for what is kept or sent to programs. */
export function english(phrase: Phrase): string {
  return languageOf('en-US').say(phrase)
}

export function isLocale(text: string): text is Locale {
  return Object.hasOwn(locales, text)
}

/** An amount in what the server says to programs, such as `12.5 USD`. */
const AMOUNT = /(?<![\w.,-])(-?\d+(?:\.\d+)?) ([A-Z]{3})(?!\w)/g

function makeLanguage(locale: Locale): Language {
  const tag = locale.slice(0, 2)
  const { messages: catalogue, refusals } = catalogues.memo(tag)
  const format = formatOf(locale)
  const sayRefusal = refusalsOf(refusals, locale)
  const sayProblem = (problem: string) =>
    sayRefusal(problem).replaceAll(AMOUNT, (_, amount, currency) => format.unitPrice(amount, currency))
  const memoMethod = (message: string) => new IntlMessageFormat(message, locale, undefined, { ignoreTag: true })
  const messages = new LRUCache<string, IntlMessageFormat>({ max: 2000, memoMethod })
  const filled = (value: TextValue): string | number => {
    if (typeof value === 'function') return value({ format, say, sayProblem })
    return value instanceof Text ? say(value) : value
  }
  const say = (words: Phrase): string => {
    if (!(words instanceof Text)) return words
    const { key, values } = words
    const message = catalogue.get(key) ?? key
    if (values === undefined) return message
    const said = Object.fromEntries(Object.entries(values).map(([name, value]) => [name, filled(value)]))
    return String(messages.memo(message).format(said))
  }
  return { locale, tag, format, say, lookUp: (message) => catalogue.get(message) ?? null, sayProblem }
}
