import type { Caller } from '../../../engine/caller.ts'
import type { ValueField } from '../../../engine/definition/fields.ts'
import { readPatch } from '../../../engine/definition/input.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import type { CsvImportName } from '../../../foundation/database/generated/client.ts'
import { orRefusal, StoreFailure } from '../../../foundation/values/failure.ts'
import { NAMES_MAX } from './limits.ts'
import { withoutSubject } from './records.ts'

// Names in a file of which the store has no records. The preview lists them, and they are made with the lines that name them.

/** A name of which the store has no record. */
type NewName = Omit<CsvImportName, 'storeId' | 'importId' | 'recordId'>

/** What stands for the record of a new name in the body of a line until it is made. */
export interface Made {
  /** The number of the name. */
  readonly made: number
}

export function isMade(value: unknown): value is Made {
  return typeof value === 'object' && value !== null && Object.keys(value).join() === 'made'
}

/** The numbers of the new names in a value of a body. */
export function madeIn(value: unknown): number[] {
  if (isMade(value)) return [value.made]
  return typeof value === 'object' && value !== null ? Object.values(value).flatMap(madeIn) : []
}

/** A body with the ids of the records instead of the numbers of their names. */
export function withIds(value: unknown, ids: ReadonlyMap<number, number>): unknown {
  if (isMade(value)) return ids.get(value.made)
  if (Array.isArray(value)) return value.map((item) => withIds(item, ids))
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, withIds(inner, ids)]))
}

/** The record above a new one. Null: it has none. */
export type Above = Made | { readonly id: number } | null

/** The new names of a file, each once whatever its case, at most 500. */
export class NewNames {
  readonly #byKey = new Map<string, NewName>()
  readonly #all: NewName[] = []
  readonly #used = new Set<number>()

  /** Returns the name's number, or why its record cannot be made. */
  add(target: Resource, name: string, { path, above }: { path: string; above: Above }): Made | { problem: string } {
    const key = JSON.stringify([target.service, above, name.toLowerCase()])
    const known = this.#byKey.get(key)
    if (known !== undefined) return { made: known.number }
    const problem = unfit(target, name)
    if (problem !== null) return { problem }
    if (this.#all.length >= NAMES_MAX) {
      const advice = `a file makes at most ${NAMES_MAX} records that it names. Import these lines by another file`
      return { problem: `names no ${target.typeName} of the store, and ${advice}` }
    }
    const number = this.#all.length + 1
    const parent = above !== null && 'made' in above ? above.made : null
    const parentId = above !== null && 'id' in above ? above.id : null
    const added = { number, service: target.service, name, path, parent, parentId }
    this.#byKey.set(key, added)
    this.#all.push(added)
    return { made: number }
  }

  /** Notes that a line needs these names, and with them those above. */
  use(numbers: Iterable<number>): void {
    for (const number of numbers) {
      if (this.#used.has(number)) continue
      this.#used.add(number)
      const { parent } = this.#all[number - 1] ?? {}
      if (parent) this.use([parent])
    }
  }

  /** Those that lines need. */
  get used(): readonly NewName[] {
    return this.#all.filter(({ number }) => this.#used.has(number))
  }
}

/** The field by which records of a service are called: the only one that a new record needs. */
export function nameFieldOf({ service, fields }: Resource): {
  readonly name: string
  readonly field: ValueField & { column: string }
} {
  const required = fields.entries.flatMap(([name, field]) =>
    field.kind !== 'object' && field.kind !== 'list' && field.required && field.column !== undefined
      ? [{ name, field: { ...field, column: field.column } }]
      : [],
  )
  const [found, other] = required
  if (found === undefined || other !== undefined) throw new Error(`A ${service} record needs more than a name`)
  return found
}

function unfit(target: Resource, name: string): string | null {
  const { name: fieldName } = nameFieldOf(target)
  const made = orRefusal(() => readPatch(target.fields, { [fieldName]: name }, { mode: 'create', timeZone: 'UTC' }))
  if (!(made instanceof StoreFailure)) return null
  return `names no ${target.typeName} of the store, and one cannot be made: ${fieldName} ${withoutSubject(made, fieldName)}`
}

/** The new names of a file, by number: those above others come first. */
export async function listNames({ db, store }: Pick<Caller, 'db' | 'store'>, importId: number) {
  return db.csvImportName.findMany({ where: { storeId: store.id, importId }, orderBy: { number: 'asc' } })
}
