import { createHash } from 'node:crypto'
import type { Caller } from '../engine/caller.ts'
import type { Resource } from '../engine/define.ts'
import { fieldsAmong } from '../engine/fields.ts'
import { findByAlternateKeys } from '../engine/read.ts'
import { compileReader, type WireRecord } from '../engine/reader.ts'
import { type Representation, recordValues } from '../engine/representations.ts'
import { readByIds } from '../engine/rows.ts'
import { type Column, isTaken, namedBy, namingOf } from './columns.ts'
import {
  bodyOf,
  type ChangedCell,
  changedCells,
  type Difference,
  type FileRecord,
  type Problem,
  readNew,
  refusedCells,
} from './records.ts'

const readers = new WeakMap<Resource, Representation<WireRecord>>()

/** The values that a file may give, without the lists, whose reading would cost most. One statement, whatever a file's columns. */
function valuesOf(resource: Resource): Representation<WireRecord> {
  const { fields } = resource
  const isWanted = (name: string) => {
    const field = fields.get(name)
    return field?.kind === 'object' || (field !== undefined && field.kind !== 'list' && isTaken({ field }))
  }
  const known = readers.get(resource) ?? recordValues(compileReader(fieldsAmong(fields, isWanted)))
  readers.set(resource, known)
  return known
}

/** What a record of a file would do. */
export interface Line {
  readonly line: number
  readonly outcome: 'same' | 'change' | 'new' | 'refused'
  /** Null: there is none yet. */
  readonly recordId: number | null
  /** What the file calls the record. */
  readonly name: string
  /** What is to be changed, as the body of a request, without write-only values. */
  readonly body: object
  /** Those, likewise; null: there are none. */
  readonly secret: object | null
  readonly changes: readonly Difference[]
  readonly problems: readonly Problem[]
}

/** Compares the records of a file with those of the store, in order, a batch at a time. */
export class Comparison {
  readonly #caller: Caller
  readonly #resource: Resource
  readonly #naming: ReturnType<typeof namingOf>
  /** The lines of the records so far, by id or by the hash of a new record's name. */
  readonly #lines = new Map<number | string, number>()

  constructor(caller: Caller, resource: Resource) {
    this.#caller = caller
    this.#resource = resource
    this.#naming = namingOf(resource)
  }

  async compare(records: readonly FileRecord[]): Promise<Line[]> {
    const ids = await this.#idsOf(records)
    const wanted = [...new Set(ids.filter((id) => id > 0))]
    const { table, owner } = this.#resource
    const source = { table, owned: owner?.(this.#caller) ?? null }
    const stored =
      wanted.length === 0
        ? new Map<number, WireRecord>()
        : await readByIds(this.#caller, source, wanted, valuesOf(this.#resource))
    return records.map((record, at) => this.#lineOf(record, ids[at] ?? 0, stored.get(ids[at] ?? 0)))
  }

  /** The ids of the records, by their names where they give none. 0: there is no such record. */
  async #idsOf(records: readonly FileRecord[]): Promise<number[]> {
    const names = [...new Set(records.flatMap(({ id, name }) => (id === 0 && name !== '' ? [name] : [])))]
    const alternateKey = namedBy(this.#resource)
    const found: ReadonlyMap<string, number> =
      names.length === 0 || alternateKey === undefined
        ? new Map()
        : await findByAlternateKeys(this.#caller, { ...this.#resource, alternateKey }, names)
    return records.map(({ id, name }) => (id === 0 ? (found.get(name) ?? 0) : id))
  }

  #lineOf(record: FileRecord, id: number, stored: WireRecord | undefined): Line {
    const { line } = record
    const name = record.name === '' && id > 0 ? String(id) : record.name
    const known = { line, recordId: stored === undefined ? null : id, name }
    const refused = [...record.problems, ...refusedCells(record, stored)]
    const problems = refused.length > 0 ? refused : this.#problemsOf(record, id, stored !== undefined)
    const read = stored === undefined && problems.length === 0 ? readNew(this.#caller, this.#resource, record) : record
    const found = [...problems, ...(read === record ? [] : read.problems)]
    if (found.length > 0) {
      return { ...known, outcome: 'refused', body: {}, secret: null, changes: [], problems: found }
    }
    if (stored === undefined) {
      const changed = changedCells(this.#caller, read, null, () => false)
      return { ...known, ...contentOf(changed), outcome: 'new', problems: [] }
    }
    const isName = (column: Column) => record.id === 0 && column.name === this.#naming.text?.name
    const changed = changedCells(this.#caller, record, stored, isName)
    return { ...known, ...contentOf(changed), outcome: changed.length === 0 ? 'same' : 'change', problems: [] }
  }

  #problemsOf({ line, id: given, name }: FileRecord, id: number, isThere: boolean): Problem[] {
    const { key, text } = this.#naming
    const { typeName, methods } = this.#resource
    if (id > 0 && !isThere) return [[key.name, String(id), `names no ${typeName} of the store`]]
    if (id === 0 && !methods.includes('POST')) return [[key.name, '', `is needed: a file cannot add a new ${typeName}`]]
    const before = this.#lineBefore(line, id, name)
    const naming = given === 0 && text !== null ? text : key
    return before === null ? [] : [[naming.name, name || String(id), `names the same record as line ${before}`]]
  }

  /** The line that had the record before; null: this is the first. */
  #lineBefore(line: number, id: number, name: string): number | null {
    if (id === 0 && name === '') return null
    const key = id === 0 ? hashOf(name) : id
    const before = this.#lines.get(key)
    if (before === undefined) this.#lines.set(key, line)
    return before ?? null
  }
}

/** Names may be long, and there may be as many as a file has lines. */
function hashOf(name: string): string {
  return createHash('sha256').update(name.toLowerCase()).digest('base64url').slice(0, 16)
}

function contentOf(changed: readonly ChangedCell[]): Pick<Line, 'body' | 'secret' | 'changes'> {
  const isSecret = ({ cell: [{ field }] }: ChangedCell) => field.access === 'wo'
  const cellsOf = (cells: readonly ChangedCell[]) => bodyOf(cells.map(({ cell }) => cell))
  const secrets = changed.filter(isSecret)
  return {
    body: cellsOf(changed.filter((cell) => !isSecret(cell))),
    secret: secrets.length === 0 ? null : cellsOf(secrets),
    changes: changed.map(({ difference }) => difference),
  }
}
