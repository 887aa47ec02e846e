import type { RecordType } from '../engine/endpoints.ts'
import type { FieldSet } from '../engine/fields.ts'
import type { WireRecord, WireValue } from '../engine/reader.ts'
import type { ResultItem } from '../values/result-item.ts'
import { escapeXml, XML_DECLARATION } from '../xml/text.ts'

const NAMESPACES = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"'

/** Converts records from JSON texts to XML (rest-protocol §7.1). */
export function recordsToXml(records: readonly string[], { typeName, fields }: RecordType): string {
  return rooted(
    `ArrayOf${typeName}`,
    listContent(
      records.map((text) => JSON.parse(text)),
      typeName,
      fields,
    ),
  )
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
  return `${XML_DECLARATION}<${name} ${NAMESPACES}>${content}</${name}>`
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
