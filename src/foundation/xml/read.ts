import { SaxesParser } from 'saxes'
import { StoreFailure } from '../values/failure.ts'
import { PIECE_LENGTH, runAtOnce, type Steps } from '../values/slices.ts'
import { hasForbidden, isXmlCharacter } from './text.ts'

/** An element of a document. Its name is as written, with the prefix. */
export interface XmlElement {
  readonly name: string
  /** By their names as written; see `attributeText`. */
  readonly attributes: ReadonlyMap<string, string>
  /** Texts (see `textOf`) and elements. */
  readonly content: readonly (string | XmlElement)[]
}

/** Why a document is not well-formed, where both readers say it. */
export const reasons = {
  oneRoot: 'there must be one root element, and nothing beside it',
  noRoot: 'Start tag expected.',
  unclosed: 'not every element is closed',
  textBefore: 'Text is not expected before the root element.',
  textAfter: 'Extra text at the end.',
  repeated: (attribute: string) => `Attribute '${attribute}' is repeated.`,
} as const

/** Levels of elements; records and envelopes need six. */
export const XML_DEPTH_MAX = 32

/** No body comes near it. */
const TAGS_MAX = 1_000_000
/** References such as `&amp;` in one document. The texts of a hundred full products have fewer. */
const REFERENCES_MAX = 1_000_000
/** References in one text. No field takes a text of more than 65,535 characters. */
const TEXT_REFERENCES_MAX = 100_000

/**
 * Reads a document and returns its root element. The encoding in a declaration is ignored, because the text is decoded
 * already. Throws a 400 for a text that is not well-formed, is nested too deep, or has more tags than `tagsMax`
 * or too many references, and for a document type or entities of its own. Takes time in proportion to the text,
 * whatever the text is.
 */
export function readXmlDocument(text: string, options: XmlBounds = {}): XmlElement {
  return runAtOnce(xmlSteps(text, options))
}

export interface XmlBounds {
  readonly tagsMax?: number
  /** Elements inside one record. */
  readonly recordElementsMax?: number
  /** Whether a root of this name holds a list of records. Otherwise it is the record. */
  readonly isList?: (rootName: string) => boolean
}

/** Takes a child of the root when it is complete. */
export type TakeChild = (child: XmlElement, root: XmlElement) => Steps<void>

/**
 * The steps of `readXmlDocument`. What is beyond the bounds is refused before anything is built. With `take`, the root
 * that is returned is empty: its elements were passed on and not kept, and its texts left out.
 */
export function* xmlSteps(text: string, bounds: XmlBounds = {}, take: TakeChild | null = null): Steps<XmlElement> {
  yield* checkBounds(text, bounds.tagsMax ?? TAGS_MAX)
  const reader = new Reader(bounds)
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    // saxes keeps a piece of text for each carriage return. At the end of a piece it waits for a line feed.
    reader.read(text.slice(at, at + PIECE_LENGTH).replace(/\r\n|\r(?!$)/g, '\n'))
    if (take) yield* reader.passOn(take)
    yield
  }
  const root = reader.end()
  if (take) yield* reader.passOn(take)
  return root
}

const opening = /<!--|<!\[CDATA\[|<\?|<!|</g
const ends: Readonly<Record<string, string>> = { '<!--': '-->', '<![CDATA[': ']]>', '<?': '?>' }

/** Refuses what is beyond the bounds, a control character that XML does not allow, and a document type. */
export function* checkBounds(text: string, tagsMax: number): Steps<void> {
  for (let at = 0; at < text.length; at += PIECE_LENGTH) {
    if (hasForbidden(text.slice(at, at + PIECE_LENGTH)))
      throw broken('it holds a control character that XML does not allow')
    yield
  }
  yield* checkMarkup(text, tagsMax)
}

/** Only comments and CDATA may begin with `<!`, because a document type could name files and grow without end. */
function* checkMarkup(text: string, tagsMax: number): Steps<void> {
  const references = new References(text)
  let tags = 0
  let pauseAt = PIECE_LENGTH
  for (let from = 0; from < text.length; ) {
    opening.lastIndex = from
    const found = opening.exec(text)
    yield* references.check(from, found?.index ?? text.length)
    if (found === null) break
    const [start] = found
    const end = ends[start]
    if (start === '<!') throw broken('<!DOCTYPE and entity declarations are not allowed')
    if (++tags > tagsMax) throw broken(`it has more than ${tagsMax} tags`)
    const at = end === undefined ? endOfTag(text, found.index) : text.indexOf(end, found.index + start.length)
    if (at === -1) throw broken(`${start} has no ${end ?? '>'}`)
    if (end === undefined) yield* references.check(found.index, at)
    from = at + (end?.length ?? 1)
    if (from < pauseAt) continue
    pauseAt = from + PIECE_LENGTH
    yield
  }
}

/** A reference holds no second `&`, so that a text of nothing else is not read to its end from each. */
const reference = /&[^\s&;<>"']{1,2000};/y

class References {
  readonly #text: string
  /** Of the first `&` that was not checked yet. */
  #next: number
  #count = 0

  constructor(text: string) {
    this.#text = text
    this.#next = this.#find(0)
  }

  /** Counts the references of a text or a tag. Refuses too many, and an `&` that begins none. */
  *check(start: number, end: number): Steps<void> {
    if (this.#next < start) this.#next = this.#find(start)
    for (let count = 1; this.#next < end; count++) {
      reference.lastIndex = this.#next
      if (!reference.test(this.#text)) {
        throw broken(`line ${yield* lineAt(this.#text, this.#next)}: char '&' is not expected.`)
      }
      if (++this.#count > REFERENCES_MAX) throw broken(`it has more than ${REFERENCES_MAX} references such as &amp;`)
      if (count > TEXT_REFERENCES_MAX) {
        throw broken(`it has a text with more than ${TEXT_REFERENCES_MAX} references such as &amp;`)
      }
      this.#next = this.#find(reference.lastIndex)
      if (count % PIECE_LENGTH === 0) yield
    }
  }

  /** Infinity: there is none. */
  #find(from: number): number {
    const found = this.#text.indexOf('&', from)
    return found === -1 ? Number.POSITIVE_INFINITY : found
  }
}

function* lineAt(text: string, end: number): Steps<number> {
  let line = 1
  for (let at = text.indexOf('\n'); at !== -1 && at < end; at = text.indexOf('\n', at + 1)) {
    if (++line % PIECE_LENGTH === 0) yield
  }
  return line
}

const TAG_LENGTH_MAX = 2_000

/** A > in quotes does not end a tag. A < does, so that the search for the end of a tag does not run through the whole text. */
const tag = new RegExp(`<[^<>"']*(?:(?:"[^<"]*"|'[^<']*')[^<>"']*){0,${TAG_LENGTH_MAX}}>?`, 'y')

/** The index of the > of the tag that begins at `start`; -1: none. Long tags are refused, because the parser is slow with them. */
function endOfTag(text: string, start: number): number {
  tag.lastIndex = start
  const [found = ''] = tag.exec(text) ?? []
  if (found.length > TAG_LENGTH_MAX) throw broken(`a tag is longer than ${TAG_LENGTH_MAX} characters`)
  return found.endsWith('>') ? start + found.length - 1 : -1
}

interface OpenElement extends XmlElement {
  readonly content: (string | XmlElement)[]
}

const noAttributes: ReadonlyMap<string, string> = new Map()

/** Marks a text that holds a reference to no character. XML allows the mark itself nowhere. */
const UNKNOWN = '\uffff'

/** Builds the tree of a document that comes in pieces. */
class Reader {
  readonly #parser = new SaxesParser({ position: false, defaultXMLVersion: '1.0', forceXMLVersion: true })
  readonly #open: OpenElement[] = []
  #root: OpenElement | null = null
  #closed = ''
  #attributes: Map<string, string> | null = null
  #hasUnknown = false
  #recordElements = 0
  readonly #bounds: XmlBounds

  constructor(bounds: XmlBounds) {
    this.#bounds = bounds
    const parser = this.#parser
    parser.on('attribute', ({ name, value }) => {
      this.#attributes ??= new Map()
      this.#attributes.set(name, this.#marked(value))
    })
    parser.on('opentag', ({ name }) => this.#openElement(name))
    parser.on('closetag', () => {
      this.#closed = this.#open.pop()?.name ?? ''
    })
    parser.on('text', (text) => this.#open.at(-1)?.content.push(this.#marked(text)))
    parser.on('cdata', (text) => this.#open.at(-1)?.content.push(text))
    parser.on('error', ({ message }) => this.#takeFault(message))
  }

  read(piece: string): void {
    this.#parser.write(piece)
  }

  end(): XmlElement {
    this.#parser.close()
    if (this.#root === null) throw broken(reasons.oneRoot)
    return this.#root
  }

  /** Passes on what is complete of the root's content. */
  *passOn(take: TakeChild): Steps<void> {
    const root = this.#root
    if (root === null) return
    const unfinished = this.#open[1]
    for (const child of root.content.splice(0)) {
      if (child !== unfinished && typeof child !== 'string') yield* take(child, root)
    }
    if (unfinished) root.content.push(unfinished)
  }

  #openElement(name: string): void {
    if (this.#open.length === XML_DEPTH_MAX) throw broken(`it is nested deeper than ${XML_DEPTH_MAX} levels`)
    const element: OpenElement = { name, attributes: this.#attributes ?? noAttributes, content: [] }
    this.#attributes = null
    this.#root ??= element
    this.#countElement()
    this.#open.at(-1)?.content.push(element)
    this.#open.push(element)
  }

  #countElement(): void {
    const { recordElementsMax = Number.POSITIVE_INFINITY, isList } = this.#bounds
    if (this.#open.length === 1 && isList?.(this.#root?.name ?? '')) this.#recordElements = 0
    if (++this.#recordElements > recordElementsMax)
      throw broken(`it has a record with more than ${recordElementsMax} elements`)
  }

  #marked(text: string): string {
    if (!this.#hasUnknown) return text
    this.#hasUnknown = false
    return UNKNOWN + text
  }

  #takeFault(message: string): void {
    // Whether it matters is known to who reads the text.
    if (message === 'undefined entity.' || message === 'malformed character entity.') {
      this.#hasUnknown = true
      return
    }
    if (/only one root/.test(message)) throw broken(reasons.oneRoot)
    if (/^unclosed tag|^unexpected end/.test(message)) throw broken(reasons.unclosed)
    const { line, column } = this.#parser
    const place = `line ${line}, column ${column}`
    throw broken(`${place}: ${shown(this.#reasonOf(message))}`, place)
  }

  #reasonOf(message: string): string {
    const { name = '' } = /^duplicate attribute: (?<name>.*)\.$/s.exec(message)?.groups ?? {}
    if (name !== '') return reasons.repeated(name)
    if (message === 'unexpected close tag.') return `Expected closing tag '${this.#closed}'.`
    if (message === 'document must contain a root element.') return reasons.noRoot
    if (message === 'text data outside of root node.') {
      return this.#root === null ? reasons.textBefore : reasons.textAfter
    }
    return message.charAt(0).toUpperCase() + message.slice(1)
  }
}

/** The value of an attribute. Throws a 400 for an unknown reference. */
export function attributeText({ attributes }: XmlElement, name: string): string {
  return checked(attributes.get(name) ?? '', name)
}

export function childElements({ content }: Pick<XmlElement, 'content'>): XmlElement[] {
  return content.filter((node) => typeof node !== 'string')
}

export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Whether it has `xsi:nil`, by whatever prefix. */
export function isNil({ attributes }: XmlElement): boolean {
  return [...attributes].some(([name, value]) => localName(name) === 'nil' && /^(1|true)$/.test(value.trim()))
}

/** The text inside; `path` names it in refusals. Throws a 400 for an element inside. */
export function textOf({ content }: Pick<XmlElement, 'content'>, path: string): string {
  return content
    .map((node) => {
      if (typeof node === 'string') return checked(node, path)
      throw new StoreFailure('invalid-value', `${path} must be text; it holds an element`, { field: path })
    })
    .join('')
}

const REFERENCE_SHOWN_MAX = 12
const namedCharacters = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
])

/** The text, unless the reader marked it. */
function checked(text: string, path: string): string {
  if (!text.startsWith(UNKNOWN)) return text
  const references = text.matchAll(/&([^&;]*);/g)
  const [unknown = '&'] = references.find(([, name = '']) => characterOf(name) === null) ?? []
  const message = `${path} holds ${shown(unknown, REFERENCE_SHOWN_MAX)}, which stands for no character in XML`
  const logMessage = `${path} holds what stands for no character in XML`
  throw new StoreFailure('malformed-body', message, { field: path, logMessage })
}

/** Null: a reference of this name stands for no character. */
function characterOf(name: string): string | null {
  const [, hexadecimal, decimal] = /^#(?:x0*([\da-fA-F]{1,6})|0*(\d{1,7}))$/.exec(name) ?? []
  const code = hexadecimal ? Number.parseInt(hexadecimal, 16) : Number(decimal ?? Number.NaN)
  return isXmlCharacter(code) ? String.fromCodePoint(code) : (namedCharacters.get(name) ?? null)
}

/** A text with characters in the place of references. It is marked if one stands for none. */
export function marked(text: string): string {
  if (!text.includes('&')) return text
  let mark = ''
  const read = text.replace(/&([^;]*);/g, (reference, name: string) => {
    const character = characterOf(name)
    if (character === null) mark = UNKNOWN
    return character ?? reference
  })
  return mark + read
}

/** The refusal of a document. Where `reason` repeats a part of it, `logReason` does not. */
export function broken(reason: string, logReason = reason): StoreFailure {
  return new StoreFailure('malformed-body', `Invalid XML: ${reason}`, { logMessage: `Invalid XML: ${logReason}` })
}

/** Cuts what somebody sent for a message, whose `logMessage` must do without it. */
export function shown(text: string, lengthMax = 80): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}
