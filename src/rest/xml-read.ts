import { XMLParser, XMLValidator } from 'fast-xml-parser'
import type { FieldSet, ListField } from '../engine/fields.ts'
import { StoreFailure } from '../failure.ts'
import type { RecordType } from './body.ts'
import { DEPTH_MAX } from './json.ts'
import { hasForbidden, isXmlCharacter } from './xml-text.ts'

/** The body as a plain record (root element: a name of the type), or as a list of them (root: ArrayOf and a name). */
type Plain = string | Plain[] | { [name: string]: Plain }

/**
 * Reads an XML text into what the same body would be in JSON, all values as text. Names match without regard to case and
 * prefix, unknown elements are left out, xsi:nil is absent. Throws `bad-request` for what is not well-formed, for a document
 * type or entities of its own, and for an element where none belongs.
 */
export function readXml(text: string, { typeName, inputTypeNames = [], fields }: RecordType): Plain {
  const root = rootOf(text)
  const name = root.name.toLowerCase()
  for (const known of [typeName, ...inputTypeNames]) {
    if (name === known.toLowerCase()) return recordOf(root, fields, '')
    if (name === `arrayof${known.toLowerCase()}`) return itemsOf(root, { typeName: known, fields }, root.name)
  }
  throw broken(`the root element must be ${typeName} or ArrayOf${typeName}, not ${shown(root.name)}`)
}

interface Element {
  readonly name: string
  readonly isNil: boolean
  readonly content: readonly Node[]
}

/** A node as the parser gives it with `preserveOrder`: text, CDATA, or one member named after the element. */
type Node = { readonly '#text'?: string; readonly '#cdata'?: readonly Node[] } & Readonly<Record<string, unknown>>

const parser = new XMLParser({
  preserveOrder: true,
  ignoreAttributes: false,
  attributeNamePrefix: '',
  removeNSPrefix: true,
  parseTagValue: false,
  parseAttributeValue: false,
  trimValues: false,
  ignoreDeclaration: true,
  ignorePiTags: true,
  cdataPropName: '#cdata',
  // References are decoded here: the parser's own decoding has bounds that long texts exceed, and knows too many names.
  processEntities: false,
  jPath: false,
  maxNestedTags: DEPTH_MAX - 1,
})

/**
 * The parser takes much that is not XML, so the validator has the last word. The encoding that a declaration names is not
 * looked at: the body is UTF-8, and some programs name the encoding that their text had in memory.
 */
function rootOf(text: string): Element {
  checkMarkup(text)
  const nodes = parse(text)
  const fault = faultOf(text)
  if (fault !== null) throw broken(fault)
  const [root, ...others] = nodes.filter((node) => node['#text']?.trim() !== '')
  if (root === undefined || others.length > 0) throw broken('there must be one root element, and nothing beside it')
  return elementOf(root)
}

/** Longest tag, and most tags: far above any record's, and the parser is slow. */
const TAG_LENGTH_MAX = 2_000
const TAGS_MAX = 1_000_000

const opening = new RegExp(String.raw`<!--|<!\[CDATA\[|<\?|<!|<[^>]{${TAG_LENGTH_MAX}}|<`, 'g')
const ends: Readonly<Record<string, string>> = { '<!--': '-->', '<![CDATA[': ']]>', '<?': '?>' }

/** Nothing but comments and CDATA may begin with `<!`: a document type could name files, and grow without end. */
function checkMarkup(text: string): void {
  if (hasForbidden(text)) throw broken('it holds a control character that XML does not allow')
  let tags = 0
  opening.lastIndex = 0
  for (let found = opening.exec(text); found !== null; found = opening.exec(text)) {
    const [start] = found
    const end = ends[start]
    if (start === '<!') throw broken('<!DOCTYPE and entity declarations are not allowed')
    if (start.length > TAG_LENGTH_MAX) throw broken(`a tag is longer than ${TAG_LENGTH_MAX} characters`)
    if (++tags > TAGS_MAX) throw broken(`it has more than ${TAGS_MAX} tags`)
    if (end === undefined) continue
    const at = text.indexOf(end, opening.lastIndex)
    if (at === -1) throw broken(`${start} has no ${end}`)
    opening.lastIndex = at + end.length
  }
}

function parse(text: string): Node[] {
  try {
    return parser.parse(text) as Node[]
  } catch (error) {
    if (/nested tags/.test((error as Error).message)) throw broken(`it is nested deeper than ${DEPTH_MAX} levels`)
    throw broken(faultOf(text) ?? 'it is not well-formed')
  }
}

function faultOf(text: string): string | null {
  const verdict = XMLValidator.validate(text)
  if (verdict === true) return null
  const { line, msg } = verdict.err
  return msg.startsWith("Invalid '[") ? 'not every element is closed' : `line ${line}: ${shown(msg)}`
}

function elementOf(node: Node): Element {
  const name = Object.keys(node).find((key) => key !== ':@') ?? ''
  const attributes = node[':@'] as Readonly<Record<string, string>> | undefined
  return { name, isNil: attributes?.nil === 'true' || attributes?.nil === '1', content: node[name] as Node[] }
}

function childrenOf({ content }: Element): Element[] {
  return content.filter((node) => node['#text'] === undefined && node['#cdata'] === undefined).map(elementOf)
}

function recordOf(element: Element, fields: FieldSet, path: string): Plain {
  const record: Record<string, Plain> = {}
  for (const child of childrenOf(element)) {
    const name = fields.byLowerName.get(child.name.toLowerCase())
    const field = name === undefined ? undefined : fields.get(name)
    if (name === undefined || field === undefined || child.isNil) continue
    const at = path === '' ? name : `${path}.${name}`
    if (field.kind === 'object') record[name] = recordOf(child, field.fields, at)
    else if (field.kind === 'list') record[name] = itemsOf(child, field, at)
    else record[name] = textOf(child, at)
  }
  return record
}

function itemsOf(
  element: Element,
  { typeName, fields }: Pick<ListField, 'typeName' | 'fields'>,
  path: string,
): Plain[] {
  return childrenOf(element).map((child, index) => {
    // Left out instead, a misspelt item would be deleted from the stored list.
    if (child.name.toLowerCase() !== typeName.toLowerCase()) {
      throw new StoreFailure('bad-request', `${path} holds ${shown(child.name)}; its items are named ${typeName}`, {
        field: path,
      })
    }
    return recordOf(child, fields, `${path}[${index}]`)
  })
}

function textOf({ content }: Element, path: string): string {
  return content
    .map((node) => {
      if (node['#text'] !== undefined) return decoded(node['#text'], path)
      if (node['#cdata'] !== undefined) return node['#cdata'].map((inner) => inner['#text'] ?? '').join('')
      throw new StoreFailure('bad-request', `${path} must be text; it holds an element`, { field: path })
    })
    .join('')
}

function decoded(text: string, path: string): string {
  if (!text.includes('&')) return text
  return text.replace(/&([^;]*);/g, (reference: string, name: string) => {
    const character = namedCharacters.get(name) ?? numberedCharacter(name)
    if (character !== undefined) return character
    throw new StoreFailure('bad-request', `${path} holds ${shown(reference)}, which stands for no character in XML`, {
      field: path,
    })
  })
}

const namedCharacters = new Map([
  ['lt', '<'],
  ['gt', '>'],
  ['amp', '&'],
  ['quot', '"'],
  ['apos', "'"],
])

function numberedCharacter(name: string): string | undefined {
  const [, hexadecimal, decimal] = /^#(?:x([\da-fA-F]{1,6})|(\d{1,7}))$/.exec(name) ?? []
  const code = hexadecimal ? Number.parseInt(hexadecimal, 16) : Number(decimal ?? Number.NaN)
  return isXmlCharacter(code) ? String.fromCodePoint(code) : undefined
}

function broken(reason: string): StoreFailure {
  return new StoreFailure('bad-request', `Invalid XML: ${reason}`)
}

function shown(text: string): string {
  return text.length > 80 ? `${text.slice(0, 80)}…` : text
}
