import type { Readable } from 'node:stream'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { callerKey } from '../engine/caller.ts'
import { bytesInFlight, type Holding } from '../process/bytes-in-flight.ts'
import { networkOf } from '../values/address-blocks.ts'

const { uncountedMax } = bytesInFlight

/** By body, if it may be counted: a WeakMap with an entry for each request would cost a fifth of the garbage collection. */
const owners = new WeakMap<Readable, { readonly request: FastifyRequest; readonly reply: FastifyReply }>()

/** By request. Released when the answer has left the process, or the connection is gone. */
const holdings = new WeakMap<FastifyRequest, Holding>()

/** Lets `holdingOfBody` find the request of a body. */
export function countBytesInFlight(app: FastifyInstance): void {
  app.addHook('preParsing', (request, reply, payload, done) => {
    if (mayBeCounted(request)) owners.set(payload as Readable, { request, reply })
    done(null, payload)
  })
}

function mayBeCounted({ headers }: FastifyRequest): boolean {
  const length = headers['content-length']
  return length === undefined ? headers['transfer-encoding'] !== undefined : Number(length) > uncountedMax
}

/** Counts bodies of a request; undefined for a stream that is not the body of one. */
export function holdingOfBody(payload: Readable): Holding | undefined {
  const owner = owners.get(payload)
  return owner && holdingOf(owner.request, owner.reply)
}

/** Counts the bytes of an answer, until its last byte has left the process or its client was too slow. */
export function countAnswer(request: FastifyRequest, reply: FastifyReply, bytes: number): void {
  if (bytes <= uncountedMax) return
  holdingOf(request, reply).send(bytes)
  request.server.watchReader(request, reply, bytes)
}

function holdingOf(request: FastifyRequest, { raw }: FastifyReply): Holding {
  const known = holdings.get(request)
  if (known !== undefined) return known
  const { caller, ip } = request
  const holding = bytesInFlight.open(caller ? callerKey(caller) : networkOf(ip))
  holdings.set(request, holding)
  if (raw.closed || raw.destroyed) holding.close()
  else raw.once('close', holding.close)
  return holding
}
