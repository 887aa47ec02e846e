import type { FastifyRequest } from 'fastify'

/** Whether the answer is for a person: browsers name text/html, programs do not. */
export function wantsHtml({ headers }: FastifyRequest): boolean {
  return headers.accept?.toLowerCase().includes('text/html') ?? false
}
