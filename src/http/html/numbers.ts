import type { FastifyRequest } from 'fastify'
import { type Format, formatOf } from '../../foundation/texts/format.ts'
import { type NumberKind, type NumberWriting, readTyped } from '../../foundation/values/typed-number.ts'
import { refusedFields } from './page-routes.ts'
import { type Form, isJson, languageFor, textIn } from './request.ts'

/** How somebody writes numbers, and the currency of the store of whose money they write. */
export type Writing = NumberWriting & Pick<Format, 'typed'>

/** How numbers are written in the fields of a form, shown and sent back: as its reader writes them. JSON is of programs, with a point. */
export function writingOf(request: FastifyRequest): Writing & Format {
  const format = isJson(request) ? formatOf('en-US') : languageFor(request).format
  const person = request.session?.person
  return { ...format, currencyCode: person?.kind === 'merchant' ? person.store.currency : '' }
}

/** Returns the text of a form's number as programs write it, for a definition to read. Throws (400, naming the field) if it is refused. */
export function numberText(form: Form, name: string, writing: Writing, kind?: NumberKind): string {
  const { text, problem } = readTyped(textIn(form, name), writing, kind)
  if (text === null || problem !== '') throw refusedFields([{ field: name, problem }])
  return text
}

/** Returns the number of a form's field; null: nothing. Throws likewise. */
export function numberIn(form: Form, name: string, writing: Writing, kind?: NumberKind): number | null {
  const text = numberText(form, name, writing, kind)
  return text === '' ? null : Number(text)
}
