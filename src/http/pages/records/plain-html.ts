import { LONG_TEXT } from '../../../engine/definition/fields.ts'
import { type Text, t } from '../../../foundation/texts/text.ts'
import { entityIn, latin1 } from '../../../foundation/values/html-entities.ts'
import { align } from './align.ts'

// HTML that a plain editor can change: paragraphs, headings, lists, links and marked words. What a person did not touch stays byte for
// byte. The editor gives back the same tokens as the source has, written in one way (`&mdash;` as a dash, `<P>` as `<p>`), so each
// token that is still there is written as the source has it.

/** Longer texts are changed as source: the form carries both, and a form is bounded. */
export const PLAIN_BYTES_MAX = 30_000

interface Token {
  /** As the source has it. */
  readonly text: string
  /** What it stands for, written in one way. */
  readonly key: string
  readonly tag: Tag | null
}

interface Tag {
  readonly name: string
  readonly isEnd: boolean
  readonly attributes: string
}

const tokenPattern =
  /<(\/?)([A-Za-z][A-Za-z0-9]*)((?:[^<>"']|"[^"]{0,2000}"|'[^']{0,2000}'){0,2000})>|&(?:#\d{1,7}|#[Xx][\dA-Fa-f]{1,6}|[A-Za-z][A-Za-z0-9]{0,31});|\r\n|[\s\S]/gu

const inline = new Set('a abbr b big cite code em font i s small span strike strong sub sup u'.split(' '))
const leaves = new Set('h1 h2 h3 h4 h5 h6 p'.split(' '))
const containers = new Set('blockquote div'.split(' '))
const lists = new Set('ol ul'.split(' '))
/** They have no content. The editor shows the last two as a word that can be deleted. */
const voids = new Set('br hr img'.split(' '))
const blocks = new Set([...leaves, ...containers, ...lists, 'li', 'br', 'hr'])
const known = new Set([...inline, ...blocks, ...voids])

const ENTITY_LENGTH = 6
const bareEntities = [...latin1, ...'amp lt gt quot AMP LT GT QUOT COPY REG'.split(' ')]

function tokensOf(source: string): Token[] {
  return [...source.matchAll(tokenPattern)].map(([text, slash, name, attributes = '']) => {
    if (name !== undefined) {
      const tag = tagOf(slash === '/', name.toLowerCase(), attributes)
      return { text, key: `<${tag.isEnd ? '/' : ''}${tag.name}${tag.attributes}>`, tag }
    }
    return { text, key: text === '\r\n' || text === '\r' ? '\n' : text.length > 1 ? entityIn(text) : text, tag: null }
  })
}

function tagOf(isEnd: boolean, name: string, written: string): Tag {
  const attributes = isEnd ? written.trim() : voids.has(name) ? written.replace(/\s*\/?\s*$/, '') : written.trimEnd()
  return { name, isEnd, attributes: attributes.replaceAll(/\r\n?/g, '\n') }
}

/**
 * Returns the content of a plain editor for the source, made of its own elements, with words in the reader's language for what it cannot
 * show; `canonical` is what the editor gives back if nothing is changed. `problem`: why the editor cannot keep the text unchanged.
 */
export function plainOf(source: string, say: (words: Text) => string) {
  const none = (problem: Text) => ({ html: null, canonical: null, problem })
  if (Buffer.byteLength(source) > PLAIN_BYTES_MAX)
    return none(t('The text is too long for the editor. Change its source.'))
  const tokens = tokensOf(source)
  const problem = problemIn(tokens)
  if (problem !== null) return none(problem)
  return {
    html: tokens.map((token) => shown(token, say)).join(''),
    canonical: tokens.map(written).join(''),
    problem: null,
  }
}

/** Null: a browser makes exactly these elements of it. */
function problemIn(tokens: readonly Token[]): Text | null {
  const open: string[] = []
  for (const [at, { text, key, tag }] of tokens.entries()) {
    const parent = open.at(-1)
    if (tag === null) {
      if (text.startsWith('&') && text.length > 1 && key === text)
        return t('The editor does not know the character {text}. Change the source.', { text })
      if (text === '<' && /^[A-Za-z/!?]/.test(tokens[at + 1]?.text ?? ''))
        return t('The editor cannot keep comments or broken tags unchanged. Change the source.')
      if (text === '&' && beginsEntity(tokens.slice(at + 1, at + 1 + ENTITY_LENGTH)))
        return t('The text has a “&” that may be the beginning of a character’s name. Change the source.')
      if (parent !== undefined && lists.has(parent) && !/^[ \t\n\f]$/.test(key))
        return t('The text has a list with something between its items. Change the source.')
      continue
    }
    const { name, isEnd, attributes } = tag
    if (!known.has(name))
      return t('The editor cannot keep {element} unchanged. Change the source.', { element: `<${name}>` })
    if (isEnd) {
      if (name !== parent || attributes !== '')
        return t('The tags of {element} do not belong together. Change the source.', { element: `<${name}>` })
      open.pop()
      continue
    }
    if (!fits(name, open) || /\/$/.test(attributes))
      return t('The editor cannot keep {element} where it stands. Change the source.', { element: `<${name}>` })
    if (!voids.has(name)) open.push(name)
  }
  return open.length === 0 ? null : t('{element} has no end. Change the source.', { element: `<${open.at(-1)}>` })
}

/** Browsers read some names without the semicolon too, also where letters follow. */
function beginsEntity(next: readonly Token[]): boolean {
  const text = next.map(({ key }) => key).join('')
  return /^#/.test(text) || bareEntities.some((name) => text.startsWith(name))
}

function fits(name: string, open: readonly string[]): boolean {
  const parent = open.at(-1)
  const isRoot = parent === undefined || containers.has(parent)
  if (name === 'li') return parent !== undefined && lists.has(parent)
  if (parent !== undefined && lists.has(parent)) return false
  if (containers.has(name) || name === 'hr') return isRoot
  if (leaves.has(name) || lists.has(name)) return isRoot || parent === 'li'
  return name !== 'a' || !open.includes('a')
}

const keptWords = { img: t('picture'), hr: t('line') } as const

/** In the editor, attributes are text beside the element: they mean nothing to the page. */
function shown({ key, tag }: Token, say: (words: Text) => string): string {
  if (tag === null) return escaped(key)
  const { name, isEnd, attributes } = tag
  if (isEnd) return key
  if (name === 'img' || name === 'hr') {
    return `<span class="kept" contenteditable="false" data-kept="${quoted(key)}">${escaped(say(keptWords[name]))}</span>`
  }
  return attributes === '' ? key : `<${name} data-attributes="${quoted(attributes)}">`
}

function written({ key, tag }: Token): string {
  return tag === null ? escaped(key) : key
}

function escaped(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').replaceAll('\u00a0', '&nbsp;')
}

function quoted(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('"', '&quot;')
}

/** Returns the source with what the editor changed: every token that is still there is written as it was. */
export function mergePlain(source: string, edited: string): string {
  // Refused by the length of the field.
  if (Math.max(source.length, edited.length) > LONG_TEXT) return edited
  const [former, next] = [linesOf(tokensOf(source)), linesOf(tokensOf(edited))]
  const merged: string[] = []
  let at = 0
  const found = align(former.map(keyOf), next.map(keyOf))
  let run: Token[] = []
  for (const [index, place] of [...found, former.length].entries()) {
    if (place < 0) {
      run.push(...(next[index] ?? []))
      continue
    }
    merged.push(mergeRun(former.slice(at, place).flat(), run), ...(former[place] ?? []).map(({ text }) => text))
    run = []
    at = place + 1
  }
  return merged.join('')
}

function mergeRun(former: readonly Token[], next: readonly Token[]): string {
  const formerKeys = former.map(({ key }) => key)
  const keys = next.map(({ key }) => key)
  const found = align(formerKeys, keys)
  return next.map((token, at) => former[found[at] ?? -1]?.text ?? newText(token, keys[at - 1], keys[at + 1])).join('')
}

/** Browsers write a blank at the end of what is typed as one that does not break. */
function newText(token: Token, before = ' ', after = ' '): string {
  const isWord = (key: string) => /^[^\s<]/.test(key)
  return token.key === '\u00a0' && isWord(before) && isWord(after) ? ' ' : written(token)
}

/** Up to the end of a block or a line, so that what is far apart is compared apart. */
function linesOf(tokens: readonly Token[]): Token[][] {
  const lines: Token[][] = []
  let line: Token[] = []
  for (const token of tokens) {
    line.push(token)
    if (token.key !== '\n' && !(token.tag !== null && blocks.has(token.tag.name))) continue
    lines.push(line)
    line = []
  }
  return line.length === 0 ? lines : [...lines, line]
}

function keyOf(line: readonly Token[]): string {
  return line.map(({ key }) => key).join('')
}

/** Returns what was typed with the line breaks that are stored: forms send every one as CR LF. A line that was changed keeps its own. */
export function withBreaksOf(stored: string, typed: string): string {
  if (!stored.includes('\r')) return typed
  const [former, next] = [breaksOf(stored), breaksOf(typed)]
  const usual = former[0]?.end ?? '\n'
  const formerLines = former.map(({ line }) => line)
  const lines = next.map(({ line }) => line)
  const found = align(formerLines, lines)
  const followers: number[] = []
  for (const place of found.toReversed()) followers.push(place >= 0 ? place : (followers.at(-1) ?? former.length))
  let last = -1
  const ends = found.map((place, at) => {
    if (place < 0 && last + 1 >= (followers.at(-1 - at) ?? former.length)) return usual
    last = place < 0 ? last + 1 : place
    return former[last]?.end || usual
  })
  return next.map(({ line, end }, at) => line + (end === '' ? '' : ends[at])).join('')
}

function breaksOf(text: string) {
  return [...text.matchAll(/([^\r\n]*)(\r\n|\r|\n|$)/g)].map(([, line = '', end = '']) => ({ line, end }))
}
