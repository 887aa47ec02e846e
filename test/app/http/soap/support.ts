import type { LightMyRequestResponse } from 'fastify'
import { expect } from 'vitest'
import {
  childElements,
  localName,
  readXmlDocument,
  textOf,
  type XmlElement,
} from '../../../../src/foundation/xml/read.ts'
import type { TestServer, TestStore } from '../../../support/store.ts'

export const defaultNamespace = 'urn:store-platform:cartAPI'

const envelopes = {
  '1.1': 'http://schemas.xmlsoap.org/soap/envelope/',
  '1.2': 'http://www.w3.org/2003/05/soap-envelope',
}

export interface SoapCallOptions {
  version?: '1.1' | '1.2'
  namespace?: string
  headers?: Record<string, string>
}

/** An envelope around what stands in its body. */
export function envelope(body: string, version: '1.1' | '1.2' = '1.1', header = ''): string {
  const head = header === '' ? '' : `<soap:Header>${header}</soap:Header>`
  return `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="${envelopes[version]}">${head}<soap:Body>${body}</soap:Body></soap:Envelope>`
}

/** The element that asks for an operation, with a store's credentials unless `parameters` say others. */
export function request(
  { store }: Pick<TestStore, 'store'>,
  operation: string,
  parameters: Readonly<Record<string, string | number | boolean>> = {},
  namespace = defaultNamespace,
): string {
  const all = { storeUrl: store.secureUrl, userKey: store.userKey, ...parameters }
  const inside = Object.entries(all).map(([name, value]) => `<${name}>${escaped(String(value))}</${name}>`)
  return `<${operation} xmlns="${namespace}">${inside.join('')}</${operation}>`
}

function escaped(text: string): string {
  return text.replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
}

/** A whole request as a proxy sends it, and the bare answer. */
export function post(
  { app }: Pick<TestServer, 'app'>,
  payload: string | Buffer,
  { version = '1.1', headers = {} }: SoapCallOptions = {},
): Promise<LightMyRequestResponse> {
  const contentType = version === '1.1' ? 'text/xml; charset=utf-8' : 'application/soap+xml; charset=utf-8'
  return app.inject({
    method: 'POST',
    url: '/cart.asmx',
    headers: { 'content-type': contentType, ...headers },
    payload,
  })
}

/** Calls an operation for a store, and gives the result's XML: what stands inside of `XResult`. The answer is held against the contract's shape. */
export async function soapCall(
  server: Pick<TestServer, 'app'>,
  shop: Pick<TestStore, 'store'>,
  operation: string,
  parameters: Readonly<Record<string, string | number | boolean>> = {},
  { version = '1.1', namespace = defaultNamespace, headers = {} }: SoapCallOptions = {},
): Promise<string> {
  const payload = envelope(request(shop, operation, parameters, namespace), version)
  const answer = await post(server, payload, { version, headers })
  expect(answer.statusCode, answer.body).toBe(200)
  const before = `<soap:Body><${operation}Response xmlns="${namespace}"><${operation}Result>`
  const after = `</${operation}Result></${operation}Response></soap:Body></soap:Envelope>`
  const start = answer.body.indexOf(before)
  expect(start, answer.body).toBeGreaterThan(0)
  expect(answer.body.endsWith(after), answer.body).toBe(true)
  expect(answer.body).toContain(`xmlns:soap="${envelopes[version]}"`)
  return answer.body.slice(start + before.length, -after.length)
}

/** The error document with this number and text. */
export function errorDocument(id: number, description: string): string {
  return `<Error xmlns=""><Id>${id}</Id><Description>${description}</Description></Error>`
}

/** A result's XML as a tree of names: texts, or objects; what stands several times is a list. */
export type Tree = string | { [name: string]: Tree | Tree[] }

export function treeOf(xml: string): Tree {
  return toTree(readXmlDocument(xml))
}

function toTree(element: XmlElement): Tree {
  const children = childElements(element)
  if (children.length === 0) return textOf(element, element.name)
  const tree: { [name: string]: Tree | Tree[] } = {}
  for (const child of children) {
    const name = localName(child.name)
    const known = tree[name]
    const value = toTree(child)
    if (known === undefined) tree[name] = value
    else if (Array.isArray(known)) known.push(value)
    else tree[name] = [known, value]
  }
  return tree
}

export function childrenNamed(element: XmlElement, name: string): XmlElement[] {
  return childElements(element).filter((child) => localName(child.name) === name)
}

/** The names of an element's children, in their order. */
export function childNames(xml: string, ...path: string[]): string[] {
  let at = readXmlDocument(xml)
  for (const name of path) {
    const [next] = childrenNamed(at, name)
    if (!next) throw new Error(`No ${name} in ${at.name}`)
    at = next
  }
  return childElements(at).map((child) => localName(child.name))
}

/** What a fault says; all else about the answer is checked: its content type, the envelope of this version, the language. */
export interface Fault {
  status: number
  version: '1.1' | '1.2'
  /** Without its prefix. */
  code: string
  reason: string
  /** Of SOAP 1.2, what stands in the envelope's Header; empty: there is none. */
  header: string
}

export function faultOf({
  statusCode,
  headers,
  body,
}: Pick<LightMyRequestResponse, 'statusCode' | 'headers' | 'body'>): Fault {
  const startOf = (version: Fault['version']) =>
    `<?xml version="1.0" encoding="utf-8"?><soap:Envelope xmlns:soap="${envelopes[version]}">`
  // Not by a namespace anywhere in the body: a reason may quote the envelope that was sent.
  const version = body.startsWith(startOf('1.2')) ? '1.2' : '1.1'
  const start = startOf(version)
  const end = '</soap:Fault></soap:Body></soap:Envelope>'
  expect(body.startsWith(start) && body.endsWith(end), body).toBe(true)
  const inside = body.slice(start.length, -end.length)
  const form =
    version === '1.1'
      ? /^()<soap:Body><soap:Fault><faultcode>soap:(\w+)<\/faultcode><faultstring xml:lang="en">([^<]+)<\/faultstring>(<detail\/>)?$/
      : /^(?:<soap:Header>(.+)<\/soap:Header>)?<soap:Body><soap:Fault><soap:Code><soap:Value>soap:(\w+)<\/soap:Value><\/soap:Code><soap:Reason><soap:Text xml:lang="en">([^<]+)<\/soap:Text><\/soap:Reason>$/
  const [matched, header = '', code = '', reason = '', detail] = form.exec(inside) ?? []
  expect(matched, body).toBe(inside)
  // SOAP 1.1 §4.4: it tells faults of the body from those of the header.
  if (version === '1.1') expect(detail !== undefined).toBe(code === 'Client' || code === 'Server')
  const contentType = version === '1.1' ? 'text/xml; charset=utf-8' : 'application/soap+xml; charset=utf-8'
  expect(headers['content-type']).toBe(contentType)
  return { status: statusCode, version, code, reason: textOf(readXmlDocument(`<r>${reason}</r>`), 'reason'), header }
}
