import type { Caller } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { isId } from '../../../foundation/values/int32.ts'
import { valueIn } from '../../../foundation/values/json.ts'
import { refusedFields } from '../../html/page-routes.ts'
import { type Form, textIn } from '../../html/request.ts'
import type { Wire } from '../frame/pages.ts'
import { placesIn } from './form.ts'
import { readNames, readTitles } from './names.ts'
import { findMatches, type Matches } from './search.ts'
import { seenBy } from './seen.ts'
import { type Parts, type Section, type Service, targetService } from './services.ts'
import { itemsIn } from './values.ts'

/** Names that a page reads of each service. Further references are shown as numbers only. */
const NAMED_MAX = 100
/** Fields of a form in which words stand for a number. */
const LOOKED_UP_MAX = 20

interface Reference {
  readonly refersTo: Resource
  readonly id: number
}

/** The name of the record that a field names by this number; empty: none is known. */
export type NameOf = (refersTo: Resource, id: unknown) => string

/** Reads the names of records that others refer to. */
export async function namesFor(caller: Caller, references: Iterable<Reference>): Promise<NameOf> {
  const idsOf = new Map<Resource, Set<number>>()
  for (const { refersTo, id } of references) {
    const ids = idsOf.get(refersTo) ?? new Set()
    if (isId(id) && ids.size < NAMED_MAX) ids.add(id)
    if (ids.size > 0) idsOf.set(refersTo, ids)
  }
  const read = [...idsOf].map(async ([refersTo, ids]) => {
    const target = seenTarget(caller, refersTo)
    // What a record is searched by is more than what it is called.
    const isCalled = target.called.length > 0 || target.number.length > 0
    const read = isCalled ? readTitles : readNames
    return [refersTo, await read(caller, target, [...ids])] as const
  })
  const names = new Map(await Promise.all(read))
  return (refersTo, id) => names.get(refersTo)?.get(Number(id)) ?? ''
}

function seenTarget({ privileges }: Caller, refersTo: Resource): Service {
  return seenBy(privileges, targetService(refersTo))
}

/** The records that a record, or an item of a list, names. */
export function* referencesIn({ values, lists }: Parts, record: Wire): Generator<Reference> {
  for (const { path, refersTo, leadsTo = refersTo } of values) {
    if (leadsTo !== null) yield { refersTo: leadsTo, id: Number(valueIn(record, path)) }
  }
  for (const list of lists) for (const item of itemsIn(record, list)) yield* referencesIn(list, item)
}

/** A field of a form that names a record. */
interface ReferenceField {
  readonly name: string
  readonly refersTo: Resource
}

function fieldsIn({ values, list }: Pick<Section, 'values' | 'list'>, form: Form): Generator<ReferenceField> {
  return fieldsOf({ values, lists: list === null ? [] : [list] }, form, '')
}

function* fieldsOf({ values, lists }: Parts, form: Form, prefix: string): Generator<ReferenceField> {
  for (const { path, refersTo } of values) if (refersTo !== null) yield { name: prefix + path.join('.'), refersTo }
  for (const list of lists) {
    const name = prefix + list.name
    for (const place of placesIn(form, name)) yield* fieldsOf(list, form, `${name}.${place}.`)
  }
}

export function formReferences(section: Pick<Section, 'values' | 'list'>, form: Form): Reference[] {
  return [...fieldsIn(section, form)].map(({ name, refersTo }) => ({
    refersTo,
    id: Number(/^\d+$/.exec(textIn(form, name).trim())?.[0] ?? 0),
  }))
}

/**
 * Finds the records that a form names in words, and for `asked` also by number. `NAME.choice` is what somebody chose
 * of several records that fit.
 */
export async function lookUp(
  caller: Caller,
  section: Pick<Section, 'values' | 'list'>,
  typed: Form,
  asked = '',
): Promise<{ form: Form; choices: ReadonlyMap<string, Matches> }> {
  /** With numbers in place of typed words that match exactly one record. */
  const form: Record<string, string | string[]> = { ...typed }
  /** What other words fit, by the field's name. */
  const choices = new Map<string, Matches>()
  let count = 0
  for (const { name, refersTo } of fieldsIn(section, typed)) {
    const chosen = textIn(typed, `${name}.choice`)
    delete form[`${name}.choice`]
    if (chosen !== '') form[name] = chosen
    const text = textIn(form, name).trim()
    if (name !== asked && /^\d*$/.test(text)) continue
    if (chosen !== '' && name === asked) continue
    if (++count > LOOKED_UP_MAX) break
    const found = await findMatches(caller, seenTarget(caller, refersTo), text)
    const [only] = found.matches
    if (only !== undefined && found.matches.length === 1) form[name] = String(only.id)
    else choices.set(name, found)
  }
  return { form, choices }
}

/** The form with a number for each record that it names. Throws for words that none or several fit. */
export async function withNumbers(
  caller: Caller,
  section: Pick<Section, 'values' | 'list'>,
  typed: Form,
): Promise<Form> {
  const { form, choices } = await lookUp(caller, section, typed)
  const faults = [...choices].map(([field, { matches }]) => ({
    field,
    problem: matches.length === 0 ? 'names no record that exists' : 'fits several records; choose one of them',
  }))
  if (faults.length > 0) throw refusedFields(faults)
  return form
}
