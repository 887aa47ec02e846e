import { createHash } from 'node:crypto'
import { allows, shows } from '../../../access/applications/privileges.ts'
import type { Caller, Privileges } from '../../../engine/caller.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { execute } from '../../../foundation/database/client.ts'
import { labelOf } from '../../../foundation/texts/label.ts'
import { languageOf, localeTags } from '../../../foundation/texts/language.ts'
import { t } from '../../../foundation/texts/text.ts'
import { candidateOf, lettersOf, nearestName } from '../../../foundation/values/nearest.ts'
import { remembered } from '../../../foundation/values/remembered.ts'
import {
  type Column,
  columnsOf,
  type Headings,
  isListColumn,
  isTaken,
  type ListColumn,
  listColumnsOf,
  missing,
} from '../lines/columns.ts'
import { MAPPINGS_MAX } from '../lines/limits.ts'

// What the headings of a file mean that is no export: the platform that the merchant comes from has its own, and a person says it of
// all others.

/** What a heading means: a column, or why it is left out. One of both is empty. */
export type Meaning = readonly [column: string, reason: string]

/** What a heading probably means, and what a person has to decide. */
export interface Suggestion {
  /** Empty: none is suggested, or it is to be left out for the reason. */
  readonly column: string
  readonly reason: string
  readonly question: string
  /** The columns of which the question is. */
  readonly candidates: readonly string[]
  /** Of two headings that seem to mean one column, that with less doubt does. */
  readonly doubt: number
}

/** Columns of the former platform's file that no other platform names so, from which the file is known. */
const TELLING_MIN = 3

/** Headings of passwords, in the languages of most shops. */
const secretHeading =
  /pass(?:word|wort|wd|phrase|code)|kennwort|contrase|mot.?de.?passe|wachtwoord|(?:^|[^a-z])(?:pass|pwd|pw|senha|pin)(?:[^a-z]|$)/i

/** Whether the cells below a heading may be passwords, which are never kept. `reset_pass` and the like are flags. */
export function isSecret(resource: Resource, heading: string): boolean {
  const known = entryOf(resource.formerFile?.columns, heading.toLowerCase())
  const [own] = columnsNamed(resource, heading)
  if (known !== undefined || (own !== undefined && own.field.access !== 'wo')) return false
  return secretHeading.test(heading)
}

/** Suggests what the headings of a file mean that is no export of this platform. Suggests no column twice. */
export function suggest({ privileges }: Pick<Caller, 'privileges'>, resource: Resource, names: readonly string[]) {
  const known = names.map((name) => name.toLowerCase())
  const { columns = {}, leftOut = {} } = resource.formerFile ?? {}
  const isFormer = known.filter((name) => isTelling(resource, name)).length >= TELLING_MIN
  const found = known.map((name) => (isFormer ? formerMeaning(resource, name) : null) ?? likelyMeaning(resource, name))
  const targets = new Set(targetsFor(privileges, resource).map(({ name }) => name))
  const taken = new Map<string, number>()
  const ranked = [...found.keys()].sort((one, other) => (found[one]?.doubt ?? 0) - (found[other]?.doubt ?? 0))
  for (const at of ranked) {
    const column = found[at]?.column ?? ''
    if (targets.has(column) && !taken.has(column)) taken.set(column, at)
  }
  const suggestions = found.map((one, at): Suggestion => {
    const { column, question } = one
    if (column === '' || taken.get(column) === at) return one
    if (targets.has(column)) return { ...nothing, question }
    return { ...nothing, reason: 'may mean a column that your role does not show' }
  })
  const isWhole = known.every((name) => name === '' || Object.hasOwn(columns, name) || Object.hasOwn(leftOut, name))
  return {
    /** Whether the file is one of the platform that the merchant comes from. */
    isFormer,
    suggestions,
    /** Whether nobody has to be asked: all headings are that platform's, and what they mean is certain. */
    isCertain: isFormer && isWhole && missing(resource, new Set(taken.keys())).length === 0,
  }
}

/** Whether the heading is the former platform's, and no other file would have it for what it means. */
function isTelling(resource: Resource, name: string): boolean {
  const { columns = {}, asked = {}, leftOut = {} } = resource.formerFile ?? {}
  const isKnown = [columns, asked, leftOut].some((table) => Object.hasOwn(table, name))
  return isKnown && !namesOf(resource).has(lettersOf(name))
}

const nothing: Suggestion = { column: '', reason: '', question: '', candidates: [], doubt: 0 }

function formerMeaning({ formerFile }: Resource, name: string): Suggestion | null {
  const [column, question] = [entryOf(formerFile?.columns, name), entryOf(formerFile?.asked, name)]
  const reason = entryOf(formerFile?.leftOut, name)
  if (column !== undefined) return { ...nothing, column }
  if (question !== undefined) return { ...nothing, ...question }
  return reason === undefined ? null : { ...nothing, reason }
}

/** A heading may be any text, such as `constructor`. */
function entryOf<T>(table: Readonly<Record<string, T>> | undefined, name: string): T | undefined {
  return table !== undefined && Object.hasOwn(table, name) ? table[name] : undefined
}

/** What a heading means wherever it comes from. One that could be two columns is left to the person. */
function likelyMeaning(resource: Resource, name: string): Suggestion {
  if (name === '') return { ...nothing, reason: 'has no heading' }
  if (isSecret(resource, name)) return { ...nothing, reason: SECRET }
  const former = formerMeaning(resource, name)
  const own = columnsNamed(resource, name)
  const read = own.filter((column) => isTaken(column) && column.field.access !== 'wo').map((column) => column.name)
  const candidates = [...new Set([...read, ...(former?.column ? [former.column] : [])])]
  const [first, other] = candidates
  if (first !== undefined && other !== undefined) {
    return { ...nothing, question: 'It may be one of these:', candidates }
  }
  if (read.length > 0) return { ...nothing, column: first ?? '' }
  if (former !== null) return { ...former, doubt: 1 }
  if (own.length > 0) return { ...nothing, reason: 'is written by the platform itself' }
  const shown = columnsOf(resource).filter((column) => isTaken(column) && column.field.access !== 'wo')
  const named = shown.map((column) => candidateOf(column.name, column.field.label))
  return { ...nothing, column: nearestName(name, named) ?? '', doubt: 2 }
}

/** Why headings of passwords are left out. */
export const SECRET = 'may have passwords, which are never taken over'

/** The columns that a heading names: wholly, by the last part of the name, or by its words on pages. */
function columnsNamed(resource: Resource, heading: string): readonly Column[] {
  const letters = lettersOf(heading)
  if (letters === '') return []
  return namesOf(resource).get(letters) ?? wordsOf(resource).get(letters) ?? []
}

/** The columns by the words that pages have for them, and exports in words, in all languages. */
const wordsOf = remembered((resource: Resource) => {
  const languages = localeTags.map(languageOf)
  return byLetters(resource, ({ path, field }) => {
    const label = t(field.label || labelOf(path.at(-1) ?? '', resource.typeName))
    return languages.map(({ say }) => say(label))
  })
})

/** The columns of a service by the letters of what they are called. */
function byLetters(resource: Resource, callsOf: (column: Column) => readonly string[]): Map<string, Column[]> {
  const found = new Map<string, Column[]>()
  for (const column of columnsOf(resource)) {
    for (const letters of new Set(callsOf(column).map(lettersOf))) {
      if (letters !== '') found.set(letters, [...(found.get(letters) ?? []), column])
    }
  }
  return found
}

const namesOf = remembered((resource: Resource) =>
  byLetters(resource, ({ name, path, field }) => [name, path.at(-1) ?? '', field.label]),
)

/** The columns that a heading may mean for somebody with these privileges: what a file may give, but no passwords. */
export function targetsFor(privileges: Privileges, resource: Resource): readonly (Column | ListColumn)[] {
  const values = columnsOf(resource).filter(
    (column) => isTaken(column) && column.field.access !== 'wo' && shows(privileges, column.field),
  )
  const lists = listColumnsOf(resource).filter(({ target }) => allows(privileges, target.privilege, 'read'))
  return [...values, ...lists]
}

/** The headings of a file by what they mean. */
export function headingsBy(
  { privileges }: Pick<Caller, 'privileges'>,
  resource: Resource,
  names: readonly string[],
  { meanings, isFormer }: { meanings: readonly Meaning[]; isFormer: boolean },
): Headings {
  const targets = new Map(targetsFor(privileges, resource).map((target) => [target.name, target]))
  const found = meanings.map(([column]) => targets.get(column))
  const values = found.map((target) => (target !== undefined && !isListColumn(target) ? target : null))
  const lists = found.flatMap((target, place) =>
    target !== undefined && isListColumn(target) ? [[place, target] as const] : [],
  )
  const named = isFormer ? (resource.formerFile?.byName ?? []) : []
  const byName = values.filter((column, at) => column !== null && named.includes(names[at]?.toLowerCase() ?? ''))
  return { columns: values, ignored: [], other: { lists: new Map(lists), byName: new Set(byName as Column[]) } }
}

/** Names a set of headings, whatever their order and case. */
function setOf(names: readonly string[]): string {
  const sorted = names.map((name) => name.toLowerCase()).sort()
  return createHash('sha256').update(JSON.stringify(sorted)).digest('base64url')
}

/** What a person of the store last said of this set of headings, by heading in lower case; null: nothing. */
export async function recall({ db, store }: Caller, { service }: Resource, names: readonly string[]) {
  const key = { storeId: store.id, service, headings: setOf(names) }
  const found = await db.csvMapping.findUnique({ where: { storeId_service_headings: key } })
  return found === null ? null : new Map(Object.entries(found.columns as Record<string, string>))
}

/** Remembers what headings mean, for 100 sets of a store: the one that was not used for longest goes. */
export async function remember(
  { db, store, now }: Caller,
  { service }: Resource,
  names: readonly string[],
  meanings: readonly Meaning[],
): Promise<void> {
  const columns = Object.fromEntries(names.map((name, at) => [name.toLowerCase(), meanings[at]?.[0] ?? '']))
  const key = { storeId: store.id, service, headings: setOf(names) }
  const said = { columns, usedAt: now() }
  await db.csvMapping.upsert({ where: { storeId_service_headings: key }, create: { ...key, ...said }, update: said })
  await execute(db)`
    DELETE FROM "CsvMapping" WHERE "storeId" = ${store.id}::int AND ("service", "headings") IN (
      SELECT "service", "headings" FROM "CsvMapping" WHERE "storeId" = ${store.id}::int
      ORDER BY "usedAt" DESC, "service", "headings" OFFSET ${MAPPINGS_MAX}::int)`
}
