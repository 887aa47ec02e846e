import { XMLValidator } from 'fast-xml-parser'
import { expect } from 'vitest'
import type { Field, FieldSet } from '../../../src/engine/definition/fields.ts'
import type { Wire } from './samples.ts'

/** What a record is called in XML, and its fields. */
export interface Type {
  readonly typeName: string
  readonly fields: FieldSet
}

/** A body as an XML client writes it (rest-protocol §7.1): a record under its type's name, a list under ArrayOf. */
export function toXml(body: Wire | readonly Wire[], { typeName, fields }: Type): string {
  if (!Array.isArray(body))
    return `<?xml version="1.0" encoding="utf-8"?>${element(typeName, members(body as Wire, fields))}`
  return element(`ArrayOf${typeName}`, items(body, typeName, fields))
}

function members(body: Wire, fields: FieldSet): string {
  return Object.entries(body)
    .map(([name, value]) => element(name, content(value, fields.get(name))))
    .join('\n  ')
}

function items(list: readonly Wire[], typeName: string, fields: FieldSet): string {
  return list.map((item) => element(typeName, members(item, fields))).join('')
}

function content(value: unknown, field: Field | undefined): string {
  if (field?.kind === 'object') return members(value as Wire, field.fields)
  if (field?.kind === 'list') return items(value as Wire[], field.typeName, field.fields)
  return String(value).replace(/[&<>"]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function element(name: string, inner: string): string {
  return `<${name}>${inner}</${name}>`
}

/** The records of an answer, with the values that the same answer has in JSON. Its root must be ArrayOf and the type's name. */
export function recordsOf(text: string, { typeName, fields }: Type): Wire[] {
  return elementsIn(rootOf(text, `ArrayOf${typeName}`)).map(({ name, inner }) => {
    expect(name).toBe(typeName)
    return recordOf(inner, fields)
  })
}

/** What stands in the root of an answer, which must be well-formed and have the two namespaces. */
export function rootOf(text: string, name: string): string {
  expect(XMLValidator.validate(text)).toBe(true)
  const start =
    `<?xml version="1.0" encoding="utf-8"?><${name} xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"` +
    ' xmlns:xsd="http://www.w3.org/2001/XMLSchema">'
  expect(text.slice(0, start.length)).toBe(start)
  expect(text.slice(-name.length - 3)).toBe(`</${name}>`)
  return text.slice(start.length, -name.length - 3)
}

function recordOf(inner: string, fields: FieldSet): Wire {
  return Object.fromEntries(elementsIn(inner).map(({ name, inner: value }) => [name, valueIn(value, fields.get(name))]))
}

function valueIn(inner: string, field: Field | undefined): unknown {
  if (field?.kind === 'object') return recordOf(inner, field.fields)
  if (field?.kind === 'list') {
    return elementsIn(inner).map(({ name, inner: item }) => {
      expect(name).toBe(field.typeName)
      return recordOf(item, field.fields)
    })
  }
  const text = textOf(inner)
  if (field?.kind === 'boolean') return ({ true: true, false: false } as Record<string, boolean>)[text] ?? text
  return field?.kind === 'integer' || field?.kind === 'decimal' ? Number(text) : text
}

interface Element {
  readonly name: string
  readonly inner: string
}

/** The elements of a well-formed text without attributes, comments and CDATA, as the server writes it. */
export function elementsIn(text: string): Element[] {
  const elements: Element[] = []
  let position = 0
  while (position < text.length) {
    const [opening, name = '', isEmpty] = /^<([A-Za-z]\w*)( \/)?>/.exec(text.slice(position, position + 100)) ?? ['']
    if (opening === '') throw new Error(`No element at ${position}: ${text.slice(position, position + 60)}`)
    const start = position + opening.length
    const end = isEmpty ? start : endOf(text, name, start)
    elements.push({ name, inner: text.slice(start, end) })
    position = isEmpty ? start : end + name.length + 3
  }
  return elements
}

/** Where the end tag of an element begins; elements of its name may lie in it. */
function endOf(text: string, name: string, start: number): number {
  const tags = new RegExp(`<(/?)${name}>`, 'g')
  tags.lastIndex = start
  for (let depth = 1, tag = tags.exec(text); tag !== null; tag = tags.exec(text)) {
    depth += tag[1] === '/' ? -1 : 1
    if (depth === 0) return tag.index
  }
  throw new Error(`<${name}> has no end`)
}

const entities: Readonly<Record<string, string>> = { lt: '<', gt: '>', amp: '&', quot: '"', apos: "'" }

export function textOf(text: string): string {
  return text.replace(/&(#(\d+)|\w+);/g, (reference, name: string, code?: string) =>
    code === undefined ? (entities[name] ?? reference) : String.fromCodePoint(Number(code)),
  )
}
