// What the pages of the reference show of each operation, out of the OpenAPI document.

import { inspect } from 'node:util'
import { eventKinds } from '../../engine/definition/event-kinds.ts'
import type { JsonSchema } from '../../engine/definition/json-schema.ts'
import type { Header, HttpMethod, Operation, Parameter, PathItem, Ref, Response } from '../server/json/openapi.ts'
import type { assembleDocument } from './assemble.ts'
import { type Resolve, type Row, recordName, rowsOf, typeInWords } from './schema-rows.ts'

export type ApiDocument = ReturnType<typeof assembleDocument>

export interface Example {
  /** Such as `application/json`. */
  readonly type: string
  /** Of a form, as it is sent; of one in parts, as curl is given it. */
  readonly text: string
  /** Of a form. Empty: it is none. */
  readonly fields: readonly (readonly [name: string, value: string])[]
}

/** What a request proves who it is by. */
type Credential = 'keys' | 'operator' | 'developer' | 'client' | 'none'

export type DescribedOperation = ReturnType<ReturnType<typeof describer>>[number]

export interface Service {
  readonly name: string
  /** Markdown. */
  readonly description: string
  readonly address: string
  readonly operations: readonly DescribedOperation[]
}

/** The pages of what the server sends are named like those of a service. */
const SENT = 'Notifications'

/** Returns the services in the order of the document, without those that have no operations, and then the events. */
export function servicesOf(document: ApiDocument, publicUrl: string): Service[] {
  const describe = describer(document, publicUrl)
  const described = Object.entries(document.paths).flatMap(([path, item]) => describe(path, item))
  const services = document.tags.map(({ name, description }) => ({
    name,
    description,
    address: addressOf(name),
    operations: described.filter(({ tag }) => tag === name),
  }))
  const events = Object.entries(document.webhooks).flatMap(([name, item]) => describe('', item, name))
  const sent = {
    name: SENT,
    description:
      'What the server sends: notifications to the addresses of webhooks, one kind of event each, and callbacks to the CallBackURL of an application. How they are signed, repeated and put in order: [webhooks and the feed of events](/docs/reference/conventions#webhooks-and-the-feed-of-events).',
    address: addressOf(SENT),
    operations: events,
  }
  return [...services, sent].filter(({ operations }) => operations.length > 0)
}

function addressOf(tag: string): string {
  return `/docs/reference/${encodeURIComponent(tag)}`
}

const methods: readonly HttpMethod[] = ['get', 'post', 'put', 'delete']

function describer(document: ApiDocument, publicUrl: string) {
  // What is beside a reference, which then is the only one in `allOf`, goes before what it refers to.
  const resolve: Resolve = ({ $ref, allOf, ...rest }) =>
    $ref === undefined && allOf === undefined
      ? rest
      : { ...resolve((allOf as JsonSchema[])?.[0] ?? (targetOf(document, String($ref)) as JsonSchema)), ...rest }
  const rowsFor = keepingRows(resolve)
  const followed = <T extends object>(value: T | Ref): T =>
    '$ref' in value ? (targetOf(document, value.$ref) as T) : value
  const root = rootOf(document, publicUrl)

  return (path: string, item: PathItem, event?: string) =>
    methods.flatMap((method) => {
      const operation = item[method]
      if (operation === undefined) return []
      const { operationId: id, summary, description = '', requestBody, responses } = operation
      const tag = event === undefined ? (operation.tags[0] ?? '') : SENT
      const full = event === undefined ? (item.servers === undefined ? root : '') + path : ''
      const parameters = (operation.parameters ?? []).map((each) => parameterOf(followed<Parameter>(each), resolve))
      const { answers, refusals } = answersOf(responses, followed, rowsFor)
      const credential = credentialOf(operation)
      const body = requestBody ? bodyOf(requestBody, credential, resolve, rowsFor) : null
      // The path is without the address of the server: `/StoreWebAPI/v1/Products/{catalogid}`. Empty: the address is the receiver's own.
      const of = { method: method.toUpperCase(), path: full, parameters, body, credential }
      const isOfService = event === undefined && item.servers === undefined
      return {
        id,
        tag,
        summary,
        description,
        /** Of a notification: the EventType. Empty: it has none. */
        eventType: event === undefined ? '' : String(eventKinds.find(({ name }) => name === event)?.type ?? ''),
        address: `${addressOf(tag)}/${encodeURIComponent(id)}`,
        ...of,
        /** Whether a person's token does as well. */
        takesTokens: operation.security?.some((scheme) => 'personToken' in scheme) ?? false,
        answers,
        refusals,
        /** A command line that sends the example. Empty: it is a notification. */
        curl: event === undefined ? curlOf(of, publicUrl) : '',
        /** A program that does, of an operation of a service; else empty. */
        typescript: isOfService ? typescriptOf(path, of, body?.examples[0]?.text) : '',
      }
    })
}

/** Most operations share the schemas of a few records. */
function keepingRows(resolve: Resolve): RowsFor {
  const kept = new Map<unknown, readonly Row[]>()
  return (schema) => {
    const rows = kept.get(schema.$ref) ?? rowsOf(schema, resolve)
    if (schema.$ref !== undefined) kept.set(schema.$ref, rows)
    return rows
  }
}

/** Of the services, below the server: `/StoreWebAPI/v1`. */
function rootOf({ servers: [service] }: ApiDocument, publicUrl: string): string {
  const version = service?.variables.version.default ?? ''
  return (service?.url ?? '').replace(publicUrl, '').replace('{version}', version)
}

function targetOf(document: ApiDocument, pointer: string): unknown {
  const names = pointer.split('/').slice(1)
  return names.reduce<unknown>((value, name) => (value as Record<string, unknown> | undefined)?.[name], document) ?? {}
}

function parameterOf(parameter: Parameter, resolve: Resolve) {
  const { name, description, required = false, schema } = parameter
  const [shown] = (schema.examples ?? []) as readonly unknown[]
  const example = parameter.example ?? shown
  return {
    name,
    in: parameter.in,
    type: typeInWords(schema, resolve),
    description,
    isRequired: required,
    example: example === undefined ? '' : String(example),
  }
}

type ParameterRow = ReturnType<typeof parameterOf>
type RowsFor = (schema: JsonSchema) => readonly Row[]
type Followed = <T extends object>(value: T | Ref) => T

function bodyOf(
  { required, description = '', content }: NonNullable<Operation['requestBody']>,
  credential: Credential,
  resolve: Resolve,
  rowsFor: RowsFor,
) {
  const [media] = Object.values(content)
  const schema = resolve(media?.schema ?? {})
  const lists = [schema, ...((schema.oneOf ?? []) as JsonSchema[]).map(resolve)].filter(({ type }) => type === 'array')
  const takesOne = lists[0] !== schema
  const max = lists[0]?.maxItems
  const most = max === undefined ? '' : max === 1 ? ' of one record' : ` of at most ${max}`
  return {
    isRequired: required,
    description,
    types: Object.keys(content),
    /** How many records it takes; empty: one. */
    size: lists.length === 0 ? '' : takesOne ? `One record, or a list${most}.` : `A list${most}.`,
    record: recordOf(media?.schema ?? {}),
    rows: rowsFor(media?.schema ?? {}),
    examples: examplesOf(content, credential === 'client' ? basic : []),
  }
}

/** Fields in whose place an application's keys are sent by Basic. */
const basic = ['client_id', 'client_secret']

/** `#/components/schemas/ArrayOfProduct` and `ProductUpdate` are of the record `Product`. Empty: it has none. */
function recordOf({ $ref, oneOf, items }: JsonSchema): string {
  if ($ref !== undefined) return recordName({ $ref })
  const [within] = [oneOf ?? items].flat() as (JsonSchema | undefined)[]
  return within === undefined ? '' : recordOf(within)
}

const FORM = 'application/x-www-form-urlencoded'
const PARTS = 'multipart/form-data'

function examplesOf(content: NonNullable<Response['content']>, leftOut: readonly string[] = []): Example[] {
  return Object.entries(content).flatMap(([type, media]) => {
    const { example, examples } = media as typeof media & { examples?: Readonly<Record<string, { value?: unknown }>> }
    const value = example ?? Object.values(examples ?? {})[0]?.value
    if (value === undefined) return []
    if (type !== FORM && type !== PARTS) {
      return { type, text: typeof value === 'string' ? value : JSON.stringify(value, null, 2), fields: [] }
    }
    const given = typeof value === 'string' ? [...new URLSearchParams(value)] : Object.entries(value as object)
    const fields = given.filter(([name]) => !leftOut.includes(name)).map(([name, one]) => [name, String(one)] as const)
    return { type, text: type === FORM ? formOf(fields) : partsOf(fields).join('\n'), fields }
  })
}

function formOf(fields: Example['fields']): string {
  return String(new URLSearchParams(Object.fromEntries(fields)))
}

function partsOf(fields: Example['fields']): string[] {
  return fields.map(([name, value]) => `-F ${quoted(`${name}=${value}`)}`)
}

function answersOf(responses: Operation['responses'], followed: Followed, rowsFor: RowsFor) {
  const all = Object.entries(responses).map(([status, response]) => {
    const { description, headers = {}, content = {} } = followed<Response>(response)
    const [media] = Object.values(content)
    return {
      status,
      description,
      headers: Object.entries(headers).map(([name, header]) => {
        return { name, description: followed<Header>(header).description }
      }),
      types: Object.keys(content),
      record: recordOf(media?.schema ?? {}),
      rows: media && status < '400' ? rowsFor(media.schema) : [],
      examples: examplesOf(content),
    }
  })
  return { answers: all.filter(({ status }) => status < '400'), refusals: all.filter(({ status }) => status >= '400') }
}

const credentials: Readonly<Record<string, Credential>> = {
  OperatorKey: 'operator',
  DeveloperSession: 'developer',
  MerchantSession: 'developer',
  ClientKeys: 'client',
}

function credentialOf({ security }: Operation): Credential {
  if (security === undefined) return 'keys'
  const [name] = security.flatMap((scheme) => Object.keys(scheme))
  return name === undefined ? 'none' : (credentials[name] ?? 'keys')
}

const curlCredentials: Readonly<Record<Credential, readonly string[]>> = {
  keys: ['-H "SecureURL: $SECURE_URL"', '-H "PrivateKey: $PRIVATE_KEY"', '-H "Token: $TOKEN"'],
  operator: ['-H "Authorization: Bearer $OPERATOR_KEY"'],
  developer: ['-b session'],
  client: ['-u "$PUBLIC_KEY:$PRIVATE_KEY"'],
  none: [],
}

interface Sent {
  readonly method: string
  readonly path: string
  readonly parameters: readonly ParameterRow[]
  readonly body: ReturnType<typeof bodyOf> | null
  readonly credential: Credential
}

function curlOf({ method, path, parameters, body, credential }: Sent, publicUrl: string): string {
  const address =
    publicUrl + path.replace(/\{(\w+)\}/g, (name, key) => parameters.find((each) => each.name === key)?.example || name)
  const query = parameters
    .filter((each) => each.in === 'query' && each.isRequired)
    .map(({ name, example }) => `${encodeURIComponent(name)}=${encodeURIComponent(example)}`)
  const headers = parameters
    .filter((each) => each.in === 'header' && each.isRequired)
    .map(({ name, example }) => `-H '${name}: ${example}'`)
  const [example] = body?.examples ?? []
  const type = example?.type ?? body?.types[0]
  const parts = [
    `curl${method === 'GET' ? '' : ` -X ${method}`} ${quoted(address + (query.length > 0 ? `?${query.join('&')}` : ''))}`,
    ...curlCredentials[credential],
    ...headers,
    ...(type ? bodyOfCurl(type, example) : []),
  ]
  return parts.join(' \\\n  ')
}

/** What curl sends as a form needs no type: it is that of the option. */
function bodyOfCurl(type: string, example: Example | undefined): string[] {
  if (type === FORM && example) return example.fields.map((field) => `-d ${quoted(formOf([field]))}`)
  if (type === PARTS && example) return partsOf(example.fields)
  return [`-H 'Content-Type: ${type}'`, example ? `-d ${quoted(example.text)}` : '--data-binary @FILE']
}

/** The example of an operation of a service as a call of the client (clients/typescript). `path` is below the version. */
function typescriptOf(path: string, { method, parameters }: Sent, json: string | undefined): string {
  const valuesIn = (place: string) => {
    const of = parameters.filter((each) => each.in === place && each.isRequired)
    return of.length === 0 ? {} : { [place]: Object.fromEntries(of.map((each) => [each.name, exampleValue(each)])) }
  }
  const given = { ...valuesIn('path'), ...valuesIn('query'), ...(json !== undefined && { body: JSON.parse(json) }) }
  const options = Object.keys(given).length === 0 ? '' : `, ${inspect(given, { depth: null })}`
  const isPaged = method === 'GET' && parameters.some(({ name }) => name === 'cursor')
  if (isPaged) return `for await (const record of store.list('${path}'${options})) {\n  console.log(record)\n}`
  return `const { data } = await store.${method.toLowerCase()}('${path}'${options})\nconsole.log(data)`
}

function exampleValue({ type, example }: ParameterRow): string | number {
  return /^(?:whole )?number/.test(type) ? Number(example) : example
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", String.raw`'\''`)}'`
}
