import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { StoreFailure } from '../values/failure.ts'
import { hasForbidden, isXmlCharacter } from './text.ts'

/** An element of a document. Its name is as written, with the prefix. */
export interface XmlElement {
  readonly name: string
  /** Names and values as written; see `attributeText`. */
  readonly attributes: ReadonlyMap<string, string>
  readonly content: readonly XmlNode[]
}

/** A node of the parser's `preserveOrder` form: text, CDATA, or one member named after the element. */
export type XmlNode = { readonly '#text'?: string; readonly '#cdata'?: readonly XmlNode[] } & Readonly<
  Record<string, unknown>
>

/** Levels of elements; records and envelopes need six. */
export const XML_DEPTH_MAX = 32

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignorePiTags: true,
  cdataPropName: '#cdata',
  // References are decoded below: the parser's own decoding has bounds that long texts exceed, and knows too many names.
  processEntities: false,
  jPath: false,
  maxNestedTags: XML_DEPTH_MAX - 1,
})

/** No record comes near it. */
const TAGS_MAX = 1_000_000

/**
 * Reads a document and returns its root element. The parser accepts much that is not XML, so the validator has the last word.
 * The encoding in a declaration is ignored, because the text is decoded already. Throws `bad-request` for a text that is not
 * well-formed, is nested too deep or has more than `tagsMax` tags, and for a document type or entities of its own. Takes time
 * in proportion to the text, whatever the text is.
 */
export function readXmlDocument(text: string, { tagsMax = TAGS_MAX } = {}): XmlElement {
  checkMarkup(text, tagsMax)
  const nodes = parse(text)
  const fault = faultOf(text)
  if (fault !== null) throw fault
  const [root, ...others] = nodes.filter((node) => node['#text']?.trim() !== '')
  if (root === undefined || others.length > 0) throw broken('there must be one root element, and nothing beside it')
  return elementOf(root)
}

const opening = /<!--|<!\[CDATA\[|<\?|<!|</g
const ends: Readonly<Record<string, string>> = { '<!--': '-->', '<![CDATA[': ']]>', '<?': '?>' }

/** Only comments and CDATA may begin with `<!`, because a document type could name files and grow without end. */
function checkMarkup(text: string, tagsMax: number): void {
  if (hasForbidden(text)) throw broken('it holds a control character that XML does not allow')
  let tags = 0
  opening.lastIndex = 0
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    const [start] = found
    const end = ends[start]
    if (start === '<!') throw broken('<!DOCTYPE and entity declarations are not allowed')
    if (++tags > tagsMax) throw broken(`it has more than ${tagsMax} tags`)
    const at = end === undefined ? endOfTag(text, found.index) : text.indexOf(end, opening.lastIndex)
    if (at === -1) throw broken(`${start} has no ${end ?? '>'}`)
    opening.lastIndex = at
  }
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

function parse(text: string): XmlNode[] {
  try {
    return parser.parse(text) as XmlNode[]
  } catch (error) {
    if (/nested tags/.test((error as Error).message)) throw broken(`it is nested deeper than ${XML_DEPTH_MAX} levels`)
    throw faultOf(text) ?? broken('it is not well-formed')
  }
}

function faultOf(text: string): StoreFailure | null {
  const verdict = XMLValidator.validate(text)
  if (verdict === true) return null
  const { line, msg } = verdict.err
  if (msg.startsWith("Invalid '[")) return broken('not every element is closed')
  return broken(`line ${line}: ${shown(msg)}`, `line ${line}`)
}

function elementOf(node: XmlNode): XmlElement {
  const name = Object.keys(node).find((key) => key !== ':@') ?? ''
  const attributes = Object.entries((node[':@'] ?? {}) as Readonly<Record<string, string>>)
  return { name, attributes: new Map(attributes), content: node[name] as XmlNode[] }
}

/** The decoded value of an attribute. Throws `bad-request` for an unknown reference. */
export function attributeText({ attributes }: XmlElement, name: string): string {
  return decoded(attributes.get(name) ?? '', name)
}

export function childElements({ content }: Pick<XmlElement, 'content'>): XmlElement[] {
  return content.filter((node) => node['#text'] === undefined && node['#cdata'] === undefined).map(elementOf)
}

export function localName(name: string): string {
  return name.slice(name.indexOf(':') + 1)
}

/** Whether it has `xsi:nil`, by whatever prefix. */
export function isNil({ attributes }: XmlElement): boolean {
  return [...attributes].some(([name, value]) => localName(name) === 'nil' && /^(1|true)$/.test(value.trim()))
}

/** The text inside; `path` names it in refusals. Throws `bad-request` for an element inside. */
export function textOf({ content }: Pick<XmlElement, 'content'>, path: string): string {
  return content
    .map((node) => {
      if (node['#text'] !== undefined) return decoded(node['#text'], path)
      if (node['#cdata'] !== undefined) return node['#cdata'].map((inner) => inner['#text'] ?? '').join('')
      throw new StoreFailure('bad-request', `${path} must be text; it holds an element`, { field: path })
    })
    .join('')
}

const REFERENCE_SHOWN_MAX = 12

function decoded(text: string, path: string): string {
  if (!text.includes('&')) return text
  // A reference holds no second &: a text of nothing else would be read to its end from each.
  return text.replace(/&([^&;]*);/g, (reference: string, name: string) => {
    const character = namedCharacters.get(name) ?? numberedCharacter(name)
    if (character !== undefined) return character
    throw new StoreFailure(
      'bad-request',
      `${path} holds ${shown(reference, REFERENCE_SHOWN_MAX)}, which stands for no character in XML`,
      { field: path, logMessage: `${path} holds what stands for no character in XML` },
    )
  })
}

const namedCharacters = new Map(Object.entries({ lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }))

function numberedCharacter(name: string): string | undefined {
  const [, hexadecimal, decimal] = /^#(?:x0*([\da-fA-F]{1,6})|0*(\d{1,7}))$/.exec(name) ?? []
  const code = hexadecimal ? Number.parseInt(hexadecimal, 16) : Number(decimal ?? Number.NaN)
  return isXmlCharacter(code) ? String.fromCodePoint(code) : undefined
}

/** The refusal of a document. Where `reason` repeats a part of it, `logReason` does not. */
export function broken(reason: string, logReason = reason): StoreFailure {
  return new StoreFailure('bad-request', `Invalid XML: ${reason}`, { logMessage: `Invalid XML: ${logReason}` })
}

/** Cuts what somebody sent for a message, whose `logMessage` must do without it. */
export function shown(text: string, lengthMax = 80): string {
  return text.length > lengthMax ? `${text.slice(0, lengthMax)}…` : text
}
