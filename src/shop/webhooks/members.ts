import { type EventKind, eventKinds } from '../../engine/definition/event-kinds.ts'
import { type Field, type FieldSet, isStamp, type ListField, type ValueField } from '../../engine/definition/fields.ts'
import { wrongField } from '../../engine/definition/refused.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import { type Sql, sql } from '../../foundation/database/sql.ts'
import type { ErrorCode, StoreFailure } from '../../foundation/values/failure.ts'
import { candidateOf, nearestName } from '../../foundation/values/nearest.ts'
import { resourceOf } from './notified.ts'

// The members that an event's change gave other values, and those of whose changes a webhook hears: wire paths, joined by commas.

/** Names that one event shows, or that one webhook has. */
export const MEMBERS_MAX = 100
/** Characters of them, which headers carry. */
export const MEMBERS_LENGTH_MAX = 4_000
/** Stands behind the names that are shown where there are more. */
const AND_MORE = '*'
const ENDING = ' Changed'

/** The names that an event shows of those that it has: as many as fit. */
export function shownMembers(changed: string): string {
  const names = changed.split(',')
  if (names.length <= MEMBERS_MAX && changed.length <= MEMBERS_LENGTH_MAX) return changed
  let shown = ''
  for (const name of names.slice(0, MEMBERS_MAX)) {
    if (shown.length + name.length + 2 * AND_MORE.length > MEMBERS_LENGTH_MAX) break
    shown += `${name},`
  }
  return shown + AND_MORE
}

/** Whether an event of this kind names the members that changed. */
export function namesMembers(kind: EventKind): boolean {
  return resourceOf(kind).events?.changed === kind
}

/** Which kinds those are, in words. */
export const namingKinds = (() => {
  const others = eventKinds.filter((kind) => kind.name.endsWith(ENDING) && !namesMembers(kind)).map(({ name }) => name)
  return `whose EventName ends in ${ENDING.trim()}, except ${others.join(' and ')}`
})()

/**
 * Whether a webhook with these members is notified of an event with these. A name covers what is inside it; that of a list alone says that
 * items came or went, and so that anything inside them may have changed.
 */
export function isHeard(members: Sql, changed: Sql): Sql {
  return sql`(${members} IS NULL OR ${changed} IS NULL OR EXISTS (
    SELECT 1 FROM unnest(string_to_array(${members}, ',')) "wanted" CROSS JOIN unnest(string_to_array(${changed}, ',')) "given"
    WHERE "wanted" = "given" OR starts_with("given", "wanted" || '.') OR starts_with("wanted", "given" || '.')))`
}

/**
 * Reads the names that a webhook gives, into the form in which they are stored; null: none. Throws a 400 for a kind that
 * names no members, and for a name that it never names.
 */
export function readMembers(given: string, kind: EventKind): string | null {
  const names = given.split(',').flatMap((name) => name.trim() || [])
  if (names.length === 0) return null
  if (!namesMembers(kind)) throw wrongMembers(`does not apply to ${kind.name}, which does not tell what changed`)
  if (names.length > MEMBERS_MAX)
    throw wrongMembers(`has ${names.length} names; at most ${MEMBERS_MAX} are allowed`, 'too-many-items')
  const known = knownMembers(resourceOf(kind))
  const byLowerName = new Map(known.map((name) => [name.toLowerCase(), name]))
  return [...new Set(names.map((name) => byLowerName.get(name.toLowerCase()) ?? refuse(name, kind, known)))].join(',')
}

function refuse(given: string, { name }: EventKind, known: readonly string[]): never {
  const candidates = known.map((path) => candidateOf(path))
  const meant = nearestName(given, candidates)
  const shown = given.length > 80 ? `${given.slice(0, 80).toWellFormed()}…` : given
  const hint = meant === null ? '' : `; the nearest is ${meant}`
  throw wrongMembers(`has the name "${shown}", of which ${name} never tells${hint}`, 'unknown-field')
}

function wrongMembers(problem: string, code?: ErrorCode): StoreFailure {
  return wrongField('Members', problem, code)
}

/** The names of all that a change of these records may give another value. */
function knownMembers(resource: Resource): string[] {
  const { fields, ledger, events } = resource
  const others = events?.notifiedBesides?.({ row: {}, lists: {} }) ?? []
  const isNotified = (field: ValueField | ListField) => {
    if (['key', 'derived', 'wo', 'sent'].includes(field.access)) return false
    return field.kind === 'list' || !(isStamp(field) || (field.column !== undefined && field.column === ledger?.column))
  }
  return membersIn(fields, isNotified, '').filter((name) => !others.includes(name))
}

function membersIn(
  { entries }: FieldSet,
  isNotified: (field: ValueField | ListField) => boolean,
  prefix: string,
): string[] {
  return entries.flatMap(([name, field]: readonly [string, Field]) => {
    const path = prefix + name
    if (field.kind === 'object') return [path, ...membersIn(field.fields, isNotified, `${path}.`)]
    if (!isNotified(field)) return []
    return field.kind === 'list' ? [path, ...membersIn(field.fields, isNotified, `${path}.`)] : [path]
  })
}
