import type { FastifyRequest } from 'fastify'
import { shows } from '../../../applications/privileges.ts'
import type { Caller, Privileges } from '../../../engine/caller.ts'
import type { ValueField } from '../../../engine/definition/fields.ts'
import { refused } from '../../../engine/definition/refused.ts'
import { getRecord } from '../../../engine/reading/read.ts'
import type { Difference } from '../../../engine/recording/differences.ts'
import {
  type HistoryEntry,
  type HistoryPage,
  listHistory,
  listStoreHistory,
  type RecordName,
} from '../../../engine/recording/history.ts'
import { format } from '../../../html/format.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { type CallerServices, merchantCaller, textIn } from '../../../html/request.ts'
import { capital, labelOf } from './labels.ts'
import { mayRead } from './seen.ts'
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

/** The name of a value, such as a status, at a path without the keys of items; null: the value speaks for itself. */
type NameOf = (path: string, value: NonNullable<Difference[1]>) => string | null

const nameless: NameOf = () => null

/** Returns the newest changes of these records. */
export async function newestHistory(
  caller: Caller,
  records: readonly RecordName[],
  { limit = NEWEST_ENTRIES, nameOf = nameless }: { limit?: number; nameOf?: NameOf } = {},
): Promise<History> {
  return shown(caller, await listHistory(caller, records, { before: null, limit }), nameOf)
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
  return {
    template: '/pages/admin/records/history-page',
    title: `History of ${service.one} ${id}`,
    data: { service, id, history: shown(caller, page), isFirst: before === null },
  }
}

/** The page of all changes of the store's records, by whom and of which service the address says. */
export async function storeHistoryPage(request: FastifyRequest, services: CallerServices): Promise<HtmlPage> {
  const caller = merchantCaller(request, services)
  const [actor, of] = [textIn(request.query, 'by').trim(), textIn(request.query, 'of')]
  const readable = allServices.filter(({ resource }) => mayRead(caller.privileges, resource))
  const asked = of === '' ? readable : readable.filter(({ resource }) => resource.service === of)
  if (of !== '' && asked.length === 0) throw refused('of', 'of must be the name of a service that you may read')
  const before = beforeIn(request)
  // Everything that the history has, or these services alone.
  const recordTypes = asked.length === allServices.length ? null : asked.map(({ resource }) => resource.table)
  const page = await listStoreHistory(caller, { actor: actor || null, recordTypes }, { before, limit: PAGE_ENTRIES })
  const filters = new URLSearchParams({ ...(actor && { by: actor }), ...(of && { of }) })
  return {
    template: '/pages/admin/records/store-history',
    title: 'History',
    values: { by: actor, of },
    data: {
      history: shown(caller, page),
      isFirst: before === null,
      newer: `/admin/history?${filters}`,
      older: `/admin/history?${new URLSearchParams([...filters, ['before', String(page.next)]])}`,
      services: readable.filter(({ resource }) => resource.methods.some((method) => method !== 'GET')),
    },
  }
}

function beforeIn(request: FastifyRequest): number | null {
  const text = textIn(request.query, 'before')
  if (text === '') return null
  if (!/^[1-9]\d{0,14}$/.test(text)) throw refused('before', 'before must be the number that the link of a page has')
  return Number(text)
}

function shown(caller: Caller, { entries, next }: HistoryPage, nameOf = nameless): History {
  const { privileges, store } = caller
  return { rows: entries.map((entry) => rowOf(entry, { privileges, timeZone: store.timeZone, nameOf })), next }
}

interface Words {
  /** Of the reader, who is shown no changes of other fields. */
  readonly privileges: Privileges
  readonly timeZone: string
  readonly nameOf: NameOf
}

const verbs = { create: 'Added', update: 'Changed', delete: 'Deleted' } as const

const actors: Readonly<Record<HistoryEntry['actorKind'], (actor: string) => string>> = {
  application: (actor) => `Application ${actor}`,
  cartapi: () => 'A program, by cartAPI',
  customer: (actor) => `Customer ${actor}`,
  merchant: (actor) => actor,
  operator: () => 'The operator',
}

function rowOf({ at, actorKind, actor, kind, recordType, recordId, changed, more }: HistoryEntry, words: Words) {
  const service = allServices.find(({ resource }) => resource.table === recordType) ?? null
  return {
    at,
    who: actors[actorKind](actor),
    what: verbs[kind],
    kind,
    name: `${capital(service?.one ?? recordType)} ${recordId}`,
    address: service === null ? null : `${service.path}/${recordId}`,
    canOpen: service !== null && mayRead(words.privileges, service.resource),
    changes: changed.flatMap((difference) => changeOf(service, difference, words)),
    more,
  }
}

interface Changed {
  readonly label: string
  readonly before: string | null
  readonly after: string
}

/** A change in words: the field, and what became of it. None: the reader is not shown it. */
function changeOf(service: Service | null, [path, before, after]: Difference, words: Words): Changed[] {
  const { privileges, timeZone, nameOf } = words
  const { label, field, isItem } = fieldAt(service, path)
  if (field !== null && !shows(privileges, field)) return []
  // Neither is known of a field that nobody is shown.
  if (before === null && after === null) return [{ label, before: null, after: 'changed' }]
  if (isItem) return [{ label, before: null, after: before === null ? `added: ${after}` : `removed: ${before}` }]
  const bare = path.replaceAll(/\[.*?\]/g, '')
  const text = (value: Difference[1]) => (value === null ? null : nameOf(bare, value)) ?? textOf(value, field, timeZone)
  return [{ label, before: text(before), after: text(after) }]
}

function textOf(value: Difference[1], field: ValueField | null, timeZone: string): string {
  const stored = value ?? field?.default ?? ''
  if (stored === '') return 'nothing'
  if (typeof stored === 'boolean') return stored ? 'Yes' : 'No'
  if (field?.kind === 'date') return format.date(new Date(String(stored)), timeZone)
  return typeof stored === 'number' ? format.number(stored) : stored
}

interface Place {
  readonly label: string
  /** Null: the definition no longer has it. */
  readonly field: ValueField | null
  /** Whether an item of a list is meant as a whole. */
  readonly isItem: boolean
}

/** What a path of a difference names, with the keys of items. */
function fieldAt(service: Service | null, path: string): Place {
  const lists = service?.sections.flatMap(({ list }) => list ?? []) ?? []
  return placeIn(service?.values ?? [], lists, path)
}

function placeIn(values: readonly Value[], lists: readonly List[], path: string): Place {
  const [, name, key, rest] = /^(\w+)\[(.*?)\](?:\.(.*))?$/.exec(path) ?? []
  if (name === undefined) {
    const value = values.find((each) => each.path.join('.') === path)
    return { label: value?.label ?? labelOf(path), field: value?.field ?? null, isItem: false }
  }
  const list = lists.find((each) => each.name === name)
  const item = `${list?.one ?? name} ${key}`
  if (rest === undefined) return { label: item, field: null, isItem: true }
  const inner = placeIn(list?.values ?? [], list?.lists ?? [], rest)
  return { ...inner, label: `${item}: ${inner.label.toLowerCase()}` }
}
