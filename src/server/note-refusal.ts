import type { FastifyRequest } from 'fastify'

declare module 'fastify' {
  interface FastifyRequest {
    /** Set by `noteRefusal`. */
    refused: Refused | null
  }
}

/** Why a request was refused: without what the refusal repeats of the request. */
export interface Refused {
  readonly reason: string
  /** What the caller is not told. */
  readonly detail?: string | undefined
  /** The code of a protocol that has its own. */
  readonly error?: string | number
}

/** Records why the request was refused, for its line in the log. The first reason is kept. */
export function noteRefusal(request: FastifyRequest, refused: Refused): void {
  request.refused ??= refused
}
