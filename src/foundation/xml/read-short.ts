import type { XMLParser, XMLValidator } from 'fast-xml-parser'
import { runAtOnce } from '../values/slices.ts'
import { broken, checkBounds, marked, reasons, shown, XML_DEPTH_MAX, type XmlElement } from './read.ts'
import { NAME, normalisedAttribute, SPACE } from './text.ts'

// fast-xml-parser reads a text in one go and takes much that is no XML, so only short documents come here, and only what the
// grammar of XML allows (docs/decisions/soap.md).

const options = {
  preserveOrder: true,
  ignoreAttributes: false,
  // Names such as `constructor` would be refused without a prefix.
  attributeNamePrefix: '@',
  // It is called twice for an empty element.
  transformTagName: (name: string) => (name.startsWith('@') ? name : `@${name}`),
  cdataPropName: '#cdata',
  trimValues: false,
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  maxNestedTags: XML_DEPTH_MAX,
} as const

interface Parsers {
  readonly parser: XMLParser
  readonly validator: typeof XMLValidator
}

let parsers: Promise<Parsers> | undefined

/** It is loaded by the first call, so that nobody else depends on it. */
async function load(): Promise<Parsers> {
  const { XMLParser, XMLValidator } = await import('fast-xml-parser')
  return { parser: new XMLParser(options), validator: XMLValidator }
}

/**
 * The same as `readXmlDocument`, for documents of some hundred kilobytes at most. Takes time in proportion to the text, in one go.
 */
export async function readShortXml(text: string, { tagsMax }: { readonly tagsMax: number }): Promise<XmlElement> {
  parsers ??= load()
  const { parser, validator } = await parsers
  runAtOnce(checkBounds(text, tagsMax))
  const elements = checkGrammar(text.replace(/\r\n?/g, '\n'))
  // References have been looked at. Those that stand for no character matter to who reads the text.
  const valid = validator.validate(elements.replaceAll('&', 'x'))
  if (valid !== true) {
    const { msg, line, col } = valid.err
    if (/^Unclosed tag|found\.$/.test(msg)) throw broken(reasons.unclosed)
    throw broken(`line ${line}, column ${col}: ${shown(msg)}`, `line ${line}, column ${col}`)
  }
  const [root] = (parser.parse(elements) as ParsedNode[]).map(nodeOf).filter((node) => typeof node !== 'string')
  if (root === undefined) throw broken(reasons.oneRoot)
  return root
}

const tokens =
  /<!--(?<comment>[\s\S]*?)-->|<!\[CDATA\[(?<data>[\s\S]*?)\]\]>|<\?(?<instruction>[\s\S]*?)\?>|(?<tag><[^<>"']*(?:(?:"[^<"]*"|'[^<']*')[^<>"']*)*>)|(?<characters>[^<]+)/gy
const declaration = new RegExp(
  String.raw`^xml${SPACE}+version${SPACE}*=${SPACE}*(["'])1\.\d+\1` +
    String.raw`(?:${SPACE}+encoding${SPACE}*=${SPACE}*(["'])[A-Za-z][\w.-]*\2)?` +
    String.raw`(?:${SPACE}+standalone${SPACE}*=${SPACE}*(["'])(?:yes|no)\3)?${SPACE}*$`,
)
const otherInstruction = new RegExp(`^(?!xml(?:${SPACE}|[?]|$))${NAME}(?:(?:${SPACE}|[?])[\\s\\S]*)?$`, 'iu')
const startTag = new RegExp(
  `^<${NAME}(?:${SPACE}+${NAME}${SPACE}*=${SPACE}*(?:"[^"]*"|'[^']*'))*${SPACE}*(?<isEmpty>/?)>$`,
  'u',
)
const attributes = new RegExp(`(?<name>${NAME})${SPACE}*=${SPACE}*(?:"[^"]*"|'[^']*')`, 'gu')
const endTag = new RegExp(`^</${NAME}${SPACE}*>$`, 'u')
const malformedReference = new RegExp(`&(?!#[^;]*;|${NAME};)`, 'u')

/** Refuses what fast-xml-parser and its validator take though XML does not allow it. Returns the document without comments and instructions. */
function checkGrammar(text: string): string {
  let depth = 0
  let roots = 0
  let elements = ''
  for (const { groups = {}, index, 0: token } of text.matchAll(tokens)) {
    const { comment, data, instruction, tag, characters } = groups
    const refused = (reason: string, logReason = reason) => {
      const before = text.slice(0, index).split('\n')
      const place = `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`
      return broken(`${place}: ${reason}`, `${place}: ${logReason}`)
    }
    if (comment !== undefined) {
      if (/--|-$/.test(comment)) throw refused('a comment holds --')
      continue
    }
    if (instruction !== undefined) {
      if (!(index === 0 && declaration.test(instruction)) && !otherInstruction.test(instruction)) {
        throw refused('an instruction is malformed, or XML is not declared at the start')
      }
      continue
    }
    elements += token
    if (malformedReference.test(token) && data === undefined) throw refused('a reference is malformed')
    if (tag === undefined) {
      if (depth === 0 && (data !== undefined || token.trim() !== '')) {
        throw refused(roots === 0 ? reasons.textBefore : reasons.textAfter)
      }
      if (characters?.includes(']]>')) throw refused('a text holds ]]>')
      continue
    }
    const { isEmpty } = startTag.exec(tag)?.groups ?? {}
    if (isEmpty === undefined) {
      if (!endTag.test(tag)) throw refused(`a tag is malformed: ${shown(tag)}`, 'a tag is malformed')
      depth--
      continue
    }
    const repeated = repeatedAttribute(tag)
    if (repeated !== null) throw refused(reasons.repeated(shown(repeated)), 'an attribute is repeated')
    if (depth === XML_DEPTH_MAX) throw broken(`it is nested deeper than ${XML_DEPTH_MAX} levels`)
    if (depth === 0 && ++roots > 1) throw broken(reasons.oneRoot)
    if (isEmpty === '') depth++
  }
  if (roots === 0) throw broken(reasons.noRoot)
  return elements
}

/** The validator misses a second `__proto__`. */
function repeatedAttribute(tag: string): string | null {
  const names = Array.from(tag.matchAll(attributes), ({ groups: { name = '' } = {} }) => name)
  return names.find((name, index) => names.indexOf(name) < index) ?? null
}

/** An element by its name, or a text. */
type ParsedNode = Readonly<Record<string, ParsedNode[] | string | Readonly<Record<string, string>>>>

function nodeOf(node: ParsedNode): string | XmlElement {
  const { ':@': attributes = {}, '#text': text, '#cdata': data } = node
  if (typeof text === 'string') return marked(text)
  if (data !== undefined) return String((data as ParsedNode[])[0]?.['#text'] ?? '')
  const [name = ''] = Object.keys(node)
  const given = Object.entries(attributes as Record<string, string>)
  return {
    name: name.slice(1),
    attributes: new Map(given.map(([prefixed, value]) => [prefixed.slice(1), marked(normalisedAttribute(value))])),
    content: (node[name] as ParsedNode[]).map(nodeOf),
  }
}
