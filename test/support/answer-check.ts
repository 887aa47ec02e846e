import { answerFaults, isSuccess, isXml, methodOf } from './answer-faults.ts'
import { type Address, type OpenApi, readOpenApi } from './openapi.ts'
import type { Exchange } from './store.ts'
import { schemaFaults } from './xml-schema.ts'

/** Holds what the server does against what the reference says of it: the OpenAPI document, and the schema of its XML. */
export interface AnswerCheck {
  /** Throws for what the document says otherwise, naming the request; gathers XML for `xmlFaults`. */
  readonly verify: (exchange: Exchange) => void
  /** What is wrong with the XML that was answered, or sent as documented and taken; each text once. */
  readonly xmlFaults: (schema: string) => Promise<string[]>
  /** The operations that no request had a success of, such as `GET /Products`. */
  readonly unanswered: () => string[]
}

/** A service of which requests are checked. The document has it by `service`, the first segment of its paths, alone. */
export interface CheckedService {
  readonly service: string
  /** All that the server takes, without regard to case. */
  readonly names: readonly string[]
}

export function answerCheck(document: object, services: readonly CheckedService[]): AnswerCheck {
  const api = apiOf(document)
  const checked = api.addresses.filter(({ path }) => services.some(({ service }) => service === path.split('/')[1]))
  const waiting = new Set(checked.flatMap(operationsOf))
  const xml = new Map<string, string>()
  return {
    verify: (exchange) => {
      const found = api.find(exchange.url) ?? api.find(named(exchange.url, services))
      const faults = answerFaults(api, found, exchange)
      if (faults.length > 0) throw new Error(`${told(exchange)}, and the document says otherwise:\n${listed(faults)}`)
      if (found !== undefined && isSuccess(exchange)) waiting.delete(operationName(methodOf(exchange), found.address))
      for (const [text, whose] of xmlIn(exchange)) xml.set(text, xml.get(text) ?? `${whose} of ${told(exchange)}`)
    },
    xmlFaults: async (schema) => {
      const faults = await schemaFaults(schema, [...xml.keys()])
      const found = [...xml.values()].map((whose, index) => ({ whose, faults: faults[index] as string[] }))
      return found.filter((each) => each.faults.length > 0).map((each) => `${each.whose}:\n${listed(each.faults)}`)
    },
    unanswered: () => [...waiting],
  }
}

const apis = new WeakMap<object, OpenApi>()

/** Returns one reader for a document, because compiling its schemas takes a second. */
function apiOf(document: object): OpenApi {
  const api = apis.get(document) ?? readOpenApi(document)
  apis.set(document, api)
  return api
}

/** The same address by the name that the document has. */
function named(url: string, services: readonly CheckedService[]): string {
  const byName = new Map(services.flatMap(({ service, names }) => names.map((name) => [name.toLowerCase(), service])))
  const [path = '', ...query] = url.split('?')
  return [path.replace(/[^/]+/g, (segment) => byName.get(segment.toLowerCase()) ?? segment), ...query].join('?')
}

function operationsOf(address: Address): string[] {
  return [...address.operations.keys()].map((method) => operationName(method, address))
}

function operationName(method: string, { path }: Address): string {
  return `${method} ${path}`
}

function told({ method, url, answer }: Exchange): string {
  return `${method} ${url.slice(0, 300)} was answered ${answer.statusCode}`
}

/** The first few: what is wrong with one record is wrong with each of a list. */
function listed(faults: readonly string[]): string {
  const rest = faults.length > FAULTS_SHOWN ? [`and ${faults.length - FAULTS_SHOWN} more`] : []
  return [...faults.slice(0, FAULTS_SHOWN), ...rest].map((fault) => `- ${fault}`).join('\n')
}

const FAULTS_SHOWN = 8

function xmlIn(exchange: Exchange): [text: string, whose: string][] {
  const { headers, body, isTolerated, answer } = exchange
  const isTaken = isSuccess(exchange) && !isTolerated
  return [
    ...(isXml(answer.headers['content-type']) && answer.body !== ''
      ? [[answer.body, 'the answer'] as [string, string]]
      : []),
    ...(isXml(headers['content-type']) && isTaken ? [[body, 'the request'] as [string, string]] : []),
  ]
}
