import type { IncomingHttpHeaders } from 'node:http'
import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { callerKey } from '../../../engine/caller.ts'
import { bytesInFlight, type Holding } from '../../../foundation/process/bytes-in-flight.ts'
import { networkOf } from '../../../foundation/values/address-blocks.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whether it waited for its body or for a turn since it was admitted: whether it still is has to be looked at again. */
    hasWaited: boolean
  }
}

const { uncountedMax } = bytesInFlight.bounds

/** By body, if it may be counted: entries with young keys make collecting young objects dear. */
const replies = new WeakMap<Readable, FastifyReply>()

/** By request. Released when the answer has left the process, or the connection is gone. */
const holdings = new WeakMap<FastifyRequest, Holding>()

/** Lets `holdingOfBody` find the request of a body, and notes whether the body has still to come when the request has been admitted. */
export function countBytesInFlight(app: FastifyInstance): void {
  app.decorateRequest('hasWaited', false)
  app.addHook('preParsing', (request, reply, payload, done) => {
    // What comes in one piece with the headers is read with them. Undefined for a request that no connection brought, as in tests.
    const { complete } = request.raw as { readonly complete?: boolean }
    request.hasWaited = complete === false && bodyLength(request.headers) > 0
    if (bodyLength(request.headers) > uncountedMax) replies.set(payload as Readable, reply)
    done(null, payload)
  })
}

/** What the headers of a request declare: 0 without a body, Infinity for one of unknown length. */
export function bodyLength({ 'content-length': length, 'transfer-encoding': coding }: IncomingHttpHeaders): number {
  return length === undefined && coding !== undefined ? Number.POSITIVE_INFINITY : Number(length ?? 0)
}

/** Counts bodies of a request; undefined for a stream that is not the body of one. */
export function holdingOfBody(payload: Readable): Holding | undefined {
  const reply = replies.get(payload)
  return reply && holdingOf(reply)
}

/** Counts the bytes of an answer, until its last byte has left the process or its client was too slow. */
export function countAnswer(reply: FastifyReply, bytes: number): void {
  if (bytes <= uncountedMax) return
  holdingOf(reply).send(bytes)
  reply.server.watchReader(reply.request, reply, bytes)
}

function holdingOf({ request, raw }: FastifyReply): Holding {
  const known = holdings.get(request)
  if (known !== undefined) return known
  const { caller, ip } = request
  const holding = bytesInFlight.open(caller ? callerKey(caller) : networkOf(ip))
  holdings.set(request, holding)
  if (raw.closed || raw.destroyed) holding.close()
  else raw.once('close', holding.close)
  return holding
}
