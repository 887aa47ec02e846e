import { createHash } from 'node:crypto'
import type { FastifyReply, FastifyRequest } from 'fastify'

/** Kept by browsers, and asked for again each time, so that a new version of the program shows at once. */
export function sendTagged(request: FastifyRequest, reply: FastifyReply, content: string | Buffer, type: string) {
  const etag = `"${createHash('sha256').update(content).digest('base64url').slice(0, 27)}"`
  reply.headers({ 'cache-control': 'no-cache', etag })
  if (request.headers['if-none-match'] === etag) return reply.code(304).send()
  return reply.type(type).send(content)
}
