import type { RecordType } from '../engine/endpoints.ts'
import type { FieldSet, ListField } from '../engine/fields.ts'
import type { WireRecord, WireValue } from '../engine/reader.ts'
import { StoreFailure } from '../values/failure.ts'
import { jsonBounds } from '../values/json.ts'
import type { ResultItem } from '../values/result-item.ts'
import type { Steps } from '../values/slices.ts'
import { broken, childElements, isNil, localName, shown, textOf, type XmlElement, xmlSteps } from '../xml/read.ts'
import { escapeXml, SCHEMA_NAMESPACES, XML_DECLARATION } from '../xml/text.ts'

/** The body as a plain record (root: a name of the type), or as a list of them (root: ArrayOf and a name). */
type Plain = string | Plain[] | { [name: string]: Plain }

const recordBounds = {
  recordElementsMax: jsonBounds.recordValuesMax,
  isList: (rootName: string) => /^arrayof/i.test(localName(rootName)),
}

/**
 * Reads an XML text into the equivalent JSON value, with all values as text. Names match without regard to case and
 * prefix, unknown elements are ignored, xsi:nil means absent. Throws `bad-request` for malformed XML, for a document
 * type or custom entities, for an element in the wrong place, and for a record with more than 40,000 elements.
 */
export function* readXml(text: string, { typeName, inputTypeNames = [], fields }: RecordType): Steps<Plain> {
  const root = yield* xmlSteps(text, recordBounds)
  const rootName = localName(root.name)
  const name = rootName.toLowerCase()
  for (const known of [typeName, ...inputTypeNames]) {
    if (name === known.toLowerCase()) return yield* recordOf(root, fields, '')
    if (name !== `arrayof${known.toLowerCase()}`) continue
    return yield* itemsOf(root, { typeName: known, fields }, rootName)
  }
  const rule = `the root element must be ${typeName} or ArrayOf${typeName}`
  throw broken(`${rule}, not ${shown(rootName)}`, rule)
}

function* recordOf(element: XmlElement, fields: FieldSet, path: string): Steps<Plain> {
  const record: Record<string, Plain> = {}
  yield
  for (const child of childElements(element)) {
    const name = fields.byLowerName.get(localName(child.name).toLowerCase())
    const field = name === undefined ? undefined : fields.get(name)
    if (name === undefined || field === undefined || isNil(child)) continue
    const at = path === '' ? name : `${path}.${name}`
    if (field.kind === 'object') record[name] = yield* recordOf(child, field.fields, at)
    else if (field.kind === 'list') record[name] = yield* itemsOf(child, field, at)
    else record[name] = textOf(child, at)
  }
  return record
}

function* itemsOf(
  element: XmlElement,
  { typeName, fields }: Pick<ListField, 'typeName' | 'fields'>,
  path: string,
): Steps<Plain[]> {
  const items: Plain[] = []
  for (const child of childElements(element)) {
    // If ignored, a misspelt item would be deleted from the stored list.
    if (localName(child.name).toLowerCase() !== typeName.toLowerCase()) {
      throw new StoreFailure(
        'bad-request',
        `${path} holds ${shown(localName(child.name))}; its items are named ${typeName}`,
        { field: path, logMessage: `${path} holds another element than ${typeName}` },
      )
    }
    items.push(yield* recordOf(child, fields, `${path}[${items.length}]`))
  }
  return items
}

/** Converts records from JSON texts to XML (rest-protocol §7.1). */
export function recordsToXml(texts: readonly string[], { typeName, fields }: RecordType): string {
  const records = texts.map((text) => JSON.parse(text))
  return rooted(`ArrayOf${typeName}`, listContent(records, typeName, fields))
}

export function resultsToXml(items: readonly ResultItem[]): string {
  const content = items.map((item) => {
    const members = Object.entries(item).map(([name, value]) => element(name, escapeXml(value)))
    return element('ResponseInfo', members.join(''))
  })
  return rooted('ArrayOfResponseInfo', content.join(''))
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

function listContent(records: readonly WireRecord[], typeName: string, fields: FieldSet): string {
  let content = ''
  for (const record of records) content += element(typeName, recordContent(record, fields))
  return content
}

/** Writes the members in record order, which is that of the field tables. */
function recordContent(record: WireRecord, fields: FieldSet): string {
  let content = ''
  for (const name in record) content += element(name, memberContent(record[name] as WireValue, name, fields))
  return content
}

function memberContent(value: WireValue, name: string, fields: FieldSet): string {
  if (typeof value === 'string') return escapeXml(value)
  if (typeof value !== 'object') return String(value)
  const field = fields.get(name)
  if (field?.kind === 'list') return listContent(value as WireRecord[], field.typeName, field.fields)
  if (field?.kind !== 'object') return ''
  const type = field.variants?.of(value)
  if (type === undefined) return recordContent(value as WireRecord, field.fields)
  return element(type.typeName, recordContent(value as WireRecord, type.fields))
}
