import type { FastifyRequest } from 'fastify'
import { formOf, isForm } from '../../html/forms.ts'

/** What was sent: the fields of a form, or the JSON body. */
export function sentBy(request: FastifyRequest): unknown {
  return isForm(request) ? formOf(request) : request.body
}

/** One member of what was sent, or of a query, where it is a text; else an empty one. */
export function textIn(sent: unknown, name: string): string {
  const value = typeof sent === 'object' && sent !== null ? (sent as Record<string, unknown>)[name] : undefined
  return typeof value === 'string' ? value : ''
}
