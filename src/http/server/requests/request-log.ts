import { isIP } from 'node:net'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import type { Metrics } from '../figures/metrics.ts'
import { cutOff } from './slow-peers.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by authentication, for the log and the metrics. */
    caller: Caller | null
    /** The operation, at an address that serves several such as cartAPI's, for the log. Empty: none, or unknown. */
    operation: string
  }
  interface FastifyInstance {
    /** Resolves when no request is in progress. */
    drained(): Promise<void>
    /** What the metrics count the requests of this scope as. */
    requestKind: string
  }
}

/** Counts requests and logs one line for each, with the safe part of its address (`loggablePath`): queries hold e-mails and tokens. */
export function noteRequests(app: FastifyInstance, { answered, requestsInHand }: Metrics): void {
  let inHand = 0
  let waiting: (() => void)[] = []
  app.decorateRequest('caller', null)
  app.decorateRequest('operation', '')
  app.decorateRequest('refused', null)
  app.decorate('requestKind', 'web')
  app.decorate('drained', () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    if (inHand === 0) resolve()
    else waiting.push(resolve)
    return promise
  })
  app.addHook('onRequest', (_request, reply, done) => {
    requestsInHand.set(++inHand)
    reply.raw.once('close', () => {
      requestsInHand.set(--inHand)
      if (inHand > 0) return
      for (const resolve of waiting) resolve()
      waiting = []
    })
    done()
  })
  app.addHook('onResponse', (request, reply, done) => {
    const { statusCode: status, elapsedTime } = reply
    const line = lineOf(request)
    // Files take as long as they are large.
    const kind = /import|export|csv/.test(line.route) ? 'files' : request.server.requestKind
    answered({ method: line.method, route: line.route }, kind, status, elapsedTime / 1_000)
    request.log.info({ ...line, status, ms: Math.round(elapsedTime), ...request.refused }, 'request')
    done()
  })
  app.addHook('onRequestAbort', (request, done) => {
    if (!cutOff.has(request.raw)) request.log.info(lineOf(request), 'request aborted by the client')
    done()
  })
}

function lineOf(request: FastifyRequest) {
  const { caller, operation } = request
  return {
    method: request.method,
    path: loggablePath(request),
    // The pattern, of which there are few: an unknown address must not become a label of its own.
    route: request.routeOptions.url ?? 'unmatched',
    // A trusted proxy may forward arbitrary text as the address.
    ip: isIP(request.ip) === 0 ? '' : request.ip,
    ...(operation !== '' && { operation }),
    ...(caller && { storeId: caller.store.id }),
    ...(caller?.application && { applicationId: caller.application.id }),
  }
}

/**
 * Returns a request's path for logs, with parameters only where they are numbers of at most ten digits. Any other text
 * may be a misplaced key or password, so the route pattern is returned with the valid numbers filled in. Empty: no
 * route.
 */
export function loggablePath({ url, routeOptions, params }: FastifyRequest): string {
  const given = (params ?? {}) as Readonly<Record<string, string | undefined>>
  const filled = (routeOptions.url ?? '').replace(/:(\w+)/g, (placeholder, name: string) => {
    const value = given[name] ?? ''
    return /^\d{1,10}$/.test(value) ? value : placeholder
  })
  const [path = ''] = url.split(/[?#]/, 1)
  return path.toLowerCase() === filled.toLowerCase() ? path : filled
}
