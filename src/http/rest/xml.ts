import type { JsonText, RecordType } from '../../engine/definition/endpoints.ts'
import type { Field, FieldSet, ListField, ObjectType } from '../../engine/definition/fields.ts'
import type { Reader, WireRecord, WireValue } from '../../engine/definition/reader.ts'
import { type Frame, type Representation, textsOf } from '../../engine/reading/representations.ts'
import { type ResultItem, StoreFailure } from '../../foundation/values/failure.ts'
import { jsonBounds } from '../../foundation/values/json.ts'
import type { Steps } from '../../foundation/values/slices.ts'
import {
  broken,
  childElements,
  isNil,
  localName,
  shown,
  textOf,
  type XmlElement,
  xmlSteps,
} from '../../foundation/xml/read.ts'
import { escapeXml, SCHEMA_NAMESPACES, XML_DECLARATION } from '../../foundation/xml/text.ts'

/** The body as a plain record (root: a name of the type), or as a list of them (root: ArrayOf and a name). */
type Plain = string | Plain[] | PlainRecord

type PlainRecord = { [name: string]: Plain }

const recordBounds = {
  recordElementsMax: jsonBounds.recordValuesMax,
  isList: (rootName: string) => /^arrayof/i.test(localName(rootName)),
}

/**
 * Reads an XML text into the equivalent JSON value, with all values as text. Names match without regard to case and
 * prefix, unknown elements become null, xsi:nil means absent. Throws a 400 for malformed XML, for a document
 * type or custom entities, for an element in the wrong place, and for a record with more than 40,000 elements. Calls `repeat` with the
 * path of a member that comes a second time.
 */
export function* readXml(text: string, type: RecordType, repeat: Repeat = () => {}): Steps<Plain> {
  let body: ReturnType<typeof bodyOf> | null = null
  const root = yield* xmlSteps(text, recordBounds, function* (child, { name }) {
    body ??= bodyOf(name, type, repeat)
    yield* body.take(child)
  })
  return (body ?? bodyOf(root.name, type, repeat)).plain
}

type Repeat = (path: string) => void

/** Where an element is, and who is notified of a member that comes a second time. */
interface Place {
  readonly path: string
  readonly repeat: Repeat
}

/** What the root stands for, and how it takes its elements in. */
function bodyOf(qualifiedName: string, type: RecordType, repeat: Repeat) {
  const { typeName, inputTypeNames = [], fields } = type
  const rootName = localName(qualifiedName)
  const name = rootName.toLowerCase()
  for (const known of [typeName, ...inputTypeNames]) {
    if (name === known.toLowerCase()) {
      const plain: PlainRecord = {}
      return { plain, take: (child: XmlElement) => takeMember(plain, child, fields, { path: '', repeat }) }
    }
    if (name !== `arrayof${known.toLowerCase()}`) continue
    const plain: Plain[] = []
    const items = { typeName: known, fields }
    return { plain, take: (child: XmlElement) => takeItem(plain, child, items, { path: rootName, repeat }) }
  }
  const rule = `the root element must be ${typeName} or ArrayOf${typeName}`
  throw broken(`${rule}, not ${shown(rootName)}`, rule)
}

function* takeMember(record: PlainRecord, child: XmlElement, fields: FieldSet, place: Place): Steps<void> {
  const name = fields.byLowerName.get(localName(child.name).toLowerCase())
  const field = name === undefined ? undefined : fields.get(name)
  // Kept without a value, so that an update without any known name can be refused.
  if (name === undefined) Object.defineProperty(record, localName(child.name), { value: null, enumerable: true })
  if (name === undefined || field === undefined || isNil(child)) return
  const at = { ...place, path: place.path === '' ? name : `${place.path}.${name}` }
  if (Object.hasOwn(record, name)) at.repeat(at.path)
  if (field.kind === 'object') record[name] = yield* recordOf(child, field.fields, at)
  else if (field.kind === 'list') record[name] = yield* itemsOf(child, field, at)
  else record[name] = textOf(child, at.path)
}

function* recordOf(element: XmlElement, fields: FieldSet, place: Place): Steps<Plain> {
  const record: PlainRecord = {}
  yield
  for (const child of childElements(element)) yield* takeMember(record, child, fields, place)
  return record
}

type ItemType = Pick<ListField, 'typeName' | 'fields'>

function* itemsOf(element: XmlElement, type: ItemType, place: Place): Steps<Plain[]> {
  const items: Plain[] = []
  for (const child of childElements(element)) yield* takeItem(items, child, type, place)
  return items
}

function* takeItem(items: Plain[], child: XmlElement, { typeName, fields }: ItemType, place: Place): Steps<void> {
  const { path } = place
  // If ignored, a misspelt item would be deleted from the stored list.
  if (localName(child.name).toLowerCase() !== typeName.toLowerCase()) {
    const message = `${path} holds ${shown(localName(child.name))}; its items are named ${typeName}`
    const logMessage = `${path} holds another element than ${typeName}`
    throw new StoreFailure('unknown-field', message, { field: path, logMessage })
  }
  items.push(yield* recordOf(child, fields, { ...place, path: `${path}[${items.length}]` }))
}

/** Converts records from JSON texts to XML (rest-protocol §7.1). */
export function recordsToXml(texts: readonly JsonText[], type: RecordType): string {
  const records = texts.map((text) => recordXml(JSON.parse(String(text)), type))
  return rooted(`ArrayOf${type.typeName}`, records.join(''))
}

/** The records of a list as XML, for a page within `xmlFrame`. */
export function xmlOf(type: RecordType): (keptAs: string | null, reader: Reader) => Representation<Buffer> {
  return (keptAs, reader) =>
    textsOf(keptAs === null ? null : `${keptAs} xml`, reader, (row) => recordXml(reader.record(row), type))
}

export function xmlFrame({ typeName }: RecordType): Frame {
  const [first = '', last = ''] = rooted(`ArrayOf${typeName}`, '\0').split('\0')
  return { first, between: '', last }
}

export function resultsToXml(items: readonly ResultItem[]): string {
  const content = items.map((item) => {
    const members = Object.entries(item).map(([name, value]) => element(name, escapeXml(value)))
    return element('ResponseInfo', members.join(''))
  })
  return rooted('ArrayOfResponseInfo', content.join(''))
}

/** An answer's XML as the reference shows it: without namespaces, which nothing in it uses, a line for each element. */
export function exampleXml(xml: string): string {
  return xml.replace(/ xmlns:\w+="[^"]*"/g, '').replaceAll('><', '>\n<')
}

export function countToXml(count: number): string {
  return rooted('CountOnly', element('TotalCount', String(count)))
}

function rooted(name: string, content: string): string {
  return `${XML_DECLARATION}<${name} ${SCHEMA_NAMESPACES}>${content}</${name}>`
}

function element(name: string, content: string): string {
  return content === '' ? `<${name} />` : `<${name}>${content}</${name}>`
}

function recordXml(record: WireRecord, { typeName, fields }: ObjectType): string {
  return element(typeName, membersXml(record, fields))
}

/** The members that the record has. */
function membersXml(record: WireRecord, fields: FieldSet): string {
  let content = ''
  for (const [name, field] of fields.entries) {
    const value = record[name]
    if (value !== undefined) content += element(name, valueXml(value, field))
  }
  return content
}

function valueXml(value: WireValue, field: Field): string {
  if (typeof value === 'string') return escapeXml(value)
  if (typeof value !== 'object') return String(value)
  if (field.kind === 'list') return (value as WireRecord[]).map((item) => recordXml(item, field)).join('')
  if (field.kind !== 'object') return ''
  const type = field.variants?.of(value)
  return type ? recordXml(value as WireRecord, type) : membersXml(value as WireRecord, field.fields)
}
