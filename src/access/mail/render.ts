import { fileURLToPath } from 'node:url'
import { Eta } from 'eta'
import type { Language } from '../../foundation/texts/language.ts'
import { type Phrase, Text, t } from '../../foundation/texts/text.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { UNSEEN } from '../../foundation/values/input.ts'
import { kinds, type MailData, type MailKind } from './kinds.ts'

/** What a mail says below its subject, as it is sealed. */
export interface Content {
  readonly text: string
  /** Omitted: it is plain text. */
  readonly html?: string
  /** Omitted: MAIL_FROM, and answers go there. */
  readonly from?: Sender
  readonly replyTo?: string
}

export interface Sender {
  readonly name: string
  readonly address: string
}

/** One kind with its values. */
export type Wording = { readonly [Kind in MailKind]: { readonly kind: Kind; readonly data: MailData[Kind] } }[MailKind]

interface Setting {
  readonly language: Pick<Language, 'tag' | 'format' | 'say'>
  /** IANA name. */
  readonly timeZone: string
  /** Without a trailing slash. */
  readonly publicUrl: string
}

/** Of the templates beside those of other languages. */
const SOURCE_TAG = 'en'
/** What is longer is cut: characters of a value, and lines of a list. */
const VALUE_LENGTH_MAX = 1_000
const LINES_MAX = 100
const CONTROL = /[\p{Cc}\u2028\u2029]+/gu

const options = {
  views: fileURLToPath(new URL('templates', import.meta.url)),
  cache: true,
  autoFilter: true,
  filterFunction: (value: unknown) => {
    if (value === undefined) throw new Error('A mail reads what it was not given')
    return String(value)
  },
}
const textTemplates = new Eta({ ...options, autoEscape: false, autoTrim: false })
const htmlTemplates = new Eta(options)

/**
 * Makes the subject, the text and the HTML of a mail. Values are text: no template is made of them, the HTML escapes
 * them, and a line break in one becomes a blank, so that nobody writes a paragraph of the mail. Throws a 400
 * where a subject would have a control character.
 */
export function render(said: Wording, { language, timeZone, publicUrl }: Setting): Content & { subject: string } {
  const { tag, format, say } = language
  const wording = { ...said, data: harmlessIn(said.data) } as Wording
  const subject = requireHeaderText(say(subjectOf(wording)), 'Subject')
  const shown = (value: Phrase | Date | readonly Phrase[]): unknown => {
    if (value instanceof Date) return format.date(value, timeZone)
    if (typeof value !== 'string' && !(value instanceof Text)) return value.slice(0, LINES_MAX).map(shown)
    return say(value).slice(0, VALUE_LENGTH_MAX).toWellFormed().replaceAll(CONTROL, ' ')
  }
  // Never from a request's Host, which anybody chooses.
  const link = 'link' in wording.data ? publicUrl + wording.data.link : null
  const given = Object.entries<Parameters<typeof shown>[0]>({ ...wording.data })
  const values = Object.fromEntries(given.map(([name, value]) => [name, shown(value)]))
  const template = tag === SOURCE_TAG ? `/${wording.kind}` : `/${tag}/${wording.kind}`
  const body = textTemplates.render(template, { ...values, link }).trim()
  const blocks = body.split(/\n{2,}/).map((text) => blockOf(text, link))
  const sentBy = say(t('Sent automatically by {publicUrl}', { publicUrl }))
  const html = htmlTemplates.render('/layout', { subject, blocks, sentBy, tag })
  return { subject, text: `${body}\n\n-- \n${sentBy}\n`, html }
}

/** Values that are addresses by their nature, checked where they are given. */
const addresses: ReadonlySet<string> = new Set(['link', 'newEmail', 'invitedBy', 'by', 'address'])
/** Names that are longer are cut. */
const NAME_LENGTH_MAX = 80
/** What mail programs make links of: `evil.example`, `http://…`, `a@b.example`; but not the name of a file. */
const LINKED = /[.\u3002\uff0e\uff61](?!csv(?!\S))(?=\p{L})|(?<=\p{L}):(?=\S)|[@\uff20](?=\S)/gu

/**
 * Somebody else than the reader chose the name of a store, a role or a webhook: with a blank behind what would make a link of it,
 * without characters that nobody sees, and cut.
 */
function harmlessValue(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(harmlessValue)
  if (value instanceof Text) return new Text(value.key, harmlessIn(value.values ?? {}))
  return typeof value === 'string' ? harmless(value) : value
}

/** The same of a text. */
export function harmless(value: string): string {
  const seen = value.replaceAll(UNSEEN, '').replaceAll(LINKED, '$& ')
  return seen.length > NAME_LENGTH_MAX ? `${seen.slice(0, NAME_LENGTH_MAX - 1).toWellFormed()}…` : seen
}

function harmlessIn<Values extends object>(values: Values): Values {
  const harmlessOne = (name: string, value: unknown) => (addresses.has(name) ? value : harmlessValue(value))
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [name, harmlessOne(name, value)])) as Values
}

/** Throws a 400 for a text that could end a header or begin another. */
export function requireHeaderText(text: string, field: string): string {
  if (text.search(CONTROL) === -1) return text
  throw new StoreFailure('invalid-value', `${field} must not have line breaks or other control characters`, { field })
}

function subjectOf<Kind extends MailKind>({ kind, data }: { kind: Kind; data: MailData[Kind] }): Text {
  return kinds[kind][1](data)
}

/** A paragraph of the text as HTML shows it. */
function blockOf(text: string, link: string | null) {
  if (text === link) return { link }
  const lines = text.split('\n')
  return lines.every((line) => line.startsWith('- ')) ? { items: lines.map((line) => line.slice(2)) } : { text }
}
