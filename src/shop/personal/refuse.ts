import type { Caller } from '../../engine/caller.ts'
import { forEachChange } from '../../engine/changing/change.ts'
import type { FieldSet } from '../../engine/definition/fields.ts'
import { isRecord } from '../../engine/definition/input.ts'
import type { Change, Resource } from '../../engine/definition/resource.ts'
import type { Row, Stored } from '../../engine/definition/stored-row.ts'
import { queryRows } from '../../foundation/database/client.ts'
import { anyOf } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { isErased, services } from './members.ts'

/** Those of a service's records that get nothing of their person again, whether they still exist or not. */
export async function erasedAmong({ db, store }: Caller, service: string, ids: readonly number[]) {
  if (!services.some((each) => each === service)) return new Set<number>()
  const erased = await queryRows<{ recordId: number }>(db)`
    SELECT "recordId" FROM "ErasedRecord"
    WHERE "storeId" = ${store.id}::int AND "service" = ${service} AND "recordId" = ${anyOf(ids)}`
  return new Set(erased.map(({ recordId }) => recordId))
}

/** Refuses (409) a change that gives a record whose person was erased something personal again, as a program does that sends what it once read. */
export function refuseErased(changes: readonly Change[]): Promise<void> {
  return forEachChange(changes, async ({ kind, caller, resource, id, before, after }) => {
    if (kind !== 'update' || before === null) return
    const had = new Set(filledIn(resource, before).map(String))
    const [given] = filledIn(resource, after).find((each) => !had.has(String(each))) ?? []
    if (given === undefined || !(await erasedAmong(caller, resource.service, [id])).has(id)) return
    const field = given.slice(resource.service.length + 1)
    throw new StoreFailure('invalid-state', `${field} belongs to a person who was erased`, { field })
  })
}

type Filled = readonly [path: string, value: unknown]

/** What is personal and not empty. */
function filledIn({ service, fields, storedFields }: Resource, { row, lists }: Stored): Filled[] {
  const ofLists = Object.entries(lists).flatMap(([name, rows]) => {
    const list = fields.get(name)
    return list?.kind === 'list' ? rows.flatMap((each) => filledRow(`${service}.${name}`, list.fields, each)) : []
  })
  return [...filledRow(service, storedFields, row), ...ofLists]
}

function filledRow(at: string, { leaves }: FieldSet, row: Row): Filled[] {
  const ofColumns = leaves.flatMap(({ path, field }) =>
    field.kind === 'list' || field.column === undefined ? [] : filled(`${at}.${path.join('.')}`, row[field.column]),
  )
  return [...ofColumns, ...filled(at, row.details)]
}

function filled(path: string, value: unknown): Filled[] {
  if (Array.isArray(value)) return value.flatMap((item) => filled(path, item))
  if (isRecord(value)) return Object.entries(value).flatMap(([name, inner]) => filled(`${path}.${name}`, inner))
  return value && isErased(path) ? [[path, value]] : []
}
