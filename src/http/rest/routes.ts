import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CallLog } from '../../access/applications/calls/call-log.ts'
import type { Caller, Method } from '../../engine/caller.ts'
import { refusalItem } from '../../engine/changing/requests.ts'
import type { Answer, Body, Call, Endpoint, Operation, Query } from '../../engine/definition/endpoints.ts'
import { readId } from '../../engine/definition/filters.ts'
import type { Handling } from '../../engine/definition/handling.ts'
import { PastTheEnd } from '../../engine/reading/paging.ts'
import { isPrefix } from '../../foundation/process/setting-forms.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { tellingOf } from '../../foundation/values/preferences.ts'
import type { Secrets } from '../../foundation/values/secrets.ts'
import type { PictureServices } from '../../shop/pictures/pictures.ts'
import { servedResources } from '../../shop/registry.ts'
import { encodedTag } from '../server/requests/compression.ts'
import { sendOptions } from '../server/requests/headers.ts'
import { plainHttpFault } from '../server/requests/plain-http.ts'
import { type AdviceServices, settingAdvice } from '../server/requests/setting-advice.ts'
import { type AdmissionServices, admission, allowedMethods, logCalls, methodOf, secretsOf } from './admission.ts'
import { answerFailure, commonHeaders, isRefusal, sendAnswer } from './answer.ts'
import { readTaken, receiveBodies } from './body.ts'
import { endpointsOf, placesAt } from './endpoints.ts'
import { handlingOf, type KnownParameters, knownParameters, reportIgnored } from './handling.ts'
import { queryParameters } from './openapi/parameters.ts'
import { recordOfPicture } from './picture-body.ts'
import { refusedBody } from './refused-body.ts'
import { recordSchema } from './xsd.ts'

export interface RestServices extends AdmissionServices, AdviceServices, PictureServices {
  config: AdviceServices['config'] & Call['config'] & { readonly restPrefixes: readonly string[] }
  callLog: Pick<CallLog, 'record'>
  secrets: Secrets
}

const versions = ['v1', 'v2']

/**
 * Registers every service of the registry under every prefix, in both versions (contract §4.1), and `/records.xsd`. `advisePrefix`
 * is that of `prefixAdvice`.
 */
export async function rest(
  app: FastifyInstance,
  services: RestServices,
  advisePrefix: (request: FastifyRequest) => string,
): Promise<void> {
  app.decorate('requestKind', 'rest')
  logCalls(app, services.callLog)
  recordSchema(app)
  for (const prefix of services.config.restPrefixes) {
    app.register(async (scope) => serve(scope, services, advisePrefix), { prefix })
  }
}

function serve(app: FastifyInstance, services: RestServices, advisePrefix: (request: FastifyRequest) => string): void {
  app.addHook('onRequest', async (request, reply) => {
    reply.headers(commonHeaders)
    const fault = plainHttpFault(services.config.publicUrl, request)
    if (fault !== null) throw new StoreFailure('insecure-transport', fault)
  })
  app.addHook('onSend', tagEncoding)
  app.setErrorHandler(answerFailure(services.config.publicUrl))
  receiveBodies(app)
  for (const { resource, endpoint, known } of addresses) {
    const { root = resource.service } = endpoint
    const names = endpoint.root === undefined ? resource.names : [root]
    for (const version of versions) {
      const route = `/${version}/${root}${endpoint.path}`
      for (const name of names) {
        addEndpoint(app, services, { url: `/${version}/${name}${endpoint.path}`, version, route, endpoint, known })
      }
    }
  }
  addUnknownAddresses(app, advisePrefix)
}

/** A compressed answer has an entity tag of its own. */
async function tagEncoding(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { etag, 'content-encoding': encoding } = reply.getHeaders()
  if (typeof etag === 'string' && (encoding === 'br' || encoding === 'gzip')) {
    reply.header('etag', encodedTag(etag, encoding))
  }
}

interface Served {
  readonly url: string
  readonly version: string
  readonly route: string
  readonly endpoint: Endpoint
  /** The parameters that the address knows, by method. */
  readonly known: ReadonlyMap<Method, KnownParameters>
}

/** Registers all methods, so that the refusal of one that the address does not take names those that it does. */
function addEndpoint(app: FastifyInstance, services: RestServices, served: Served): void {
  const { operations } = served.endpoint
  const allowed = allowedMethods(operations)
  const admit = admission(services, served.endpoint)
  const takesPicture = (['POST', 'PUT'] as const).find((method) => operations[method]?.takes?.takesPicture)
  app.route({
    method: app.supportedMethods,
    url: served.url,
    config: takesPicture ? { takesPicture } : {},
    onRequest: [
      // A preflight carries no credentials, so it is answered before authentication and counts in no bucket.
      async ({ method }, reply) => (method === 'OPTIONS' ? sendOptions(reply, allowed) : undefined),
      admit,
    ],
    handler: async (_request, reply) =>
      sendAnswer(reply, await answer(services, served, admit, reply), services.config.publicUrl),
  })
}

async function answer(
  services: RestServices,
  { version, route, endpoint, known }: Served,
  admit: ReturnType<typeof admission>,
  reply: FastifyReply,
): Promise<Answer> {
  const { request } = reply
  const { secrets, config } = services
  const method = methodOf(request)
  const operation = endpoint.operations[method] as Operation
  const { format } = (request.body ?? { format: 'json' }) as Pick<Body, 'format'>
  const query = readQuery(request.url)
  const handling = handlingOf(request, reply, { ...operation, query, known: known.get(method) as KnownParameters })
  const records = await takeRecords(services, request, operation, handling)
  if (request.hasWaited) await admit(request, reply)
  const { caller, headers, log } = request
  const params = request.params as Readonly<Record<string, string>>
  const call = {
    caller: { ...(caller as Caller), ...tellingOf(headers.prefer), isGone: () => reply.raw.destroyed },
    method,
    route,
    params,
    ...identifiersIn(endpoint, params),
    records,
    format,
    query,
    handling,
    headers,
    body: (request.body ?? null) as Body | null,
    secrets,
    config,
    log,
  }
  try {
    const answered = await operation.run(call)
    if (isRefusal(answered)) keepRefused(request, operation, records)
    return answered
  } catch (error) {
    keepRefused(request, operation, records)
    // Clients of v2 end their pages at a 404, those of v1 at the 400 and its text (rest-resources §0.5).
    if (method !== 'GET' || version === 'v1' || !(error instanceof PastTheEnd)) throw error
    request.refusal = error.message
    return { kind: 'nothing' }
  } finally {
    if (handling.ignored.length > 0) reportIgnored(request, reply, handling.ignored)
  }
}

/** Keeps the records of a refused request for the log of calls, if the merchant allows that. */
function keepRefused(request: FastifyRequest, { takes }: Operation, records: readonly unknown[]): void {
  if (!request.keepsBody || takes === undefined || records.length === 0) return
  request.refusedBody = refusedBody(records, takes.type, secretsOf(request))
}

/** Afterwards only an Idempotency-Key needs the text, which may be long, and the changes may take long. */
async function takeRecords(
  services: RestServices,
  request: FastifyRequest,
  { takes }: Operation,
  { repeat }: Handling,
) {
  const { headers } = request
  const caller = request.caller as Caller
  const body = (request.body ?? null) as Body | null
  const read = async () => (takes ? readTaken(body, takes, caller, repeat) : [])
  const records = body?.picture ? [await recordOfPicture(services, caller, body.picture, takes)] : await read()
  if (headers['idempotency-key'] === undefined) request.body = undefined
  return records
}

/** Throws a 400 that names the parameter. */
function identifiersIn({ params }: Endpoint, given: Readonly<Record<string, string>>) {
  const read = (name: 'id' | 'itemId') => {
    const { [name]: parameter } = params
    const { [name]: text = '' } = given
    if (parameter === undefined || parameter.min === null) return text
    return readId(text, parameter.name, parameter.min, parameter.max)
  }
  return { id: Number(read('id')), itemId: read('itemId') }
}

/**
 * The query parameters of an address: names in lower case, parameters without a value omitted (rest-resources §0.2).
 * Throws a 400 for invalid percent-encoding.
 */
function readQuery(url: string): Query {
  const [, text = ''] = /\?(.*)/s.exec(url) ?? []
  const query = new Map<string, string>()
  const repeated = new Map<string, string[]>()
  for (const parameter of text.split('&')) {
    const equals = parameter.indexOf('=')
    const value = equals === -1 ? '' : parameter.slice(equals + 1)
    if (value === '') continue
    const name = decode(parameter.slice(0, equals), '').toLowerCase()
    const read = decode(value, name)
    const first = query.get(name)
    const earlier = repeated.get(name)
    if (first === undefined) query.set(name, read)
    else if (earlier === undefined) repeated.set(name, [first, read])
    else earlier.push(read)
  }
  return Object.assign(query, { repeated })
}

function decode(text: string, field: string): string {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    const what = field === '' ? 'The name of a query parameter' : field
    throw new StoreFailure('malformed-request', `${what} is not validly percent-encoded`, { field })
  }
}

/** Answers unknown addresses with an array, because an empty 404 means that a record does not exist. */
function addUnknownAddresses(app: FastifyInstance, advisePrefix: (request: FastifyRequest) => string): void {
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    // Lets a web page send its request and read the refusal.
    if (request.method === 'OPTIONS') return sendOptions(reply, 'GET, HEAD, POST, PUT, DELETE')
    const { '*': path = '' } = request.params as { readonly '*'?: string }
    const message = `No such address: ${expectedAt(path)}${advisePrefix(request)}`
    const items = [refusalItem(new StoreFailure('unknown-address', message))]
    return sendAnswer(reply, { kind: 'results', status: 404, items }, '')
  }
  for (const url of ['', '/*']) {
    app.route({ method: app.supportedMethods, url, onRequest: refuse, handler: refuse })
  }
}

/** Describes what the address should have been. `path` follows the prefix. */
function expectedAt(path: string): string {
  const [version = '', service = ''] = path.toLowerCase().split('/')
  if (!versions.includes(version) || knownNames.has(service)) {
    return 'expected /v1 or /v2, the name of a service, an identifier'
  }
  return `the services are ${serviceNames.join(', ')}`
}

/** Returns the function for a request of an unknown address, which may have a prefix that REST_PREFIXES lacks (`settingAdvice`). */
export function prefixAdvice(services: Pick<RestServices, 'config' | 'now'>): (request: FastifyRequest) => string {
  const served = services.config.restPrefixes.map((prefix) => prefix.toLowerCase())
  const advise = settingAdvice(services, 'REST_PREFIXES')
  return (request) => {
    const [path = ''] = request.url.replace(/\/{2,}/g, '/').split(/[?#]/, 1)
    const [, prefix = '', service = ''] = /^(\/.+?)\/v[12]\/([^/]+)/i.exec(path) ?? []
    const isOurs = knownNames.has(service.toLowerCase()) && isPrefix(prefix) && !served.includes(prefix.toLowerCase())
    return isOurs ? advise(request, prefix) : ''
  }
}

/** The same under every prefix. */
const addresses = servedResources.flatMap((resource) => {
  const endpoints = endpointsOf(resource)
  return endpoints.map((endpoint) => {
    const places = placesAt(resource, endpoints, endpoint)
    const known = new Map(places.map((place) => [place.method, knownParameters(queryParameters(place))]))
    return { resource, endpoint, known }
  })
})
const ownRoots = new Set(addresses.flatMap(({ endpoint: { root } }) => root ?? []))
const serviceNames = [...servedResources.map(({ service }) => service), ...ownRoots]
const knownNames = new Set(
  [...servedResources.flatMap(({ names }) => names), ...ownRoots].map((name) => name.toLowerCase()),
)
