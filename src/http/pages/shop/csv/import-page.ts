import type { FastifyReply } from 'fastify'
import { allows } from '../../../../access/applications/privileges.ts'
import { readPeople } from '../../../../access/people/names.ts'
import type { Caller } from '../../../../engine/caller.ts'
import type { Resource } from '../../../../engine/definition/resource.ts'
import type { CsvImportName } from '../../../../foundation/database/generated/client.ts'
import type { Format } from '../../../../foundation/texts/format.ts'
import { english } from '../../../../foundation/texts/language.ts'
import { andOf, type Phrase, type Text, t, written } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import type { CsvImports } from '../../../../shop/csv/apply/runner.ts'
import { hiddenColumns } from '../../../../shop/csv/lines/columns.ts'
import {
  changesColumns,
  findImport,
  type Import,
  isOfRecords,
  listImports,
  listLines,
  type Outcome,
  type StoredLine,
  startImport,
} from '../../../../shop/csv/lines/imports.ts'
import { FEW_LINES } from '../../../../shop/csv/lines/limits.ts'
import { listNames } from '../../../../shop/csv/lines/new-names.ts'
import { BELOW_COST } from '../../../../shop/csv/lines/worth-a-look.ts'
import { hasParts } from '../../../../shop/csv/take-in/parts.ts'
import { isPutBackable } from '../../../../shop/csv/undo/back.ts'
import { requireProof } from '../../../html/guard.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { merchantOf, requirePrivileges, textIn } from '../../../html/request.ts'
import { idIn, type PageRequest } from '../../frame/pages.ts'
import { type Codes, codedPaths, readCodes } from '../../records/codes.ts'
import { fieldAt } from '../../records/history-words.ts'
import { type NameOf, namesFor } from '../../records/references.ts'
import { seenBy } from '../../records/seen.ts'
import type { List, Service } from '../../records/services.ts'
import { shopServices } from '../services.ts'
import { type ChangeWords, wordsOf } from './change-words.ts'

const LINES_SHOWN = 50
const IMPORTS_SHOWN = 50
/** How long an answer waits for the changes of few records. */
const SOON_MS = 1_000

/** The latest imports and bulk changes of the store. */
export async function importsPage({ caller, query }: PageRequest): Promise<HtmlPage> {
  const asked = textIn(query, 'before')
  const before = /^[1-9]\d{0,8}$/.test(asked) ? Number(asked) : null
  const writable = shopServices.filter(({ resource }) => allows(caller.privileges, resource.privilege, 'write'))
  const found = await listImports(caller, {
    services: writable.map(({ resource }) => resource.service),
    before,
    limit: IMPORTS_SHOWN + 1,
  })
  const personOf = await readPeople(caller)
  const imports = found.slice(0, IMPORTS_SHOWN).map(async (one) => ({
    ...one,
    service: serviceOf(one),
    state: stateOf(one, caller.now()),
    title: (await wordsOf(caller, one)).title,
    by: personOf(one.actor),
  }))
  return {
    template: '/pages/shop/csv/imports',
    title: t('Imports and bulk changes'),
    data: {
      imports: await Promise.all(imports),
      isFirst: before === null,
      older: found.length > IMPORTS_SHOWN ? `/admin/csv?before=${found[IMPORTS_SHOWN - 1]?.id}` : null,
    },
  }
}

/** Returns the import that an address names. Throws (403) where the merchant may not change records of its service, or is to show who they are again. */
export async function importOf(asked: PageRequest, { request }: FastifyReply) {
  const { caller } = asked
  const found = await findImport(caller, idIn(asked))
  const service = serviceOf(found)
  const { resource, special } = service
  requirePrivileges(merchantOf(request), [[resource.privilege, 'write']])
  if (special.isFileProved) requireProof(request)
  // The columns that the merchant is not shown, which somebody else's file may have.
  const hidden = hiddenColumns(caller.privileges, resource).map(({ name }) => name)
  return { found, service, hidden, isHidden: (column: string) => hidden.includes(column) }
}

/** What a file would change, is changing or has changed. */
export async function importPage(asked: PageRequest, reply: FastifyReply): Promise<HtmlPage> {
  const { caller, writing } = asked
  const { found, service, hidden, isHidden } = await importOf(asked, reply)
  const address = `/admin/csv/${found.id}`
  const { read, ...part } = await readPart(asked, found, { address, service, isHidden })
  const seen = seenBy(caller.privileges, service)
  const ofRecords = isOfRecords(found)
  const names = await listNames(caller, found.id)
  const isOpen = found.state === 'ready'
  const missing = missingFor(caller, names)
  const [words, nameOf, codes, personOf] = await Promise.all([
    wordsOf(caller, found),
    namesFor(caller, ofRecords ? referencesOf(seen, read) : []),
    readCodes(caller, codedPaths(seen)),
    readPeople(caller),
  ])
  const hasKept = found.source !== 'own' && (await hasParts(caller, found.id))
  return {
    template: '/pages/shop/csv/import',
    title: t('{change} ({records})', { change: words.title, records: service.all }),
    data: {
      ...part,
      found,
      by: personOf(found.actor),
      applier: personOf(found.appliedBy),
      name: words.title,
      notes: isOpen ? words.notes : [],
      isOfRecords: ofRecords,
      valueText: ofRecords ? valueTextOf(seen, words, { nameOf, codes, store: caller.store }) : typedTextOf(seen),
      canPutBack: await isPutBackable(caller, found),
      columnText: (column: string) => fieldAt(service, column).label,
      service,
      state: stateOf(found, caller.now()),
      address,
      changeAddress:
        ofRecords && hasKept && isOpen && service.special.selection?.isAskedOnPage ? `${address}/change` : null,
      toMake: found.changes + found.creates,
      made: found.changed + found.added + found.failed,
      problems: found.refused + found.failed,
      action: actionOf(found, service),
      canApply: !(await changesColumns(caller, found.id, hidden)),
      missing: missing.length > 0 ? andOf(missing) : null,
      columns: columnsShown(found),
      decimal: decimalText(found, writing),
      hasParts: hasKept,
      names: namesShown(names.filter(({ recordId }) => isOpen || recordId !== null)),
    },
  }
}

/** The part of the lines that the address asks for, and the other parts; `read` is what was read of it. */
async function readPart(
  { caller, query }: PageRequest,
  found: Import,
  { address, service, isHidden }: { address: string; service: Service; isHidden: (column: string) => boolean },
) {
  const tabs = tabsOf(found).filter(({ count }) => count > 0)
  const shown = tabs.find(({ name }) => name === textIn(query, 'show')) ?? tabs[0] ?? null
  const after = /^\d{1,9}$/.test(textIn(query, 'after')) ? Number(textIn(query, 'after')) : 0
  const { outcomes = [], isMarked = false } = shown ?? {}
  const read = await listLines(caller, found.id, { outcomes, isMarked, after, limit: LINES_SHOWN + 1 })
  const last = read[LINES_SHOWN - 1]
  const [cost = ''] = service.resource.worthALook?.costs ?? []
  return {
    read,
    tabs,
    tab: shown,
    // Beside a hundred other columns, nobody finds the one to look at.
    lines: read.slice(0, LINES_SHOWN).map((line) => ({
      ...line,
      problems: line.problems.filter(([column]) => !isHidden(column)),
      changes: line.changes
        .filter(([column, , , mark]) => !isHidden(column) && (!isMarked || mark !== undefined))
        .map((change) => change.filter((text) => text !== BELOW_COST || !isHidden(cost))),
    })),
    next: read.length > LINES_SHOWN && shown && last ? `${address}?show=${shown.name}&after=${last.line}` : null,
    first: after > 0 && shown ? `${address}?show=${shown.name}` : null,
  }
}

/** A value of a column as people read it, in a change of records. */
function valueTextOf(
  service: Service,
  { textOf }: ChangeWords,
  { nameOf, codes, store: { timeZone, currency } }: { nameOf: NameOf; codes: Codes; store: Caller['store'] },
) {
  const targets = targetsOf(service)
  return (column: string, text: string): Phrase => {
    const own = textOf?.(column, text) ?? null
    if (own !== null || text === '') return own ?? text
    const coded = codes.textAt(column, text)
    if (coded !== null) return coded
    const refersTo = targets.get(column)
    if (refersTo !== undefined) {
      return text
        .split(', ')
        .map((id) => (id === '0' ? '' : nameOf(refersTo, id) || id))
        .join(', ')
    }
    const { kind, isMoney } = fieldAt(service, column).field ?? {}
    if (kind === 'boolean') return text === 'true' ? t('Yes') : t('No')
    if (isMoney) return written(({ format }) => format.unitPrice(text, currency))
    if (kind === 'date') return written(({ format }) => format.recordDate(text, timeZone))
    return kind === 'decimal' || kind === 'integer' ? written(({ format }) => format.number(text)) : text
  }
}

/** A value of a file as people type it, with the sign of decimals that the reader writes. */
function typedTextOf(service: Service) {
  return (column: string, text: string): Phrase => {
    const isNumber = fieldAt(service, column).field?.kind === 'decimal' && /^-?\d+\.\d+$/.test(text)
    return isNumber ? written(({ format }) => format.typed(text)) : text
  }
}

/** How the numbers of a file were read, where that is worth a look; null: as everybody expects. */
function decimalText({ decimal }: Import, { decimalSign }: Format): Text | null {
  if (decimal === 'comma') return t('The numbers of this file were read with a comma before decimals, such as 12,50.')
  return decimal === 'point' && decimalSign !== '.'
    ? t('The numbers of this file were read with a point before decimals, such as 12.50.')
    : null
}

/** The services whose records columns name: a value one of them, a list several by their numbers. */
function targetsOf({ values, lists }: Service): ReadonlyMap<string, Resource> {
  const named = ({ name, field, values: inner }: List) =>
    inner.filter(({ path }) => path.join('.') === field.key).map(({ refersTo }) => [name, refersTo] as const)
  const all = [...values.map(({ path, refersTo }) => [path.join('.'), refersTo] as const), ...lists.flatMap(named)]
  return new Map(all.flatMap(([name, refersTo]) => (refersTo === null ? [] : [[name, refersTo]])))
}

/** The records that changes name, before and after. */
function referencesOf(service: Service, lines: readonly StoredLine[]) {
  const targets = targetsOf(service)
  return lines.flatMap(({ changes, problems }) =>
    [...changes.map(([column, ...texts]) => [column, texts.slice(0, 2).join(', ')] as const), ...problems].flatMap(
      ([column, ids]) => {
        const refersTo = targets.get(column)
        return refersTo === undefined ? [] : ids.split(', ').map((id) => ({ refersTo, id: Number(id) }))
      },
    ),
  )
}

/** What the headings of a file mean, of one that is no export. */
function columnsShown({ headings, mapping }: Import) {
  const all = (mapping ?? []).map(([column, reason], at) => ({ heading: headings[at] ?? '', column, reason }))
  return { taken: all.filter(({ column }) => column !== ''), leftOut: all.filter(({ column }) => column === '') }
}

/** The records that a file makes by naming them, by service. */
function namesShown(names: readonly CsvImportName[]) {
  return [...Map.groupBy(names, ({ service }) => service)].map(([service, some]) => {
    const { one, all, path } = serviceOf({ service })
    const named = { count: some.length, records: some.length === 1 ? one : all }
    return { named, path, some: some.toSorted((one, other) => one.path.localeCompare(other.path, 'en')) }
  })
}

/** The services of which the file makes records by naming them, and the merchant may not. */
function missingFor({ privileges }: Caller, names: readonly CsvImportName[]): Text[] {
  const services = [...new Set(names.map(({ service }) => service))].map((service) => serviceOf({ service }))
  return services.filter(({ resource }) => !allows(privileges, resource.privilege, 'write')).map(({ all }) => all)
}

/** A part of a file's lines. */
function tab(name: string, label: Text, count: number, outcomes: readonly Outcome[], isMarked = false) {
  return { name, label, count, outcomes, isMarked }
}

function tabsOf({ state, changes, creates, same, refused, marked, changed, added, failed }: Import) {
  const isOpen = state === 'ready' || state === 'reading'
  const left = changes + creates - changed - added - failed
  const first = isOpen
    ? [
        tab('marked', t('Worth a look'), marked, ['change', 'new'], true),
        tab('changes', t('Changes'), changes, ['change']),
        tab('new', t('New'), creates, ['new']),
      ]
    : [
        tab('changes', t('Changed'), changed, ['changed']),
        tab('new', t('Added'), added, ['added']),
        tab('open', state === 'cancelled' ? t('Not made') : t('To do'), left, ['change', 'new']),
      ]
  return [
    ...first,
    tab('errors', t('Errors'), refused + failed, ['refused', 'failed']),
    tab('same', t('Unchanged'), same, ['same']),
  ]
}

/** What the button does, such as `Change 12 products and add 3`. */
function actionOf({ changes, creates }: Import, { one, all }: Service): Text {
  const nameOf = (count: number) => (count === 1 ? one : all)
  if (changes === 0) return t('Add {creates, number} {records}', { creates, records: nameOf(creates) })
  const records = nameOf(changes)
  if (creates === 0) return t('Change {changes, number} {records}', { changes, records })
  return t('Change {changes, number} {records} and add {creates, number}', { changes, records, creates })
}

export function serviceOf({ service }: Pick<Import, 'service'>): Service {
  const found = shopServices.find(({ resource }) => resource.service === service)
  if (found === undefined) throw new Error(`There is no service ${service}`)
  return found
}

/** In words, with the badge's class. */
function stateOf({ state, leasedUntil }: Import, now: Date): { name: string; label: Text; badge: string } {
  const name = isLost({ state, leasedUntil }, now) ? 'lost' : state
  return { name, ...states[name] }
}

/** Whether what was said of it may be said again: its changes are neither being made nor were, and nobody reads it. */
export function isOpenFor(found: Import, now: Date): boolean {
  return found.state === 'mapping' || found.state === 'ready' || isLost(found, now)
}

/** Whether nobody reads the file to its end any more. */
function isLost({ state, leasedUntil }: Pick<Import, 'state' | 'leasedUntil'>, now: Date): boolean {
  return state === 'reading' && (leasedUntil === null || leasedUntil <= now)
}

const states = {
  mapping: { label: t('waits for an answer'), badge: '' },
  reading: { label: t('being read'), badge: '' },
  lost: { label: t('not read to its end'), badge: 'bad' },
  ready: { label: t('to be confirmed'), badge: '' },
  applying: { label: t('being applied'), badge: '' },
  done: { label: t('done'), badge: 'ok' },
  cancelled: { label: t('stopped'), badge: '' },
}

/** Has the changes made in the background. Sent again, it leads to the same page and does nothing. */
export async function applyChanges(
  asked: PageRequest,
  reply: FastifyReply,
  csvImports: Pick<CsvImports, 'wake' | 'soon'>,
): Promise<string> {
  const { caller } = asked
  const { found, hidden } = await importOf(asked, reply)
  const { id } = found
  if (await changesColumns(caller, id, hidden)) {
    const message =
      'The file changes columns that your role in this store does not show. Ask somebody whose role shows them to apply it'
    throw new StoreFailure('forbidden', message)
  }
  const missing = missingFor(caller, await listNames(caller, id))
  if (missing.length > 0) {
    const message = `The file adds ${missing.map(english).join(' and ')}, which your role in this store may not. Ask somebody whose role may to apply it`
    throw new StoreFailure('forbidden', message)
  }
  const isFew = found.changes + found.creates <= FEW_LINES
  if (await startImport(caller, id)) {
    // Who changes a few records sees what came of it at once.
    if (isFew) await csvImports.soon(SOON_MS)
    else csvImports.wake()
  }
  return `/admin/csv/${id}`
}
