import type { FastifyRequest } from 'fastify'

/** Whether the request comes from a browser, which accepts text/html. Programs do not. */
export function wantsHtml({ headers }: FastifyRequest): boolean {
  return headers.accept?.toLowerCase().includes('text/html') ?? false
}
