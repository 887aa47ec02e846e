import { createHash } from 'node:crypto'
import type { Caller } from '../../../engine/caller.ts'
import { fieldsAmong } from '../../../engine/definition/fields.ts'
import { compileReader, type WireRecord } from '../../../engine/definition/reader.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { findByAlternateKeys } from '../../../engine/reading/read.ts'
import { type Representation, recordValues } from '../../../engine/reading/representations.ts'
import { readByIds } from '../../../engine/reading/rows.ts'
import { setIn } from '../../../foundation/values/json.ts'
import { remembered } from '../../../foundation/values/remembered.ts'
import { isEmailAddress } from '../../resources/customers/rules.ts'
import type { Cell } from '../lines/cells.ts'
import { type Column, isTaken, namingOf } from '../lines/columns.ts'
import { madeIn } from '../lines/new-names.ts'
import {
  bodyOf,
  type ChangedCell,
  changedCells,
  changedNames,
  type Difference,
  exponentMark,
  type FileRecord,
  type Problem,
  type Reading,
  readNew,
  refusedCells,
  type StoredLists,
} from '../lines/records.ts'
import { itemsStored } from '../lines/references.ts'
import { afterOf, lookedAt } from '../lines/worth-a-look.ts'

/** The values that a file may give, without the lists, whose reading would cost most. One statement, whatever a file's columns. */
const valuesOf = remembered(({ fields }: Resource): Representation<WireRecord> => {
  const isWanted = (name: string) => {
    const field = fields.get(name)
    return field?.kind === 'object' || (field !== undefined && field.kind !== 'list' && isTaken({ field }))
  }
  return recordValues(compileReader(fieldsAmong(fields, isWanted)))
})

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
  /** What is stored in place of it, likewise, which a change of chosen records has to find; omitted: whatever is there. */
  readonly before?: object
  /** The tag of the record as it was shown, likewise. */
  readonly etag?: string
  readonly changes: readonly Difference[]
  readonly problems: readonly Problem[]
  /** The numbers of the new names in the body. */
  readonly made: readonly number[]
}

/** Zeros that a spreadsheet may have taken off the beginning of a unique text. */
const ZEROS_MAX = 12

/** Compares the records of a file with those of the store, in order, a batch at a time. */
export class Comparison {
  readonly #caller: Caller
  readonly #resource: Resource
  readonly #reading: Omit<Reading, 'references'>
  readonly #naming: ReturnType<typeof namingOf>
  /** The lines of the records so far, by id or by the hash of a new record's name. */
  readonly #lines = new Map<number | string, number>()
  /** What lines give that one record alone should have. */
  readonly #shared = new Map<string, number>()

  constructor(caller: Caller, reading: Omit<Reading, 'references'>) {
    this.#caller = caller
    this.#reading = reading
    this.#resource = reading.resource
    this.#naming = namingOf(reading.resource)
  }

  async compare(records: readonly FileRecord[]): Promise<Line[]> {
    const ids = await this.#idsOf(records)
    const wanted = [...new Set(ids.filter((id) => id > 0))]
    const stored = await readByIds(this.#caller, this.#resource, wanted, valuesOf(this.#resource))
    const lists = await this.#listsOf(wanted)
    const longer = await this.#withZeros(records.filter((_, at) => ids[at] === 0))
    const lines = records.map((record, at) => {
      const id = ids[at] ?? 0
      return marked(this.#lineOf(record, id, stored.get(id), lists.get(id)), this.#naming.text, longer.get(record.name))
    })
    return this.#markShared(await this.#takeNames(records, lines))
  }

  /** Marks what one record alone should have, and another has. */
  async #markShared(lines: readonly Line[]): Promise<Line[]> {
    const { unshared = [], sharers } = this.#resource.worthALook ?? {}
    const isUnshared = ([column]: Difference) => unshared.includes(column)
    const given = lines.flatMap(({ recordId: id, changes }) =>
      id !== null && changes.some(isUnshared) ? { ...afterOf(changes), id } : [],
    )
    const problems = given.length === 0 ? undefined : await sharers?.(this.#caller, given, this.#shared)
    return lines.map((line) => {
      const problem = problems?.get(line.recordId ?? 0)
      if (problem === undefined) return line
      return { ...line, changes: line.changes.map((one) => (isUnshared(one) ? [...one, problem] : one)) }
    })
  }

  /** Refuses lines that give a record the unique text of another one, or of an earlier line. */
  async #takeNames(records: readonly FileRecord[], lines: readonly Line[]): Promise<Line[]> {
    const { text } = this.#naming
    const isRenaming = ({ outcome, changes }: Line, at: number) =>
      outcome === 'change' && (records[at]?.id ?? 0) > 0 && changes.some(([column]) => column === text?.name)
    const names = lines.flatMap((line, at) => (isRenaming(line, at) ? [line.name] : []))
    const holders = await this.#find(names)
    return lines.map((line, at) => {
      if (text === null || !isRenaming(line, at)) return line
      const { name, recordId } = line
      const before = this.#lineBefore(line.line, 0, name)
      if (before !== null) return refused(line, [[text.name, name, `is given to another record by line ${before}`]])
      const holder = holders.get(name)
      // Other capitals of its own text are free.
      if (holder === undefined || holder === recordId) return line
      return refused(line, [[text.name, name, `is already used by another ${this.#resource.typeName}`]])
    })
  }

  /** The unique texts that new records have without leading zeros. */
  async #withZeros(added: readonly FileRecord[]): Promise<ReadonlyMap<string, string>> {
    const names = added.map(({ name }) => name).filter((name) => /^[1-9]\d{0,19}$/.test(name))
    const longer = new Map(
      names.flatMap((name) => Array.from({ length: ZEROS_MAX }, (_, zeros) => ['0'.repeat(zeros + 1) + name, name])),
    )
    const found = await this.#find([...longer.keys()])
    return new Map([...found.keys()].map((text) => [longer.get(text) ?? '', text]))
  }

  async #find(names: readonly string[]): Promise<ReadonlyMap<string, number>> {
    const { namedBy: alternateKey } = this.#resource
    if (names.length === 0 || alternateKey === undefined) return new Map()
    return findByAlternateKeys(this.#caller, { ...this.#resource, alternateKey }, names)
  }

  /** What the lists of these records name that the file gives, by record and list. */
  async #listsOf(ids: readonly number[]): Promise<ReadonlyMap<number, StoredLists>> {
    const columns = [...(this.#reading.headings.other?.lists.values() ?? [])]
    const all = new Map(ids.map((id) => [id, new Map()]))
    for (const column of ids.length === 0 ? [] : columns) {
      for (const { id, ...items } of await itemsStored(this.#caller, column, ids)) all.get(id)?.set(column.name, items)
    }
    return all
  }

  /** The ids of the records, by their names where they give none. 0: there is no such record. */
  async #idsOf(records: readonly FileRecord[]): Promise<number[]> {
    const names = new Set(records.flatMap(({ id, name }) => (id === 0 && name !== '' ? [name] : [])))
    const found = await this.#find([...names])
    return records.map(({ id, name }) => (id === 0 ? (found.get(name) ?? 0) : id))
  }

  /** `lists`: those of the stored record that the file gives. */
  #lineOf(record: FileRecord, id: number, stored: WireRecord | undefined, lists: StoredLists = new Map()): Line {
    const { line } = record
    const name = record.name === '' && id > 0 ? String(id) : record.name
    const known = { line, recordId: stored === undefined ? null : id, name }
    const unread = record.problems.length > 0 ? record.problems : refusedCells(record, stored)
    const problems = unread.length > 0 ? unread : this.#problemsOf(record, id, stored !== undefined)
    const read = stored === undefined && problems.length === 0 ? readNew(this.#caller, this.#reading, record) : record
    const found = [...problems, ...(read === record ? [] : read.problems)]
    if (found.length > 0) return refused(known, found)
    const isName = (column: Column) =>
      stored !== undefined && record.id === 0 && column.name === this.#naming.text?.name
    const changed = changedCells(this.#caller, read, stored ?? null, isName)
    const unfit = changed.flatMap(({ cell }) => unfitAddress(cell))
    if (unfit.length > 0) return refused(known, unfit)
    const named = changedNames(record, { record: stored ?? null, lists })
    const outcome = stored === undefined ? 'new' : changed.length + named.length === 0 ? 'same' : 'change'
    const { changes, ...content } = contentOf(changed, named)
    const looked = lookedAt(this.#caller, this.#resource, changes, stored)
    return { ...known, ...content, changes: looked, outcome, problems: [] }
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
    const { keyForms = (text) => [text] } = this.#resource
    const keys = id === 0 ? keyForms(name).map(hashOf) : [id]
    const before = keys.map((key) => this.#lines.get(key)).find((known) => known !== undefined)
    if (before === undefined) for (const key of keys) this.#lines.set(key, line)
    return before ?? null
  }
}

/** What the rules of the service would refuse. */
function unfitAddress({ column: { name, field }, text, typed }: Cell): Problem[] {
  const isFit = field.bounds.format !== 'email' || isEmailAddress(text.trim())
  return isFit ? [] : [[name, typed, 'must be an e-mail address such as name@shop.example']]
}

/** The line of a record that is not changed. */
export function refused(
  { line, recordId, name }: Pick<Line, 'line' | 'recordId' | 'name'>,
  problems: readonly Problem[],
): Line {
  const nothing = { body: {}, secret: null, changes: [], made: [] }
  return { line, recordId, name, ...nothing, outcome: 'refused', problems }
}

/** The line with a mark at its unique text, if a stored record has it with leading zeros (`longer`), or if it looks shortened. */
function marked(line: Line, text: Column | null, longer: string | undefined): Line {
  const zeros = longer === undefined ? null : `is new, but ${longer} exists: spreadsheets remove leading zeros`
  if (text === null || line.recordId !== null) return line
  if (line.outcome === 'refused') {
    // It is refused because it is new, which would say nothing of why.
    const mark = zeros ?? exponentMark(line.name)
    return mark === null ? line : { ...line, problems: [...line.problems, [text.name, line.name, mark]] }
  }
  if (zeros === null) return line
  const changes = line.changes.map((one) => (one[0] === text.name ? ([...one, zeros] as const) : one))
  return { ...line, changes }
}

/** Names may be long, and there may be as many as a file has lines. */
function hashOf(name: string): string {
  return createHash('sha256').update(name.toLowerCase()).digest('base64url').slice(0, 16)
}

function contentOf(changed: readonly ChangedCell[], named: ReturnType<typeof changedNames>) {
  const isSecret = ({ cell: { column } }: ChangedCell) => column.field.access === 'wo'
  const cellsOf = (cells: readonly ChangedCell[]) => bodyOf(cells.map(({ cell }) => cell))
  const secrets = changed.filter(isSecret)
  const body = cellsOf(changed.filter((cell) => !isSecret(cell)))
  for (const { cell } of named) setIn(body, 'path' in cell.column ? cell.column.path : [cell.column.name], cell.value)
  return {
    body,
    secret: secrets.length === 0 ? null : cellsOf(secrets),
    changes: [...changed, ...named].map(({ difference }) => difference),
    made: named.flatMap(({ cell }) => madeIn(cell.value)),
  }
}
