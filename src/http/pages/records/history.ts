import { allows, mayRead } from '../../../access/applications/privileges.ts'
import { type PersonOf, readPeople } from '../../../access/people/names.ts'
import type { Caller } from '../../../engine/caller.ts'
import { type HistoryEntry, type HistoryPage, listHistory, type RecordName } from '../../../engine/recording/history.ts'
import { type Phrase, t } from '../../../foundation/texts/text.ts'
import { isEntryWhole } from '../../../shop/csv/undo/back.ts'
import { isCodedPath, readCodes } from './codes.ts'
import {
  bareOf,
  type Changed,
  changeOf,
  fieldAt,
  isShownTo,
  keysIn,
  type NameOf,
  nameless,
  type Reader,
} from './history-words.ts'
import { readTitles } from './names.ts'
import { namesFor } from './references.ts'
import { seenBy } from './seen.ts'
import { serviceOfTable } from './services.ts'

/** Entries of a record's own page. */
const NEWEST_ENTRIES = 5

/** What the template `history.eta` shows. */
export type History = Awaited<ReturnType<typeof historyOf>>

/** Returns the newest changes of these records. */
export async function newestHistory(
  caller: Caller,
  records: readonly RecordName[],
  { limit = NEWEST_ENTRIES, ...showing }: { limit?: number } & Showing = {},
): Promise<History> {
  const found = await listHistory(caller, records, { before: null, limit })
  return historyOf(caller, found, showing)
}

/** What was done, where people have words for it, by the path of the difference that says it. Null: the words of another tell it. */
export type Acts = ReadonlyMap<string, Phrase | null>

interface Showing {
  readonly nameOf?: NameOf
  /** Whether each change says which record it is of. */
  readonly isOfMany?: boolean
  readonly actsIn?: (entry: HistoryEntry) => Acts
  /** Absent: it is read. */
  readonly personOf?: PersonOf
}

/** The changes in words, with the names of the records that their fields name. `next`: the `before` of the next page. */
export async function historyOf(
  caller: Caller,
  { entries, next }: HistoryPage,
  { nameOf = nameless, isOfMany = false, actsIn = () => new Map(), personOf: known }: Showing = {},
) {
  const { privileges } = caller
  const named = entries.flatMap(({ recordType, changed }) =>
    changed.flatMap(([path, before, after]) => {
      const service = serviceOfTable(recordType)
      const { refersTo } = fieldAt(service, path)
      const ids = refersTo === null ? [] : [before, after].map((id) => ({ refersTo, id: Number(id) }))
      return [...ids, ...keysIn(service, path)].filter((one) => mayRead(privileges, one.refersTo))
    }),
  )
  const coded = entries.flatMap(({ changed }) => changed.map(([path]) => bareOf(path))).filter(isCodedPath)
  const [titles, nameOfRecord, codes, personOf] = await Promise.all([
    isOfMany ? titlesOf(caller, entries) : new Map<string, ReadonlyMap<number, string>>(),
    namesFor(caller, named),
    readCodes(caller, coded),
    known ?? readPeople(caller),
  ])
  const nameOfValue: NameOf = (path, value, refersTo) => {
    const ofRecord = refersTo === null ? null : nameOfRecord(refersTo, value) || null
    return nameOf(path, value, refersTo) ?? ofRecord ?? codes.textAt(path, value)
  }
  const rowOf = (entry: HistoryEntry) => {
    const acts = actsIn(entry)
    const title = titles.get(entry.recordType)?.get(entry.recordId) || null
    return {
      ...factsOf(caller, entry, title, personOf),
      changes: changesOf(entry, { caller, nameOf: nameOfValue }, acts),
    }
  }
  return { rows: entries.map(rowOf), next }
}

/** What the records of changes are called, by table and id. */
export async function titlesOf(caller: Caller, entries: readonly RecordName[]) {
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

const verbs = { create: t('Added'), update: t('Changed'), delete: t('Deleted') } as const

/** Who made a change, in words. */
export const actors: Readonly<Record<HistoryEntry['actorKind'], (name: string, personOf: PersonOf) => Phrase>> = {
  application: (name) => t('Application {name}', { name }),
  cartapi: () => t('A program, by cartAPI'),
  customer: (name) => t('Customer {name}', { name }),
  merchant: (name, personOf) => personOf(name),
  operator: () => t('The operator'),
}

/** Who changed what, and what the reader may do about it. `title` is what the record is called; null: by its number. */
function factsOf({ privileges }: Caller, entry: HistoryEntry, title: string | null, personOf: PersonOf) {
  const { id, at, actorKind, actor, kind, recordType, recordId, changed, more } = entry
  const service = serviceOfTable(recordType)
  const isSeen = changed.every(([path]) => isShownTo(privileges, fieldAt(service, path).field))
  const canPutBack =
    service !== null &&
    isSeen &&
    isEntryWhole(service.resource, entry) &&
    allows(privileges, service.resource.privilege, 'write')
  return {
    at,
    who: actors[actorKind](actor, personOf),
    what: verbs[kind],
    kind,
    name: title ?? t('{record} {id}', { record: service?.oneTitle ?? recordType, id: String(recordId) }),
    address: service === null ? null : `${service.path}/${recordId}`,
    canOpen: service !== null && mayRead(privileges, service.resource),
    more,
    putBack: canPutBack ? `${service.path}/${recordId}/history/${id}/back` : null,
  }
}

function changesOf({ recordType, changed }: HistoryEntry, reader: Reader, acts: Acts): Changed[] {
  return changed.flatMap((difference) => {
    const act = acts.get(difference[0])
    if (act === undefined) return changeOf(serviceOfTable(recordType), difference, reader)
    return act === null ? [] : [{ label: act, before: null, after: null, source: null }]
  })
}
