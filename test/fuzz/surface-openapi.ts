import type { Address, OpenApi, Part } from '../support/openapi.ts'
import type { Draw } from './draw.ts'
import { documentedValue, type SchemaValues } from './from-schema.ts'
import type { Installation } from './installation.ts'
import { alterJson } from './mutate-json.ts'
import type { FuzzRequest } from './requests.ts'
import { baseOf, concretePaths, restHeaders, type Survey, securityOf } from './survey.ts'
import { jsonText, nastyNumber, nastyText } from './values.ts'
import { vary } from './vary.ts'

export interface Ground {
  readonly installation: Installation
  readonly api: OpenApi
  readonly survey: Survey
}

/** Something that requests are made of: an operation of the document, one of cartAPI, a page, a form. */
export interface FuzzOperation {
  readonly name: string
  readonly kind: 'rest' | 'operator' | 'oauth' | 'soap' | 'page' | 'form' | 'line'
  readonly make: (draw: Draw, ground: Ground) => FuzzRequest
}

/** All operations of the document, with everything that its parameters and bodies say. */
export function documentedOperations(api: OpenApi): FuzzOperation[] {
  return api.addresses.flatMap((address) =>
    [...address.operations].map(([method, operation]) => ({
      name: `${method} ${address.path}`,
      kind: kindOf(address),
      make: (draw: Draw, ground: Ground) => makeRequest(draw, ground, address, method, operation),
    })),
  )
}

function kindOf({ path, item }: Address): FuzzOperation['kind'] {
  if (path.startsWith('/oauth')) return 'oauth'
  return 'servers' in item.value ? 'operator' : 'rest'
}

function makeRequest(draw: Draw, ground: Ground, address: Address, method: string, operation: Part): FuzzRequest {
  const { api } = ground
  const mutations: string[] = []
  const item = itemBelow(draw, ground, address, method)
  const values = schemaValues(draw, ground, item)
  const parameters = api.members(api.member(operation, 'parameters')).map(([, part]) => part)
  const query = parameters
    .filter((part) => part.value.in === 'query')
    .flatMap((part) => queryOf(values, part, mutations))
  const headers = [
    ...credentials(draw, ground, securityOf(operation), mutations),
    ...parameters.filter((part) => part.value.in === 'header').flatMap((part) => headerOf(values, ground.survey, part)),
    ...acceptOf(draw, api, operation),
  ]
  const { body, type } = bodyOf(values, ground, operation, mutations)
  return {
    operation: `${method} ${address.path}`,
    method,
    path: `${baseOf(address, draw.oneOf(['v1', 'v1', 'v2']))}${item?.list ?? pathOf(draw, ground, address, method, mutations)}${query.length > 0 ? `?${query.join('&')}` : ''}`,
    headers: type === null ? headers : [...headers, ['content-type', type]],
    body,
    mutations,
  }
}

/** An item that a list has, for changes of the list: the list's path, and what names the item. */
function itemBelow(draw: Draw, { installation, api, survey }: Ground, { path }: Address, method: string) {
  if (method !== 'PUT' || !path.includes('{') || !draw.happens(70)) return null
  const below = api.addresses.find(
    (one) => one.path.startsWith(`${path}/{`) && !one.path.slice(path.length + 1).includes('/'),
  )
  const known = survey.records.get(below?.path ?? '') ?? []
  if (below === undefined || known.length === 0) return null
  const item = draw.oneOf(known)
  const slash = item.lastIndexOf('/')
  const list = item.slice(0, slash)
  if (isProtected(draw, installation, list, method)) return null
  return {
    list,
    name: below.path.slice(path.length + 2, -1).toLowerCase(),
    id: decodeURIComponent(item.slice(slash + 1)),
  }
}

function schemaValues(draw: Draw, { api, survey }: Ground, item: ReturnType<typeof itemBelow>): SchemaValues {
  return {
    api,
    draw,
    identifier: (name) => {
      if (item?.name === name.toLowerCase()) return Number.isNaN(Number(item.id)) ? item.id : Number(item.id)
      // `CustomerGroupID` refers to what `{groupid}` names.
      const wanted = name.toLowerCase()
      const [, known] = [...survey.identifiers].find(([one]) => wanted === one || wanted.endsWith(one)) ?? []
      return known === undefined || known.length === 0 ? undefined : draw.oneOf(known)
    },
  }
}

/**
 * Whether a change is of something that the fuzzer itself stands on. Most of these are not sent, because without it the
 * answers are refusals until the stores are looked after again.
 */
function isProtected(draw: Draw, { home, other }: Installation, path: string, method: string): boolean {
  const stores = [home, other].map(({ id }) => `/admin/stores/${id}`)
  const own = [...stores, ...[home, other].map(({ applicationId }) => `/admin/applications/${applicationId}`)]
  const isMeant = own.some((one) => path === one || path.startsWith(`${one}/`)) || path === '/admin/developers/1'
  const isHarmless =
    method === 'GET' ? !path.endsWith('/export') : /\/(orders|order-statuses|payment-methods)$/.test(path)
  return isMeant && !isHarmless && !draw.happens(3)
}

function pathOf(
  draw: Draw,
  { installation, survey }: Ground,
  { path }: Address,
  method: string,
  mutations: string[],
): string {
  if (!path.includes('{')) return path
  const how = draw.int(1, 100)
  const unknown = () => path.replace(/\{[^}]+\}/g, () => String(draw.int(1, 40)))
  const strange = () => path.replace(/\{[^}]+\}/g, () => encodeURIComponent(wellFormed(nastyNumber(draw) || '0')))
  const foreign = () => path.replace(/\{[^}]+\}/g, () => String(draw.oneOf(survey.foreign)))
  const known = concretePaths(path, survey.records)
  // A record that is deleted is missed by all requests after it.
  const wanted = known.length === 0 || how > (method === 'DELETE' ? 30 : 88) ? unknown() : draw.oneOf(known)
  const made = how > 94 ? noted(mutations, 'identifier', how > 97 ? strange() : foreign()) : wanted
  return isProtected(draw, installation, made, method) ? path.replace(/\{[^}]+\}/g, '987654') : made
}

function noted<T>(mutations: string[], what: string, value: T): T {
  mutations.push(what)
  return value
}

export function wellFormed(text: string): string {
  return text.toWellFormed()
}

function queryOf(values: SchemaValues, part: Part, mutations: string[]): string[] {
  const { api, draw } = values
  const name = String(part.value.name)
  if (part.value.required !== true && !draw.happens(7)) return []
  const schema = api.member(part, 'schema') as Part
  const how = draw.int(1, 100)
  const value =
    how > 92
      ? noted(mutations, `query ${name}`, draw.happens(50) ? nastyNumber(draw) : nastyText(draw))
      : parameterValue(values, schema, name)
  return (Array.isArray(value) ? value : [value]).map(
    (one) => `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(String(one)).slice(0, 6_000))}`,
  )
}

function parameterValue(values: SchemaValues, schema: Part, name: string): unknown {
  const { draw } = values
  if (name === 'offset') return draw.int(0, 3)
  return documentedValue(values, schema, name)
}

function headerOf(values: SchemaValues, { tags }: Survey, part: Part): [string, string][] {
  const { api, draw } = values
  const name = String(part.value.name)
  if (part.value.required !== true && !draw.happens(8)) return []
  if (/match/i.test(name))
    return [
      [name, draw.oneOf([...tags, '*', '"none"', 'W/"x"', `${draw.oneOf(tags.length > 0 ? tags : ['""'])}, "b"`])],
    ]
  if (name === 'Idempotency-Key') return [[name, `key-${draw.int(1, draw.oneOf([20, 1_000_000]))}`]]
  return [[name, String(documentedValue(values, api.member(part, 'schema') as Part, name))]]
}

function acceptOf(draw: Draw, api: OpenApi, operation: Part): [string, string][] {
  const answers = api
    .members(api.member(operation, 'responses'))
    .flatMap(([, answer]) => api.members(api.member(answer, 'content')))
  const types = [...new Set(answers.map(([type]) => type))]
  return types.length > 1 && draw.happens(40) ? [['accept', draw.oneOf(types)]] : []
}

function credentials(
  draw: Draw,
  { installation, survey }: Ground,
  security: readonly Record<string, unknown>[],
  mutations: string[],
): [string, string][] {
  const { home, other, operatorKey } = installation
  const wanted = security.length === 0 ? {} : draw.oneOf(security)
  const isMixed = draw.happens(4)
  if (isMixed) mutations.push('credentials')
  const names = Object.keys(wanted)
  if (names.includes('OperatorKey') && draw.happens(15)) {
    return [
      ['cookie', survey.visited.merchant.browser.cookie()],
      ['x-requested-with', 'fuzz'],
    ]
  }
  if (names.includes('OperatorKey'))
    return [['authorization', `Bearer ${isMixed ? draw.oneOf([home.token, '', 'x', `${operatorKey}x`]) : operatorKey}`]]
  const isOfDeveloper = security.some((one) => 'DeveloperSession' in one)
  const [own, foreign] = isOfDeveloper ? (['developer', 'merchant'] as const) : (['merchant', 'developer'] as const)
  const role = isMixed ? foreign : own
  if (names.includes('personToken')) return [['authorization', `Bearer ${survey.personTokens[role]}`]]
  if (names.some((name) => /^(Developer|Merchant)Session$/.test(name))) {
    return [
      ['cookie', survey.visited[role].browser.cookie()],
      ['x-requested-with', 'fuzz'],
    ]
  }
  if (names.includes('ClientKeys'))
    return [['authorization', basic(survey.client.publicKey, isMixed ? other.privateKey : survey.client.privateKey)]]
  if (names.length === 0) return []
  const given = Object.entries(draw.happens(3) ? installation.narrow : restHeaders(home))
  if (!isMixed) return given
  const wrong = Object.entries(restHeaders(other))
  const index = draw.int(0, 2)
  return given.flatMap((pair, place) =>
    place !== index ? [pair] : draw.oneOf([[], [wrong[place] ?? pair], [[pair[0], nastyHeader(draw)]]]),
  ) as [string, string][]
}

function basic(user: string, password: string): string {
  return `Basic ${Buffer.from(`${user}:${password}`).toString('base64')}`
}

export function nastyHeader(draw: Draw): string {
  return nastyText(draw)
    .replace(/[^\t\x20-\x7e\x80-\xff]/g, '')
    .slice(0, 9_000)
    .trim()
}

/** What Checkout sells: of all that it takes, most is refused together. */
const order = {
  BillingEmail: 'guest@fuzz.example',
  OrderItemList: [{ CatalogID: 1, ItemQuantity: 1 }],
  Payment: { Amount: 0.01, Method: 'Cash', Status: 'approved' },
}

function bodyOf(
  values: SchemaValues,
  ground: Ground,
  operation: Part,
  mutations: string[],
): { body: Buffer | null; type: string | null } {
  const { api, draw } = values
  const contents = api.members(api.member(operation, 'requestBody', 'content'))
  if (contents.length === 0) return { body: null, type: null }
  const [type, content] = draw.oneOf(contents)
  const json = contents.find(([name]) => name === 'application/json')?.[1] ?? content
  const schema = api.member(content, 'schema') as Part
  const given = /^(create|quote)Order$/.test(String(operation.value.operationId)) ? order : json.value.example
  const example = given ?? documentedValue(values, schema, '')
  const made = vary(
    values,
    ground,
    draw.happens(70) ? structuredClone(example) : documentedValue(values, schema, ''),
    schema,
  )
  const value = draw.happens(25) ? noted(mutations, 'body value', alterJson(draw, made)) : made
  if (type === 'application/json') return { type, body: Buffer.from(jsonText(value)) }
  if (type === 'application/xml') return { type, body: Buffer.from(xmlText(api, schema, value)) }
  if (type === 'application/x-www-form-urlencoded') return { type, body: Buffer.from(formText(ground, value)) }
  return { type, body: Buffer.from(String(draw.oneOf(importLines(draw)))) }
}

/** An object as elements in the names that the schema gives them. */
function xmlText(api: OpenApi, schema: Part, value: unknown): string {
  const choices = api.members(api.member(schema, 'oneOf')).map(([, part]) => part)
  const fitting = choices.find((part) => (part.value.type === 'array') === Array.isArray(value)) ?? schema
  return `<?xml version="1.0" encoding="utf-8"?>${element(api, xmlName(fitting) || 'Record', value, fitting)}`
}

function element(api: OpenApi, name: string, value: unknown, schema: Part | undefined): string {
  const items = api.member(schema, 'items')
  const inner = Array.isArray(value)
    ? value.map((item) => element(api, xmlName(items) || 'Item', item, items)).join('')
    : value !== null && typeof value === 'object' && !('text' in value)
      ? Object.entries(value)
          .map(([member, inside]) => element(api, member, inside, api.member(schema, 'properties', member)))
          .join('')
      : escapeText(
          value !== null && typeof value === 'object' ? String((value as { text: unknown }).text) : String(value ?? ''),
        )
  return `<${name}>${inner}</${name}>`
}

function xmlName(schema: Part | undefined): string {
  return String((schema?.value.xml as { name?: string } | undefined)?.name ?? '')
}

function escapeText(text: string): string {
  return wellFormed(text).replace(/[&<>]/g, (character) => `&#${character.charCodeAt(0)};`)
}

function formText({ survey: { client, codes, accessTokens } }: Ground, value: unknown): string {
  const own: Readonly<Record<string, string | undefined>> = {
    client_id: client.publicKey,
    client_secret: client.privateKey,
    redirect_uri: client.redirectUri,
    // Each has one try.
    code: codes.pop(),
    token: accessTokens.at(-1),
  }
  const members = Object.entries((value ?? {}) as Record<string, unknown>).filter(([name]) => name !== 'code_verifier')
  return new URLSearchParams(
    members.map(([name, member]): [string, string] => [
      name,
      typeof member === 'string' ? (own[name] ?? wellFormed(member)) : wellFormed(jsonText(member)),
    ]),
  ).toString()
}

function importLines(draw: Draw): string[] {
  const id = draw.int(1, 50)
  const line = (record: object, service = 'Manufacturers') => `${JSON.stringify({ service, record })}\n`
  return [
    line({ ManufacturerID: id, ManufacturerName: 'Imported' }).repeat(draw.int(1, 30)),
    line({ ManufacturerID: -1 }),
    '\n',
    '{',
    line({}, nastyText(draw)),
    '',
  ]
}
