import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { CallLog } from '../applications/call-log.ts'
import type { Caller } from '../engine/caller.ts'
import type { Body, Endpoint, Operation } from '../engine/endpoints.ts'
import { readId } from '../engine/filters.ts'
import { servedResources } from '../registry.ts'
import { encodedTag } from '../server/compression.ts'
import { sendOptions } from '../server/cors.ts'
import { resultItem } from '../values/result-item.ts'
import type { Secrets } from '../values/secrets.ts'
import { type AdmissionServices, admission, allowedMethods, httpsRule, methodOf } from './admission.ts'
import { commonHeaders, sendAnswer } from './answer.ts'
import { readTaken, receiveBodies } from './body.ts'
import { logCalls } from './call-log.ts'
import { endpointsOf } from './endpoints.ts'
import { answerFailure } from './failures.ts'
import { readQuery } from './query.ts'
import { recordSchema } from './record-schema.ts'

export interface RestServices extends AdmissionServices {
  config: AdmissionServices['config'] & { readonly restPrefixes: readonly string[] }
  callLog: Pick<CallLog, 'record'>
  secrets: Secrets
}

const versions = ['v1', 'v2']

/**
 * Registers the REST services (contract §4.1): every service of the registry under every prefix, in both versions, and the XML
 * Schema of their records.
 */
export async function rest(app: FastifyInstance, services: RestServices): Promise<void> {
  logCalls(app, services.callLog)
  recordSchema(app)
  for (const prefix of services.config.restPrefixes) {
    app.register(async (scope) => serve(scope, services), { prefix })
  }
}

function serve(app: FastifyInstance, services: RestServices): void {
  app.addHook('onRequest', async (_request, reply) => {
    reply.headers(commonHeaders)
  })
  app.addHook('onRequest', httpsRule(services))
  app.addHook('onSend', tagEncoding)
  app.setErrorHandler(answerFailure)
  receiveBodies(app)
  for (const resource of servedResources) {
    for (const endpoint of endpointsOf(resource)) {
      const { root = resource.service } = endpoint
      const names = endpoint.root === undefined ? resource.names : [root]
      for (const version of versions) {
        const route = `/${version}/${root}${endpoint.path}`
        for (const name of names) {
          addEndpoint(app, services, { url: `/${version}/${name}${endpoint.path}`, route, endpoint })
        }
      }
    }
  }
  addUnknownAddresses(app)
}

/** A compressed answer has an entity tag of its own. */
async function tagEncoding(_request: FastifyRequest, reply: FastifyReply): Promise<void> {
  const { etag, 'content-encoding': encoding } = reply.getHeaders()
  if (typeof etag === 'string' && (encoding === 'br' || encoding === 'gzip')) {
    reply.header('etag', encodedTag(etag, encoding))
  }
}

/** Registers all methods, so that the refusal of one that the address does not take names those that it does. */
function addEndpoint(
  app: FastifyInstance,
  services: RestServices,
  { url, route, endpoint }: { url: string; route: string; endpoint: Endpoint },
): void {
  const allowed = allowedMethods(endpoint.operations)
  app.route({
    method: app.supportedMethods,
    url,
    onRequest: [
      // A preflight carries no credentials, so it is answered before authentication and counts in no bucket.
      async ({ method }, reply) => (method === 'OPTIONS' ? sendOptions(reply, allowed) : undefined),
      admission(services, endpoint),
    ],
    handler: async (request, reply) => {
      const { caller, params, body, headers, log, url } = request
      const method = methodOf(request)
      const operation = endpoint.operations[method] as Operation
      const answer = await operation.run({
        caller: caller as Caller,
        method,
        route,
        params: params as Readonly<Record<string, string>>,
        ...identifiersIn(endpoint, params as Readonly<Record<string, string>>),
        records: operation.takes ? readTaken((body ?? null) as Body | null, operation.takes) : [],
        query: readQuery(url),
        headers,
        body: (body ?? null) as Body | null,
        secrets: services.secrets,
        log,
      })
      return sendAnswer(request, reply, answer, services.config.publicUrl)
    },
  })
}

/** Throws `bad-request` that names the parameter. */
function identifiersIn({ params }: Endpoint, given: Readonly<Record<string, string>>) {
  const read = (name: 'id' | 'itemId') => {
    const { [name]: parameter } = params
    const { [name]: text = '' } = given
    if (parameter === undefined || parameter.min === null) return text
    return readId(text, parameter.name, parameter.min, parameter.max)
  }
  return { id: Number(read('id')), itemId: read('itemId') }
}

/** Answers unknown addresses with an array, because an empty 404 means that a record does not exist. */
function addUnknownAddresses(app: FastifyInstance): void {
  const refuse = async (request: FastifyRequest, reply: FastifyReply) => {
    // Lets a web page send its request and read the refusal.
    if (request.method === 'OPTIONS') return sendOptions(reply, 'GET, HEAD, POST, PUT, DELETE')
    const { '*': path = '' } = request.params as { readonly '*'?: string }
    const items = [resultItem('Error', '', 404, `No such address: ${expectedAt(path)}`)]
    return sendAnswer(request, reply, { kind: 'results', status: 404, items })
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

const ownRoots = servedResources.flatMap((resource) => endpointsOf(resource).flatMap(({ root }) => root ?? []))
const serviceNames = [...servedResources.map(({ service }) => service), ...ownRoots]
const knownNames = new Set(
  [...servedResources.flatMap(({ names }) => names), ...ownRoots].map((name) => name.toLowerCase()),
)
