import { decoded } from './html-entities.ts'

// HTML as a person reads it: its words, with the line breaks that a browser would show.

const tag = /<\/?[A-Za-z][A-Za-z0-9]*(?:[\s/][^<>]{0,2000})?>|<!--[\s\S]{0,2000}?-->/g
const lineEnd =
  /<br\b[^<>]{0,2000}>|<\/(?:p|div|h[1-6]|li|ul|ol|tr|table|blockquote|section)\s{0,10}>|<hr\b[^<>]{0,2000}>/gi
const hidden = /<(?:script|style)\b/i
const hiddenEnd = /<\/(?:script|style)\s{0,10}>/i

/** Whether a text has tags or entities, so that it reads badly as it is. */
export function isHtmlText(text: string): boolean {
  return text.search(tag) >= 0 || decoded(text) !== text
}

/** The words of HTML, a line for each paragraph, item or row. */
export function textOfHtml(html: string): string {
  const broken = html
    .replaceAll(/\s+/g, ' ')
    .split(hiddenEnd)
    .map(beforeHidden)
    .join(' ')
    .replaceAll(lineEnd, '\n')
    .replaceAll(tag, '')
  const lines = decoded(broken).split('\n')
  return lines
    .map((line) => line.replaceAll(/\s+/g, ' ').trim())
    .filter((line, at, all) => line !== '' || (at > 0 && all[at - 1] !== ''))
    .join('\n')
    .trim()
}

function beforeHidden(html: string): string {
  const at = html.search(hidden)
  return at < 0 ? html : html.slice(0, at)
}

/** Characters that are shown around what differs. */
const AROUND = 40
const SHOWN_MAX = 300

/** What differs between two texts, with a few words around it. */
export function changedPart(before: string, after: string): { before: string; after: string } {
  const least = Math.min(before.length, after.length)
  let start = 0
  while (start < least && before[start] === after[start]) start++
  let end = 0
  while (end < least - start && before.at(-1 - end) === after.at(-1 - end)) end++
  return { before: partOf(before, start, before.length - end), after: partOf(after, start, after.length - end) }
}

/** Begins and ends between words. */
function partOf(text: string, from: number, to: number): string {
  const first = from <= AROUND ? 0 : text.lastIndexOf(' ', from - AROUND) + 1
  const blank = text.indexOf(' ', to + AROUND)
  const last = blank < 0 ? text.length : blank
  const part = text.slice(first, Math.min(last, first + SHOWN_MAX)).toWellFormed()
  return `${first > 0 ? '… ' : ''}${part}${first + SHOWN_MAX < last || last < text.length ? ' …' : ''}`
}

/** The words of a text that holds HTML; null: it holds none, or no words, and is best read as it is. */
export function htmlText(text: unknown): string | null {
  return typeof text === 'string' && isHtmlText(text) ? textOfHtml(text) || null : null
}
