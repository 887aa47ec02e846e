import { shows } from '../../../access/applications/privileges.ts'
import type { Caller, Privileges } from '../../../engine/caller.ts'
import type { ValueField } from '../../../engine/definition/fields.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import type { Difference } from '../../../engine/recording/differences.ts'
import { labelOf } from '../../../foundation/texts/label.ts'
import { type Phrase, t, written } from '../../../foundation/texts/text.ts'
import { changedPart, isHtmlText, textOfHtml } from '../../../foundation/values/html-text.ts'
import { isCodedPath } from './codes.ts'
import type { Parts, Service } from './services.ts'

// What a change is in words: the path of a difference as the pages of its record name it, and its values as people read them.

/**
 * The name of a value, such as a status, at a path without the keys of items, or of the key of an item at the path of its list; null: the
 * value speaks for itself.
 */
export type NameOf = (path: string, value: NonNullable<Difference[1]>, refersTo: Resource | null) => Phrase | null

export const nameless: NameOf = () => null

/** For whom changes are put into words, who is shown no changes of other fields, and what names their values. */
export interface Reader {
  readonly caller: Caller
  readonly nameOf: NameOf
}

export function isShownTo(privileges: Privileges, field: ValueField | null): boolean {
  return field === null || shows(privileges, field)
}

const NOTHING = t('nothing')

/** A path without the keys of items. */
export function bareOf(path: string): string {
  return path.replaceAll(/\[.*?\]/g, '')
}

export interface Changed {
  readonly label: Phrase
  readonly before: Phrase | null
  /** Null: the label says all. */
  readonly after: Phrase | null
  /** The HTML that was and is stored, where the others say its words; null: they are all there is. */
  readonly source: { readonly before: string; readonly after: string } | null
}

/** A change in words: the field, and what became of it. None: the reader is not shown it. */
export function changeOf(service: Service | null, [path, before, after]: Difference, reader: Reader): Changed[] {
  const { caller, nameOf } = reader
  const keyText: KeyText = (key, named, list) => nameOf(named === null ? list : '', key, named) ?? key
  const { label, field, refersTo, item } = fieldAt(service, path, keyText)
  if (!isShownTo(caller.privileges, field)) return []
  // Neither is known of a field that nobody is shown.
  if (before === null && after === null) return [{ label, before: null, after: t('changed'), source: null }]
  if (item !== null) {
    // Of one without a text, the history has only that it was there.
    const stored = before ?? after
    const isKey = typeof item === 'string' && path.endsWith(`[${item}]`)
    const key = isKey && typeof stored === 'string' ? stored : item
    const what = before === null ? t('added') : t('removed')
    return [{ label: t('{item} {key}', { item: label, key }), before: null, after: what, source: null }]
  }
  const bare = bareOf(path)
  const text = (value: Difference[1]) => {
    if ((refersTo !== null || isCodedPath(bare)) && !value) return NOTHING
    return (value === null ? null : nameOf(bare, value, refersTo)) ?? textOf(value, field, caller.store)
  }
  const html = [before, after].map((value) => (typeof value === 'string' ? value : ''))
  if (html.some(isHtmlText)) return [{ label, ...changeOfHtml(html[0] ?? '', html[1] ?? '') }]
  return [{ label, before: text(before), after: text(after), source: null }]
}

/** What a person reads of a change of HTML: the words that differ, and the source for who wants it. */
function changeOfHtml(before: string, after: string): Omit<Changed, 'label'> {
  const source = { before, after }
  const part = changedPart(textOfHtml(before), textOfHtml(after))
  if (part.before === part.after) {
    // Of a long text the history has only the beginning, which may be the same.
    const isCut = [before, after].some((text) => text.endsWith('…'))
    return { before: null, after: isCut ? t('changed') : t('only how it looks was changed'), source }
  }
  return { before: part.before || NOTHING, after: part.after || NOTHING, source }
}

function textOf(value: Difference[1], field: ValueField | null, { timeZone, currency }: Caller['store']): Phrase {
  const stored = value ?? field?.default ?? ''
  if (stored === '') return NOTHING
  if (typeof stored === 'boolean') return stored ? t('Yes') : t('No')
  if (field?.isDay) return written(({ format }) => format.day(String(stored)))
  if (field?.kind === 'date') return written(({ format }) => format.date(new Date(String(stored)), timeZone))
  if (typeof stored !== 'number') return stored
  return written(({ format }) => (field?.isMoney ? format.unitPrice(stored, currency) : format.number(stored)))
}

interface Place {
  readonly label: Phrase
  /** Null: the definition no longer has it. */
  readonly field: ValueField | null
  /** The service whose record it names; null: none. */
  readonly refersTo: Resource | null
  /** What an item of a list is called that is meant as a whole; null: a value is meant. */
  readonly item: Phrase | null
}

/** What the key of an item is in words, which may be the number of a record. */
type KeyText = (key: string, refersTo: Resource | null, list: string) => Phrase

/** What a path of a difference names, with the keys of items. Null: of a service or list that the definitions no longer have. */
export function fieldAt(parts: Parts | null, path: string, keyText: KeyText = (key) => key): Place {
  const { values, lists } = parts ?? { values: [], lists: [] }
  const [, name = '', brackets, key = '', rest] = /^(\w+)(\[(.*?)\])?(?:\.(.*))?$/.exec(path) ?? []
  const list = lists.find((each) => each.name === name)
  if (brackets === undefined && (list === undefined || rest === undefined)) {
    const value = values.find((each) => each.path.join('.') === path)
    const label = value?.label ?? list?.label ?? labelOf(path)
    return { label, field: value?.field ?? null, refersTo: value?.leadsTo ?? value?.refersTo ?? null, item: null }
  }
  const named = list?.values.find(({ field }) => field.access === 'key')?.refersTo ?? null
  const one = list?.one ?? name
  const called = keyText(key, named, name)
  if (rest === undefined) return { label: one, field: null, refersTo: null, item: called }
  // Items without keys are counted.
  const place = list?.field.key === undefined ? String(Number(key) + 1) : called
  const item = brackets === undefined ? one : t('{item} {key}', { item: one, key: place })
  const inner = fieldAt(list ?? null, rest, keyText)
  return { ...inner, label: t('{item}: {field}', { item, field: inner.label }) }
}

/** The records that the keys of a difference's items name. */
export function keysIn(service: Service | null, path: string): { refersTo: Resource; id: number }[] {
  const found: { refersTo: Resource; id: number }[] = []
  fieldAt(service, path, (key, refersTo) => {
    if (refersTo !== null) found.push({ refersTo, id: Number(key) })
    return key
  })
  return found
}
