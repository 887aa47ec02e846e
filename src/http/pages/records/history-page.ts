import { mayRead } from '../../../access/applications/privileges.ts'
import { type PersonOf, readPeople } from '../../../access/people/names.ts'
import type { Caller } from '../../../engine/caller.ts'
import { refused } from '../../../engine/definition/refused.ts'
import { getRecord } from '../../../engine/reading/read.ts'
import {
  COUNTED_MAX,
  findEntry,
  type HistoryEntry,
  type HistoryGroup,
  listChangesWith,
  listHistory,
  listStoreHistory,
} from '../../../engine/recording/history.ts'
import { english } from '../../../foundation/texts/language.ts'
import { type Phrase, type Text, t } from '../../../foundation/texts/text.ts'
import { readDate } from '../../../foundation/values/dates.ts'
import { putEntryBack } from '../../../shop/csv/undo/back.ts'
import type { HtmlPage } from '../../html/page.ts'
import { textIn } from '../../html/request.ts'
import { idIn, type PageRequest } from '../frame/pages.ts'
import { actors, historyOf, titlesOf } from './history.ts'
import { bareOf, changeOf, nameless } from './history-words.ts'
import { seenBy } from './seen.ts'
import { services as allServices, type Service, serviceOfTable } from './services.ts'

const PAGE_ENTRIES = 50

/** The page of all changes of a record, which may be gone. */
export async function historyPage(asked: PageRequest, service: Service): Promise<HtmlPage> {
  const { caller } = asked
  const id = idIn(asked)
  const records = [{ recordType: service.resource.table, recordId: id }]
  const before = beforeIn(asked)
  const page = await listHistory(caller, records, { before, limit: PAGE_ENTRIES })
  // Refuses what there never was.
  if (page.entries.length === 0) await getRecord(caller, service.resource, id)
  const names = await titlesOf(caller, records)
  const record =
    names.get(service.resource.table)?.get(id) || t('{record} {id}', { record: service.oneTitle, id: String(id) })
  const data = { service, id, record, history: await historyOf(caller, page), isFirst: before === null }
  return { template: '/pages/records/history-page', title: t('History of {record}', { record }), data }
}

/**
 * The page of all changes of the store's records, by whom, when, of which service and field the address says. What one request or one
 * import has changed is one line; `change` names the last entry of one, whose records are then shown.
 */
export async function storeHistoryPage({ caller, query }: PageRequest): Promise<HtmlPage> {
  const asked = askedIn(query, caller)
  const before = beforeIn({ query })
  const { recordTypes, typed } = asked
  const filters = new URLSearchParams(Object.entries(typed).filter(([, text]) => text !== ''))
  const change = textIn(query, 'change')
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
    const entry = placeIn(change, 'change')
    const found = await listChangesWith(caller, entry, { recordTypes }, { before, limit: PAGE_ENTRIES })
    const history = await historyOf(caller, found, { isOfMany: true })
    return { ...page, data: { ...data, change, groups: [], history, older: olderThan(found.next, { change }) } }
  }
  const found = await listStoreHistory(caller, asked, { before, limit: PAGE_ENTRIES })
  const single = found.groups.filter(({ counts }) => counts.length === 1 && counts[0]?.count === 1)
  const ofOne = { entries: single.map(({ entry }) => entry), next: null }
  const personOf = await readPeople(caller)
  const { rows } = await historyOf(caller, ofOne, { isOfMany: true, personOf })
  const rowOfEntry = new Map(single.map(({ entry }, at) => [entry.id, rows[at] as (typeof rows)[number]]))
  const groups = found.groups.map((group) => {
    const row = rowOfEntry.get(group.entry.id)
    return row === undefined ? { row: null, ...groupOf(caller, personOf, group) } : { row }
  })
  return { ...page, data: { ...data, change: null, groups, history: null, older: olderThan(found.next) } }
}

/** Returns the filters of the address, as they were typed and as they are read. Throws (400) for one that cannot be. */
function askedIn(query: unknown, { privileges, store: { timeZone } }: Caller) {
  const textOf = (name: string) => textIn(query, name).trim()
  const dates = { from: textOf('from'), to: textOf('to') }
  const typed = { by: textOf('by'), of: textOf('of'), field: textOf('field'), ...dates }
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
function fieldsFor({ values, lists }: Service): (readonly [path: string, label: Text])[] {
  const written = values.filter(({ field }) => field.access === 'rw' || field.access === 'wo')
  const named = lists.map(({ name, label }) => [name, label] as const)
  return [...written.map(({ path, label }) => [path.join('.'), label] as const), ...named]
}

const LABELS_SHOWN = 6

const counted: Readonly<Record<HistoryEntry['kind'], (number: Phrase, records: Phrase) => Text>> = {
  create: (number, records) => t('Added {number} {records}', { number, records }),
  update: (number, records) => t('Changed {number} {records}', { number, records }),
  delete: (number, records) => t('Deleted {number} {records}', { number, records }),
}

/** The changes of one request, or of one import, as one line. */
function groupOf(caller: Caller, personOf: PersonOf, { entry, counts, changed }: HistoryGroup) {
  const service = serviceOfTable(entry.recordType)
  const labels = changed.flat().flatMap(([path]) => {
    return changeOf(service, [bareOf(path), '', ''], { caller, nameOf: nameless }).map(({ label }) => label)
  })
  const all = [...new Map(labels.map((label) => [english(label), label])).values()]
  return {
    at: entry.at,
    who: actors[entry.actorKind](entry.actor, personOf),
    id: entry.id,
    counts: counts.map(({ recordType, kind, count }) => {
      const of = serviceOfTable(recordType)
      const records = (count === 1 ? of?.one : of?.all) ?? recordType
      const number = count >= COUNTED_MAX ? t('more than {count, number}', { count }) : t('{count, number}', { count })
      return counted[kind](number, records)
    }),
    labels: all.slice(0, LABELS_SHOWN),
    isMore: all.length > LABELS_SHOWN,
  }
}

function beforeIn({ query }: Pick<PageRequest, 'query'>): number | null {
  const text = textIn(query, 'before')
  return text === '' ? null : placeIn(text, 'before')
}

function placeIn(text: string, name: string): number {
  if (!/^[1-9]\d{0,14}$/.test(text)) throw refused(name, `${name} must be the number that the link of a page has`)
  return Number(text)
}

/** Works out what puts a change of a record back, and leads to its preview. */
export async function putChangeBack(asked: PageRequest, { resource }: Service): Promise<string> {
  const { caller } = asked
  const found = await findEntry(caller, { recordType: resource.table, recordId: idIn(asked) }, idIn(asked, 'entry'))
  return `/admin/csv/${await putEntryBack(caller, resource, found)}`
}
