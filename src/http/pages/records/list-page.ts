import type { FastifyReply } from 'fastify'
import type { Caller } from '../../../engine/caller.ts'
import type { JsonText, Query } from '../../../engine/definition/endpoints.ts'
import { distinct, type Filter, severalValues } from '../../../engine/definition/filters.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import { type Behind, countUpTo, listOrdered } from '../../../engine/reading/read.ts'
import { labelOf } from '../../../foundation/texts/label.ts'
import { type Text, t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { INT32_MAX } from '../../../foundation/values/int32.ts'
import { valueIn } from '../../../foundation/values/json.ts'
import { readTyped } from '../../../foundation/values/typed-number.ts'
import { deleteView, listViews, saveView } from '../../../shop/staff/list-views.ts'
import type { Writing } from '../../html/numbers.ts'
import type { HtmlPage } from '../../html/page.ts'
import { merchantOf, textIn, textsIn } from '../../html/request.ts'
import type { PageRequest, Sent, Wire } from '../frame/pages.ts'
import { type Codes, codedPaths, readCodes } from './codes.ts'
import { csvChoices, filesOf, spreadsheetForm } from './csv-form.ts'
import { firstImages } from './images.ts'
import { namesFor, referencesIn } from './references.ts'
import { listedOf } from './search.ts'
import { canImport, pathOf, type Service, type Sorting, type Value } from './services.ts'
import type { Words } from './special.ts'
import { isNumber, numberOf, titleOf } from './values.ts'

const RECORDS_SHOWN = 25
const COUNTED_MAX = 10_000
const COLUMNS_SHOWN = 6
const COLUMNS_MAX = 20
const TEXT_MAX = 255

/** The page of a service's records: filtered, sorted and paged by the address. */
export async function listPage(
  { caller, query, writing }: PageRequest,
  whole: Service,
  reply: FastifyReply,
): Promise<HtmlPage> {
  const service = listedOf(caller.privileges, whole)
  const { resource, special } = service
  const given = readAsked(query, service)
  const { sort, order } = orderOf(service, given.sort)
  const { records, next, count, failure } = await readPage(caller, service, given, order)
  const table = await tableOf(service, given, records, caller)
  const [views, { nameOf, codes, words }] = await Promise.all([
    listViews(caller, { userId: merchantOf(reply.request).id, service: resource.service }),
    readWords(caller, service, table),
  ])
  return {
    template: '/pages/records/list',
    title: service.allTitle,
    ...(failure && { failure }),
    values: given.unread === null ? typedFilters(writing, service, given.filters) : given.filters,
    data: {
      service,
      special,
      ...table,
      shownAs: words.shownAs,
      targets: words.targets,
      filters: filtersOf(service, given.filters, { words, codes }),
      isFiltered: Object.keys(given.filters).length > 0,
      codes,
      nameOf,
      views,
      ...addressesOf(service, given, { sort, next, columns: table.columns }),
      sort,
      count,
      countedMax: COUNTED_MAX,
      csvChoices,
      csvForm: spreadsheetForm(writing),
      canCreate: resource.methods.includes('POST') || special.isAddedElsewhere,
      canImport: canImport(service),
      isNumber: (value: Value) => isNumber(value) && !service.number.includes(value),
      valueIn,
      pathOf,
      // A list shows the first image of each record alone.
      imageOf: () => null,
    },
  }
}

/** Keeps a view of a service's list: the filters, the order and the columns of the address. */
export async function keepView(
  { caller, query, typed }: Sent<PageRequest>,
  service: Service,
  { request }: FastifyReply,
): Promise<string> {
  const kept = String(new URLSearchParams(keptOf(askedIn(query, listedOf(caller.privileges, service)))))
  const whose = { userId: merchantOf(request).id, service: service.resource.service }
  await saveView(caller, whose, { name: textIn(typed, 'name'), query: kept })
  return `${service.path}?${kept}&notice=view-saved`
}

export async function forgetView(
  { caller, typed }: Sent<PageRequest>,
  { path, resource: { service } }: Service,
  { request }: FastifyReply,
): Promise<string> {
  await deleteView(caller, { userId: merchantOf(request).id, service }, textIn(typed, 'name'))
  return `${path}?notice=view-deleted`
}

/** Reads the records of a page, and how many there are. A filter that cannot be read is shown where it was typed. */
async function readPage(
  caller: Caller,
  { resource }: Service,
  given: Asked,
  order: ReturnType<typeof orderOf>['order'],
) {
  const query: Query = new Map(Object.entries(given.filters))
  try {
    if (given.unread !== null) throw given.unread
    const tooLong = Object.entries(given.filters).find(([, text]) => text.length > TEXT_MAX)
    if (tooLong) throw wrongField(tooLong[0], `has more than ${TEXT_MAX} characters`)
    const behind = given.cursor === '' ? null : behindOf(given.cursor, order)
    const listed = listOrdered(caller, resource, query, { order: order.by, behind, limit: RECORDS_SHOWN })
    const [page, count] = await Promise.all([listed, countUpTo(caller, resource, query, COUNTED_MAX)])
    return { ...page, count }
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.status !== 400) throw error
    return { records: [], next: null, count: 0, failure: error }
  }
}

/** The table of a list: its rows, the columns that it shows and those that it may show. */
async function tableOf(service: Service, given: Asked, records: readonly JsonText[], caller: Caller) {
  const { columns: usual } = service.special
  const allColumns = offeredColumns(service)
  const columns = columnsOf(service, allColumns, given.columns || usual.join(','))
  const rows = records.map((text) => {
    const record = JSON.parse(String(text)) as Wire
    const title = numberOf(service, record) || titleOf(service, record)
    return { id: Number(valueIn(record, service.key.path)), title, record }
  })
  const images = await firstImages(service, rows, caller)
  return { rows, columns, allColumns, images, isBrief: usual.length > 0 && given.columns === '' }
}

/** The words for what a table shows: the names of records, and what numbers mean. */
async function readWords(caller: Caller, service: Service, { rows, columns }: Awaited<ReturnType<typeof tableOf>>) {
  const references = rows.flatMap(({ record }) => [...referencesIn({ values: columns, lists: [] }, record)])
  const ids = rows.map(({ id }) => id)
  const [nameOf, codes, words] = await Promise.all([
    namesFor(caller, references),
    readCodes(caller, codedPaths({ ...service, lists: [] }), { withUsed: true }),
    service.special.wordsOf(caller, ids),
  ])
  return { nameOf, codes, words: { ...noWords, ...words } }
}

/** The addresses of a list as it is, of its other pages and its files. What the reader is not shown is not repeated. */
function addressesOf(
  { path }: Service,
  given: Asked,
  { sort, columns, next }: { sort: string; columns: readonly Value[]; next: Behind | null },
) {
  const kept = keptOf({
    ...given,
    sort: given.sort === '' ? '' : sort,
    columns: given.columns === '' ? '' : columns.map(({ path }) => path.join('.')).join(','),
  })
  const address = (changes: Record<string, string>) => `${path}?${new URLSearchParams({ ...kept, ...changes })}`
  const cursor = given.cursor === '' ? {} : { cursor: given.cursor }
  return {
    query: String(new URLSearchParams(kept)),
    here: `?${new URLSearchParams({ ...kept, ...cursor })}`,
    files: filesOf(path, { ...given.filters, ...typedIn(given), ...(given.sort !== '' && { sort }) }),
    next: next === null ? null : address({ cursor: `${next.id}_${next.value}` }),
    first: given.cursor === '' ? null : address({}),
  }
}

const noWords: Words = { choices: {}, targets: {}, shownAs: () => null }

/** What an address keeps of a list, but for the page. */
function keptOf({ filters, sort, columns, unread }: Asked): Record<string, string> {
  return { ...filters, ...typedIn({ unread }), ...(sort !== '' && { sort }), ...(columns !== '' && { columns }) }
}

export interface Asked {
  readonly filters: Readonly<Record<string, string>>
  readonly sort: string
  readonly columns: string
  readonly cursor: string
  /** Why numbers that somebody typed with a comma cannot be read; the filters have what was typed. Null: they were read. */
  readonly unread: StoreFailure | null
}

/** The member of an address that says how its numbers were typed; addresses without it have a point, whoever opens them. */
const TYPED = 'typed'

function typedIn({ unread }: Pick<Asked, 'unread'>): Record<string, string> {
  return unread === null ? {} : { [TYPED]: 'comma' }
}

/**
 * Ignores what a list does not know, so that an old address still opens the list. Throws a 400 for a filter with several
 * values, unless it compares numbers for equality, and `forbidden` for one that is not offered.
 */
export function askedIn(query: unknown, service: Service): Asked {
  const asked = readAsked(query, service)
  if (asked.unread !== null) throw asked.unread
  return asked
}

function readAsked(query: unknown, service: Service): Asked {
  const { resource, filters: offered } = service
  const filters: Record<string, string> = {}
  for (const [name, { kind, readAny }] of Object.entries(resource.filters)) {
    const values = distinct(textsIn(query, name), name).filter((text) => text !== '')
    if (values.length > 0 && offered[name] === undefined) {
      const message = `${name} filters by what your role in this store does not show. Leave it out`
      throw new StoreFailure('forbidden', message, { field: name })
    }
    // Of numbers several are a comma list, as in the address of a program.
    if (values.length > 1 && !(kind === 'integer' && readAny)) throw severalValues(name)
    if (values.length > 0) filters[name] = values.join(',')
  }
  // A form of checkboxes repeats the name.
  const { columns } = query as { columns?: string | string[] }
  const writing = { decimalSign: textIn(query, TYPED) === 'comma' ? ',' : '.' }
  const numbers = Object.keys(filters).filter((name) => isDecimal(service, name))
  const read = numbers.map((name) => ({ name, ...readTyped(filters[name] ?? '', writing) }))
  // What has no comma and cannot be read is refused by the list, as of a program.
  const wrong = writing.decimalSign === ',' ? read.find(({ text }) => text === null) : undefined
  const known = read.flatMap(({ name, text }) => (text === null || wrong ? [] : [[name, text]]))
  return {
    filters: { ...filters, ...Object.fromEntries(known) },
    unread: wrong === undefined ? null : wrongField(wrong.name, wrong.problem),
    sort: textIn(query, 'sort'),
    columns: [columns ?? ''].flat().slice(0, COLUMNS_MAX).join(','),
    cursor: textIn(query, 'cursor'),
  }
}

function isDecimal({ resource }: Service, name: string): boolean {
  return resource.filters[name]?.kind === 'number'
}

/** The filters as the fields of the form have them. */
function typedFilters({ typed }: Writing, service: Service, filters: Asked['filters']): Record<string, string> {
  return Object.fromEntries(
    Object.entries(filters).map(([name, text]) => [name, isDecimal(service, name) ? typed(text) : text]),
  )
}

/** Whether a list or a file may show it. */
export function isColumn({ field }: Value): boolean {
  return field.access !== 'wo'
}

/** What a list may show: first what it shows unless somebody chooses. */
function offeredColumns({ values, special }: Service): readonly Value[] {
  const all = [...values.filter(isColumn), ...special.listValues]
  const first = special.columns.flatMap((name) => all.find(({ path }) => path.join('.') === name) ?? [])
  return [...first, ...all.filter((value) => !first.includes(value))]
}

function columnsOf({ values, titles, called, filters, key }: Service, offered: readonly Value[], chosen: string) {
  const names = new Set(chosen.split(',').slice(0, COLUMNS_MAX))
  const wanted = offered.filter(({ path }) => names.has(path.join('.')))
  if (wanted.length > 0) return wanted
  // What the list can be filtered by is what people look for.
  const filtered = new Set(Object.values(filters).flatMap(({ column }) => column ?? []))
  const named = [...titles, ...called.flat()]
  const others = values.filter((value) => filtered.has(value.field.column ?? '') && !named.includes(value))
  return [...nameColumn(called), ...(titles.length > 0 ? titles : [key]), ...others].slice(0, COLUMNS_SHOWN)
}

/** What records are called, where that is no field: a list shows the title in its place. */
function nameColumn([group]: Service['called']): readonly Value[] {
  return (group ?? []).slice(0, 1).map((value) => ({ ...value, path: [''], label: t('Name') }))
}

/** The filters of the list, as fields of a form: those in sight, and those that are opened by `More filters`. */
function filtersOf(service: Service, typed: Asked['filters'], { words, codes }: { words: Words; codes: Codes }) {
  const { inSight } = service.special
  return Object.entries(service.filters).map(([name, filter]) => {
    const { of, value } = comparedBy(service, filter)
    const label = boundLabel(filter, value?.label ?? filterLabel(service, name, filter))
    /** What it offers where values have names; null: anything can be typed. */
    const choices = words.choices[of] ?? codes.filterFor(of, typed[name] ?? '')
    /** The service whose records it names. */
    const target = value?.refersTo ? pathOf(value.refersTo) : null
    return { name, kind: filter.kind, label, of, isInSight: inSight.includes(name), choices, target }
  })
}

/** The value that a filter compares, of the record or of an item, and its name from the record inwards. */
function comparedBy({ values, lists, special }: Service, { column, ofItems }: Filter) {
  const list = lists.find(({ field }) => field.rows?.table === ofItems?.table && ofItems !== undefined)
  const known = list?.values ?? [...values, ...special.listValues]
  const compared = column ?? ofItems?.column
  const value = known.find(({ field }) => compared !== undefined && field.column === compared)
  return { value, of: value === undefined ? '' : [...(list ? [list.name] : []), ...value.path].join('.') }
}

/** What a filter is called whose value is none on pages: one that files alone have. */
function filterLabel({ resource }: Service, name: string, { column }: Filter): Text {
  if (name === 'find') return t('Search')
  const stored = resource.storedFields.leaves.find(({ field }) => field.kind !== 'list' && field.column === column)
  if (stored === undefined || stored.field.kind === 'list') throw new Error(`The filter ${name} has no words`)
  return t(stored.field.label || labelOf(stored.path.at(-1) ?? ''))
}

function boundLabel({ isBound, isLower }: Filter, field: Text): Text {
  if (!isBound) return field
  return isLower ? t('{field}, from', { field }) : t('{field}, to', { field })
}

/** `sort` is a wire name, with `-` before it for descending; the newest records come first unless it says otherwise. */
export function orderOf({ sorts }: Service, sort: string) {
  const isDescending = sort === '' || sort.startsWith('-')
  const name = sort.replace(/^-/, '')
  const found = sorts.find(({ value }) => value.path.join('.') === name) ?? (sorts[0] as Sorting)
  const { value, by, kind } = found
  return { sort: `${isDescending ? '-' : ''}${value.path.join('.')}`, order: { by: { ...by, isDescending }, kind } }
}

const isValueOf: Partial<Record<Sorting['kind'], (value: string) => boolean>> = {
  id: (value) => /^\d{1,10}$/.test(value) && Number(value) <= INT32_MAX,
  integer: (value) => /^-?\d{1,10}$/.test(value) && Math.abs(Number(value)) <= INT32_MAX,
  number: (value) => /^-?\d{1,15}(\.\d{1,4})?$/.test(value),
  since: isInstant,
  until: isInstant,
}

/** Throws for what no page of this list has named. */
function behindOf(cursor: string, { kind }: { kind: Sorting['kind'] }): Behind {
  const [, id = '', value = ''] = /^(\d{1,10})_(.{1,40})$/.exec(cursor) ?? []
  if (!isValueOf[kind]?.(value) || Number(id) > INT32_MAX) throw wrongField('cursor', 'names no page of this list')
  return { value, id: Number(id) }
}

function isInstant(value: string): boolean {
  return (
    /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d{1,6})?([+-]\d\d(:\d\d)?)$/.test(value) && !Number.isNaN(Date.parse(value))
  )
}
