import type { Format } from '../../foundation/texts/format.ts'
import { type NumberKind, type NumberWriting, readTyped } from '../../foundation/values/typed-number.ts'
import { refusedFields } from './page-routes.ts'
import { type Form, textIn } from './request.ts'

/** How somebody writes numbers, and the currency of the store of whose money they write. */
export type Writing = NumberWriting & Pick<Format, 'typed'>

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
