import type { FastifyRequest } from 'fastify'
import { allows, shows } from '../../../access/applications/privileges.ts'
import type { Caller, Privileges } from '../../../engine/caller.ts'
import type { ValueField } from '../../../engine/definition/fields.ts'
import { refused } from '../../../engine/definition/refused.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { getRecord } from '../../../engine/reading/read.ts'
import type { Difference } from '../../../engine/recording/differences.ts'
import {
  COUNTED_MAX,
  findEntry,
  type HistoryEntry,
  type HistoryGroup,
  type HistoryPage,
  listChangesWith,
  listHistory,
  listStoreHistory,
  type RecordName,
} from '../../../engine/recording/history.ts'
import { labelOf } from '../../../foundation/texts/label.ts'
import { english } from '../../../foundation/texts/language.ts'
import { type Phrase, type Text, t, written } from '../../../foundation/texts/text.ts'
import { readDate } from '../../../foundation/values/dates.ts'
import { changedPart, isHtmlText, textOfHtml } from '../../../foundation/values/html-text.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { isEntryWhole, putEntryBack } from '../../../shop/csv/undo/back.ts'
import type { HtmlPage } from '../../html/page.ts'
import { type CallerServices, merchantCaller, textIn } from '../../html/request.ts'
import { readIds } from '../../server/json/parameters.ts'
import { isCodedPath, readCodes } from './codes.ts'
import { readTitles } from './names.ts'
import { namesFor } from './references.ts'
import { mayRead, seenBy } from './seen.ts'
import { services as allServices, type List, type Service, type Value } from './services.ts'

/** Entries of a page, and of a record's own page. */
const PAGE_ENTRIES = 50
const NEWEST_ENTRIES = 5

/** What the template `history.eta` shows. */
export interface History {
  readonly rows: readonly HistoryRow[]
  /** The `before` of the next page. */
  readonly next: number | null
}

type HistoryRow = ReturnType<typeof rowOf>

/**
 * The name of a value, such as a status, at a path without the keys of items, or of the key of an item at the path of its list; null: the
 * value speaks for itself.
 */
type NameOf = (path: string, value: NonNullable<Difference[1]>, refersTo: Resource | null) => Phrase | null

const nameless: NameOf = () => null

/** Returns the newest changes of these records. */
export async function newestHistory(
  caller: Caller,
  records: readonly RecordName[],
  { limit = NEWEST_ENTRIES, ...showing }: { limit?: number } & Showing = {},
): Promise<History> {
  const found = await listHistory(caller, records, { before: null, limit })
  return shown(caller, found, showing)
}

/** The page of all changes of a record, which may be gone. */
export async function historyPage(
  request: FastifyRequest,
  services: CallerServices,
  service: Service,
  id: number,
): Promise<HtmlPage> {
  const caller = merchantCaller(request, services)
  const records = [{ recordType: service.resource.table, recordId: id }]
  const before = beforeIn(request)
  const page = await listHistory(caller, records, { before, limit: PAGE_ENTRIES })
  // Refuses what there never was.
  if (page.entries.length === 0) await getRecord(caller, service.resource, id)
  const names = await titlesOf(caller, records)
  const record =
    names.get(service.resource.table)?.get(id) || t('{record} {id}', { record: service.oneTitle, id: String(id) })
  return {
    template: '/pages/records/history-page',
    title: t('History of {record}', { record }),
    data: { service, id, record, history: await shown(caller, page), isFirst: before === null },
  }
}

/**
 * The page of all changes of the store's records, by whom, when, of which service and field the address says. What one request or one
 * import has changed is one line; `change` names the last entry of one, whose records are then shown.
 */
export async function storeHistoryPage(request: FastifyRequest, services: CallerServices): Promise<HtmlPage> {
  const caller = merchantCaller(request, services)
  const asked = askedIn(request, caller)
  const before = beforeIn(request)
  const { recordTypes, typed } = asked
  const filters = new URLSearchParams(Object.entries(typed).filter(([, text]) => text !== ''))
  const change = textIn(request.query, 'change')
  const data = {
    isFirst: before === null,
    services: asked.readable.filter(({ resource }) => resource.methods.some((method) => method !== 'GET')),
    fields: asked.service === null ? [] : fieldsFor(asked.service),
    newer: `/admin/history?${filters}`,
  }
  const page = { template: '/pages/records/store-history', title: t('History'), values: typed }
  const olderThan = (next: number | null, more: Record<string, string> = {}) =>
    next === null
      ? null
      : `/admin/history?${new URLSearchParams([...filters, ...Object.entries(more), ['before', String(next)]])}`
  if (change !== '') {
    const found = await listChangesWith(
      caller,
      idIn(change, 'change'),
      { recordTypes },
      { before, limit: PAGE_ENTRIES },
    )
    const history = await shown(caller, found, { isOfMany: true })
    return { ...page, data: { ...data, change, groups: [], history, older: olderThan(found.next, { change }) } }
  }
  const found = await listStoreHistory(caller, asked, { before, limit: PAGE_ENTRIES })
  const single = found.groups.filter(isSingle)
  const { rows } = await shown(caller, { entries: single.map(({ entry }) => entry), next: null }, { isOfMany: true })
  const rowOfEntry = new Map(single.map(({ entry }, at) => [entry.id, rows[at] as HistoryRow]))
  const groups = found.groups.map((group) => {
    const row = rowOfEntry.get(group.entry.id)
    return row === undefined ? { row: null, ...groupOf(caller, group) } : { row }
  })
  return { ...page, data: { ...data, change: null, groups, history: null, older: olderThan(found.next) } }
}

/** Returns the filters of the address, as they were typed and as they are read. Throws (400) for one that cannot be. */
function askedIn({ query }: FastifyRequest, { privileges, store: { timeZone } }: Caller) {
  const names = ['by', 'of', 'field', 'from', 'to'] as const
  const typed = Object.fromEntries(names.map((name) => [name, textIn(query, name).trim()])) as Record<
    (typeof names)[number],
    string
  >
  const readable = allServices.filter(({ resource }) => mayRead(privileges, resource))
  const wanted = typed.of === '' ? readable : readable.filter(({ resource }) => resource.service === typed.of)
  if (typed.of !== '' && wanted.length === 0) throw refused('of', 'of must be the name of a service that you may read')
  const service = typed.of === '' ? null : seenBy(privileges, wanted[0] as Service)
  const isField = (field: string) => service !== null && fieldsFor(service).some(([name]) => name === field)
  if (typed.field !== '' && !isField(typed.field)) {
    throw refused('field', 'field must be one of the records that of names')
  }
  const dayOf = (name: 'from' | 'to', offsetDays: number): Date | null => {
    if (typed[name] === '') return null
    const [, year, month, day] = /^(\d{4})-(\d\d)-(\d\d)$/.exec(typed[name]) ?? []
    const date = new Date(Date.UTC(Number(year), Number(month) - 1, Number(day) + offsetDays))
    const read = Number.isNaN(date.getTime()) ? null : readDate(date.toISOString().slice(0, 10), timeZone)
    if (read === null) throw refused(name, `${name} must be a day such as 2026-03-10`)
    return read.instant
  }
  return {
    typed,
    readable,
    service,
    actor: typed.by || null,
    // Everything that the history has, or these services alone.
    recordTypes: wanted.length === allServices.length ? null : wanted.map(({ resource }) => resource.table),
    field: typed.field || null,
    since: dayOf('from', 0),
    until: dayOf('to', 1),
  }
}

/** What the changes of a service's records may be filtered by: its values and lists, by their paths. */
function fieldsFor({ values, sections }: Service): (readonly [path: string, label: Text])[] {
  const lists = sections.flatMap(({ list }) => (list === null ? [] : [[list.name, list.label] as const]))
  const written = values.filter(({ field }) => field.access === 'rw' || field.access === 'wo')
  return [...written.map(({ path, label }) => [path.join('.'), label] as const), ...lists]
}

function isSingle({ counts }: HistoryGroup): boolean {
  return counts.length === 1 && counts[0]?.count === 1
}

const LABELS_SHOWN = 6

/** The changes of one request, or of one import, as one line. */
function groupOf({ privileges, store }: Caller, { entry, counts, changed }: HistoryGroup) {
  const words = {
    privileges,
    timeZone: store.timeZone,
    currency: store.currency,
    nameOf: nameless,
    titleOf: () => null,
  }
  const service = serviceOfTable(entry.recordType)
  const labels = changed.flat().flatMap(([path]) => {
    const bare = bareOf(path)
    return changeOf(service, [bare, '', ''], words).map(({ label }) => label)
  })
  const all = [...new Map(labels.map((label) => [english(label), label])).values()]
  return {
    at: entry.at,
    who: actors[entry.actorKind](entry.actor),
    id: entry.id,
    counts: counts.map(({ recordType, kind, count }) => {
      const of = serviceOfTable(recordType)
      const records = (count === 1 ? of?.one : of?.all) ?? recordType
      return (count >= COUNTED_MAX ? countedMore : counted)[kind](count, records)
    }),
    labels: all.slice(0, LABELS_SHOWN),
    isMore: all.length > LABELS_SHOWN,
  }
}

function beforeIn(request: FastifyRequest): number | null {
  const text = textIn(request.query, 'before')
  return text === '' ? null : idIn(text, 'before')
}

function idIn(text: string, name: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw refused(name, `${name} must be the number that the link of a page has`)
  return Number(text)
}

/** What was done, where people have words for it, by the path of the difference that says it. Null: the words of another tell it. */
export type Acts = ReadonlyMap<string, Phrase | null>

interface Showing {
  readonly nameOf?: NameOf
  /** Whether each change says which record it is of. */
  readonly isOfMany?: boolean
  readonly actsIn?: (entry: HistoryEntry) => Acts
}

/** The changes in words, with the names of the records that their fields name. */
async function shown(
  caller: Caller,
  { entries, next }: HistoryPage,
  { nameOf = nameless, isOfMany = false, actsIn = () => new Map() }: Showing = {},
): Promise<History> {
  const { privileges, store } = caller
  const named = entries.flatMap(({ recordType, changed }) =>
    changed.flatMap(([path, before, after]) => {
      const service = serviceOfTable(recordType)
      const { refersTo } = fieldAt(service, path)
      const ids = refersTo === null ? [] : [before, after].map((id) => ({ refersTo, id: Number(id) }))
      return [...ids, ...keysIn(service, path)].filter((one) => mayRead(privileges, one.refersTo))
    }),
  )
  const coded = entries.flatMap(({ changed }) => changed.map(([path]) => bareOf(path))).filter(isCodedPath)
  const [titles, nameOfRecord, codes] = await Promise.all([
    isOfMany ? titlesOf(caller, entries) : new Map<string, ReadonlyMap<number, string>>(),
    namesFor(caller, named),
    readCodes(caller, coded),
  ])
  const words: Words = {
    privileges,
    timeZone: store.timeZone,
    currency: store.currency,
    nameOf: (path, value, refersTo) => {
      const ofRecord = refersTo === null ? null : nameOfRecord(refersTo, value) || null
      return nameOf(path, value, refersTo) ?? ofRecord ?? codes.textAt(path, value)
    },
    titleOf: ({ recordType, recordId }) => titles.get(recordType)?.get(recordId) || null,
  }
  return { rows: entries.map((entry) => rowOf(entry, words, actsIn(entry))), next }
}

/** What the records of changes are called, by table and id. */
async function titlesOf(caller: Caller, entries: readonly RecordName[]) {
  const { privileges } = caller
  const ids = Map.groupBy(entries, ({ recordType }) => recordType)
  const read = [...ids].map(async ([recordType, of]): Promise<[string, ReadonlyMap<number, string>]> => {
    const service = serviceOfTable(recordType)
    if (service === null || !mayRead(privileges, service.resource)) return [recordType, new Map()]
    const recordIds = of.map(({ recordId }) => recordId)
    return [recordType, await readTitles(caller, seenBy(privileges, service), recordIds)]
  })
  return new Map(await Promise.all(read))
}

function serviceOfTable(table: string): Service | null {
  return allServices.find(({ resource }) => resource.table === table) ?? null
}

interface Words {
  /** Of the reader, who is shown no changes of other fields. */
  readonly privileges: Privileges
  readonly timeZone: string
  readonly currency: string
  readonly nameOf: NameOf
  /** What a record is called; null: by its number. */
  readonly titleOf: (entry: HistoryEntry) => string | null
}

const verbs = { create: t('Added'), update: t('Changed'), delete: t('Deleted') } as const

type Counted = Readonly<Record<HistoryEntry['kind'], (count: number, records: Phrase) => Text>>

const counted: Counted = {
  create: (count, records) => t('Added {count, number} {records}', { count, records }),
  update: (count, records) => t('Changed {count, number} {records}', { count, records }),
  delete: (count, records) => t('Deleted {count, number} {records}', { count, records }),
}
const countedMore: Counted = {
  create: (count, records) => t('Added more than {count, number} {records}', { count, records }),
  update: (count, records) => t('Changed more than {count, number} {records}', { count, records }),
  delete: (count, records) => t('Deleted more than {count, number} {records}', { count, records }),
}

const actors: Readonly<Record<HistoryEntry['actorKind'], (name: string) => Phrase>> = {
  application: (name) => t('Application {name}', { name }),
  cartapi: () => t('A program, by cartAPI'),
  customer: (name) => t('Customer {name}', { name }),
  merchant: (name) => name,
  operator: () => t('The operator'),
}

function rowOf(entry: HistoryEntry, words: Words, acts: Acts) {
  const { id, at, actorKind, actor, kind, recordType, recordId, changed, more } = entry
  const service = serviceOfTable(recordType)
  const { privileges } = words
  const isSeen = changed.every(([path]) => isShownTo(privileges, fieldAt(service, path).field))
  const canPutBack =
    service !== null &&
    isSeen &&
    isEntryWhole(service.resource, entry) &&
    allows(privileges, service.resource.privilege, 'write')
  return {
    at,
    who: actors[actorKind](actor),
    what: verbs[kind],
    kind,
    name: words.titleOf(entry) ?? t('{record} {id}', { record: service?.oneTitle ?? recordType, id: String(recordId) }),
    address: service === null ? null : `${service.path}/${recordId}`,
    canOpen: service !== null && mayRead(words.privileges, service.resource),
    changes: changed.flatMap((difference): Changed[] => {
      const act = acts.get(difference[0])
      if (act === undefined) return changeOf(service, difference, words)
      return act === null ? [] : [{ label: act, before: null, after: null, source: null }]
    }),
    more,
    putBack: canPutBack ? `${service.path}/${recordId}/history/${id}/back` : null,
  }
}

function isShownTo(privileges: Privileges, field: ValueField | null): boolean {
  return field === null || shows(privileges, field)
}

const NOTHING = t('nothing')

/** A path without the keys of items. */
function bareOf(path: string): string {
  return path.replaceAll(/\[.*?\]/g, '')
}

interface Changed {
  readonly label: Phrase
  readonly before: Phrase | null
  /** Null: the label says all. */
  readonly after: Phrase | null
  /** The HTML that was and is stored, where the others say its words; null: they are all there is. */
  readonly source: { readonly before: string; readonly after: string } | null
}

/** A change in words: the field, and what became of it. None: the reader is not shown it. */
function changeOf(service: Service | null, [path, before, after]: Difference, words: Words): Changed[] {
  const { privileges, nameOf } = words
  const keyText: KeyText = (key, named, list) => nameOf(named === null ? list : '', key, named) ?? key
  const { label, field, refersTo, item } = fieldAt(service, path, keyText)
  if (!isShownTo(privileges, field)) return []
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
    return (value === null ? null : nameOf(bare, value, refersTo)) ?? textOf(value, field, words)
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

function textOf(
  value: Difference[1],
  field: ValueField | null,
  { timeZone, currency }: Pick<Words, 'timeZone' | 'currency'>,
): Phrase {
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

const asNumber: KeyText = (key) => key

/** What a path of a difference names, with the keys of items. */
function fieldAt(service: Service | null, path: string, keyText: KeyText = asNumber): Place {
  const lists = service?.sections.flatMap(({ list }) => list ?? []) ?? []
  return placeIn(service?.values ?? [], lists, path, keyText)
}

function placeIn(values: readonly Value[], lists: readonly List[], path: string, keyText: KeyText): Place {
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
  const inner = placeIn(list?.values ?? [], list?.lists ?? [], rest, keyText)
  return { ...inner, label: t('{item}: {field}', { item, field: inner.label }) }
}

/** The records that the keys of a difference's items name. */
function keysIn(service: Service | null, path: string): { refersTo: Resource; id: number }[] {
  const found: { refersTo: Resource; id: number }[] = []
  fieldAt(service, path, (key, refersTo) => {
    if (refersTo !== null) found.push({ refersTo, id: Number(key) })
    return key
  })
  return found
}

/** Works out what puts a change of a record back, and leads to its preview. */
export async function putChangeBack(
  request: FastifyRequest,
  services: CallerServices & { readonly secrets: Secrets },
  { resource }: Service,
): Promise<string> {
  const caller = merchantCaller(request, services)
  const { id, entry } = readIds(request.params, 'id', 'entry')
  const found = await findEntry(caller, { recordType: resource.table, recordId: id }, entry)
  return `/admin/csv/${await putEntryBack(caller, resource, found, services.secrets)}`
}
