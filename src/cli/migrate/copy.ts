import { createReadStream } from 'node:fs'
import type { Resource } from '../../engine/definition/resource.ts'
import type { TransferLine } from '../../engine/transfer/import.ts'
import { readLines } from '../../engine/transfer/lines.ts'
import { resources } from '../../shop/registry.ts'
import { orderStatuses, statusWithoutName } from '../../shop/resources/order-statuses/order-statuses.ts'
import { beginningOf } from '../printable.ts'
import type { Progress } from '../progress.ts'
import type { Book, Entry, PassState } from './book.ts'
import { forEachPage, readList } from './listing.ts'
import { type Naming, namingsOf } from './references.ts'
import { differencesOf, keyOf, printOf, type Shape, type Shaped, type Shaping, shapeRecord } from './shape.ts'
import { isSetting, type Source, Unavailable } from './source.ts'
import type { Here, Target } from './target.ts'

export interface Copying {
  readonly source: Source
  readonly target: Target
  readonly book: Book
  readonly progress: Pick<Progress, 'advance' | 'say'>
}

const none = { read: 0, written: 0, equal: 0, changedHere: 0, deletedHere: 0, refused: 0, worthALook: 0, passed: 0 }
export type Sums = typeof none

/** Records per batch. */
const BATCH = 100
/** Unknown members that are remembered. */
const UNKNOWN_MAX = 1_000

export const files = {
  /** Refused lines to retry once their service has been read. */
  waiting: 'waiting.ndjson',
  refused: 'refused.ndjson',
  /** Cleared references to records that the source has deleted. */
  cleared: 'cleared.ndjson',
  changedHere: 'changed-here.ndjson',
  /** Written records with the invoice number of another. */
  worthALook: 'worth-a-look.ndjson',
} as const

/** A line of `waiting.ndjson` and `refused.ndjson`. */
interface WaitingLine extends TransferLine {
  /** 0: no record can have the id that the source gave. */
  readonly id: number
  readonly reason: string
}

/** A record to write. */
interface Change {
  readonly id: number
  /** The fingerprint of the source's record. */
  readonly there: string
  readonly line: TransferLine
  readonly entry: Entry | undefined
}

/** For a record that the target lacks, or that this copy did not write. */
const unknownEntry: Entry = { there: '', here: '', pass: 0 }

/** Writes records of a source into a store. Never overwrites a record that was changed in the target since it was copied. */
export class Copy {
  /** The number of the current pass, or of the last whole one. */
  pass = 0
  readonly sums: Sums = { ...none }
  /** Members of source records that no field takes, such as `Orders.Foo`. */
  readonly unknown = new Set<string>()
  readonly #copying: Copying
  /** Targets of references, by service and id, that the source has deleted. */
  readonly #cleared = new Set<string>()
  /** Records already reported as changed or deleted in the target, by service and id. */
  readonly #listed = new Set<string>()
  /** Records refused in this run, by service, id and fingerprint. Rounds retry them only after they change in the source. */
  readonly #refused = new Set<string>()
  /** Whether the target has records that the book does not list, by service and id. */
  readonly #others = new Map<string, boolean>()

  constructor(copying: Copying) {
    this.#copying = copying
  }

  /** Begins a pass or a round, with what an interrupted one has counted. */
  begin(pass: number, counted: PassState['sums'] = {}): void {
    this.pass = pass
    Object.assign(this.sums, none, counted)
  }

  /** Asks who was erased here, and finishes the bookkeeping of a run that was killed during a write. Call it once, before anything else. */
  async open(): Promise<void> {
    const { book, target } = this.#copying
    await target.readErased()
    for await (const line of linesOf<{ service: string; id: number }>(book.path(files.cleared))) {
      this.#cleared.add(nameOf(line.service, line.id))
    }
    const pending = await book.intended()
    const resource = resources.find(({ service }) => service === pending?.service)
    if (!pending || !resource) return
    const ids = pending.entries.map(([id]) => id)
    const here = await target.records(resource, ids)
    const written = pending.entries.flatMap(([id, there, pass]): [number, Entry][] => {
      const print = here.get(id)?.print ?? ''
      const isWritten = print !== '' && print !== book.entry(resource.service, id)?.here
      return isWritten ? [[id, { there, here: print, pass }]] : []
    })
    await book.note(resource.service, written)
  }

  shaping(resource: Resource): Shaping {
    const { TimeZone: timeZone } = this.#copying.target.store
    const add = (path: string) => this.unknown.add(beginningOf(`${resource.service}.${path}`, 100))
    return { timeZone, unknown: (path) => this.unknown.size < UNKNOWN_MAX && add(path) }
  }

  /**
   * Reads a whole service and writes what differs, starting at `place` if an earlier run of this pass stopped there. `keep` stores the
   * place after each page.
   */
  async whole(resource: Resource, { place, keep }: { place: number; keep: (place: number) => Promise<void> }) {
    const { source, book } = this.#copying
    const entries = [...book.entriesOf(resource.service)]
    const earlier = new Set(entries.flatMap(([id, { pass }]) => (pass === this.pass ? [id] : [])))
    const list = readList(source, resource, { place, earlier, shaping: this.shaping(resource), asks: true })
    const end = await forEachPage(list, async ({ records, place: read }) => {
      await this.take(resource, records)
      await keep(read)
    })
    await this.settle(resource)
    return end
  }

  /** Compares source records with the target and writes those that differ. */
  async take(resource: Resource, shapes: readonly Shape[]): Promise<void> {
    for (let first = 0; first < shapes.length; first += BATCH) {
      await this.#takeBatch(resource, shapes.slice(first, first + BATCH))
    }
  }

  async #takeBatch(resource: Resource, shapes: readonly Shape[]): Promise<void> {
    const { pass } = this
    const { target, book, progress } = this.#copying
    const { service } = resource
    for (const { record } of shapes) this.clearKnown(resource, record)
    const ids = shapes.map(({ id }) => id)
    const here = await target.records(resource, ids)
    const changes: Change[] = []
    const notes: [number, Entry][] = []
    for (const { id, record } of shapes) {
      const entry = book.entry(service, id)
      if (target.isErased(resource, id)) {
        notes.push([id, { ...(entry ?? unknownEntry), pass }])
        this.sums.passed++
        continue
      }
      const now = here.get(id)
      const there = printOf(resource, record)
      const verdict = verdictOf(resource, { there, record, entry, now })
      if (verdict === 'write' && !this.#refused.has(refusedName(service, id, there))) {
        changes.push({ id, there, line: { service, record, private: now?.kept ?? {} }, entry })
        continue
      }
      notes.push([
        id,
        verdict === 'equal' ? { there, here: now?.print ?? '', pass } : { ...(entry ?? unknownEntry), pass },
      ])
      if (verdict === 'equal') this.sums.equal++
      else if (verdict !== 'write') await this.#list(verdict, service, id)
    }
    const { entries, refused } = await this.#write(resource, changes)
    await book.append(files.waiting, refused)
    await book.note(service, [...notes, ...entries])
    this.sums.read += shapes.length
    progress.advance(shapes.length)
  }

  /** Writes records. Returns their book entries and the refused lines; the caller stores both. */
  async #write(resource: Resource, changes: readonly Change[]) {
    if (changes.length === 0) return { entries: [], refused: [] }
    const { pass } = this
    const { target, book } = this.#copying
    const intended = changes.map(({ id, there }): [number, string, number] => [id, there, pass])
    await book.intend(resource.service, intended)
    const refusals = await target.write(changes.map(({ line }) => line))
    const warnings = target.warnings.splice(0).map(({ service, id, message }) => ({ service, id: Number(id), message }))
    this.sums.worthALook += warnings.length
    await book.append(files.worthALook, warnings)
    const stored = changes.filter((_, index) => !refusals.has(index)).map(({ id }) => id)
    const after = await target.records(resource, stored)
    const refused: WaitingLine[] = []
    const entries = changes.map(({ id, there, line, entry }, index): [number, Entry] => {
      const now = after.get(id)
      if (now !== undefined) return [id, { there, here: now.print, pass }]
      refused.push({ ...line, id, reason: refusals.get(index) ?? 'It was deleted again at once' })
      return [id, { ...(entry ?? unknownEntry), pass }]
    })
    this.sums.written += changes.length - refused.length
    return { entries, refused }
  }

  /** Reports a record that stays as it is in the target, once per run. */
  async #list(verdict: keyof typeof problems, service: string, id: number): Promise<void> {
    const name = nameOf(service, id)
    if (this.#listed.has(name)) return
    this.#listed.add(name)
    this.sums[verdict]++
    await this.#copying.book.append(files.changedHere, [{ service, id, problem: problems[verdict] }])
  }

  /** Retries refused lines, now that their service has been read. Lines refused again go to `refused.ndjson`. */
  async settle(resource: Resource): Promise<void> {
    const { book } = this.#copying
    const { service } = resource
    const batches = batchesOf(linesOf<WaitingLine>(book.path(files.waiting)), BATCH)
    for await (const batch of batches) {
      const { own = [], others = [] } = Object.groupBy(batch, (line) => (line.service === service ? 'own' : 'others'))
      const distinct = new Map(own.map((line) => [keyOf(resource, line), line]))
      let refused = await this.#writeAgain(resource, [...distinct.values()])
      for (const line of refused) await this.#clearMissing(resource, line)
      refused = await this.#writeAgain(resource, refused)
      for (const { id, record } of refused) this.#refused.add(refusedName(service, id, printOf(resource, record)))
      // Lines of other services are records that a reference needed and the import refused.
      const lines = [...refused, ...others]
      this.sums.refused += lines.length
      await book.append(files.refused, lines)
    }
    await book.remove(files.waiting)
  }

  /** Returns the lines refused again. */
  async #writeAgain(resource: Resource, lines: readonly WaitingLine[]): Promise<WaitingLine[]> {
    const { book } = this.#copying
    const { service } = resource
    const changes = lines.map(({ id, record, private: kept = {} }): Change => {
      const line = { service, record, private: kept }
      return { id, there: printOf(resource, record), line, entry: book.entry(service, id) }
    })
    const { entries, refused } = await this.#write(resource, changes)
    await book.note(service, entries)
    return refused
  }

  /** Clears the references of a refused record whose targets the source has deleted. */
  async #clearMissing(resource: Resource, { id, record }: WaitingLine): Promise<void> {
    for (const naming of namingsOf(resource, record)) {
      if (await this.#isHere(naming)) continue
      if (await this.#fetch(naming)) continue
      const { target, id: named, member, clear } = naming
      const cleared = { service: target.service, id: named, in: nameOf(resource.service, id), member }
      await this.#copying.book.append(files.cleared, [cleared])
      this.#cleared.add(nameOf(target.service, named))
      clear()
    }
  }

  async #isHere({ target, id }: Naming): Promise<boolean> {
    const { book, target: store } = this.#copying
    if ((book.entry(target.service, id)?.here ?? '') !== '') return true
    const name = nameOf(target.service, id)
    const known = this.#others.get(name) ?? (await store.records(target, [id])).has(id)
    this.#others.set(name, known)
    return known
  }

  /** Copies a record created after its service was read. False: the source has no such record. */
  async #fetch({ target, id }: Naming): Promise<boolean> {
    const { source, book, target: store } = this.#copying
    if (this.#cleared.has(nameOf(target.service, id))) return false
    if (target.service === orderStatuses.service) {
      const refusals = await store.write([{ service: target.service, record: statusWithoutName(id) }])
      this.#others.set(nameOf(target.service, id), refusals.size === 0)
      return true
    }
    const found = await source.find(target, id)
    if (found instanceof Unavailable) return true
    if (found === null) return false
    await this.#takeBatch(target, [shapeRecord(target, found, this.shaping(target))])
    return (book.entry(target.service, id)?.here ?? '') !== ''
  }

  /** Clears references to records known to be deleted, so that the record compares equal to its copy. */
  clearKnown(resource: Resource, record: Shaped): void {
    if (this.#cleared.size === 0) return
    for (const { target, id, clear } of namingsOf(resource, record))
      if (this.#cleared.has(nameOf(target.service, id))) clear()
  }
}

const problems = {
  changedHere: 'Changed in this store since it was copied: not overwritten',
  deletedHere: 'Deleted in this store since it was copied: not created again',
} as const

function verdictOf(
  resource: Resource,
  { there, record, entry, now }: { there: string; record: Shaped; entry: Entry | undefined; now: Here | undefined },
): 'write' | 'equal' | keyof typeof problems {
  const wasHere = entry !== undefined && entry.here !== ''
  if (now === undefined) return wasHere ? 'deletedHere' : 'write'
  if (wasHere && entry.there === there && entry.here === now.print) return 'equal'
  if (differencesOf(resource, record, now.record).length === 0) return 'equal'
  // Every new store has settings, with default values.
  const isDefault = isSetting(resource) && entry === undefined
  return isDefault || (wasHere && entry.here === now.print) ? 'write' : 'changedHere'
}

function refusedName(service: string, id: number, print: string): string {
  return `${nameOf(service, id)} ${print}`
}

export function nameOf(service: string, id: number): string {
  return `${service} ${id}`
}

/** Yields the lines of a file of the copy; none if the file does not exist. */
export async function* linesOf<T>(path: string): AsyncGenerator<T> {
  try {
    for await (const { content } of readLines(createReadStream(path))) {
      // A kill may have truncated the last line.
      if (!(content instanceof Error)) yield content as T
    }
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
  }
}

async function* batchesOf<T>(items: AsyncIterable<T>, size: number): AsyncGenerator<T[]> {
  let batch: T[] = []
  for await (const item of items) {
    batch.push(item)
    if (batch.length < size) continue
    yield batch
    batch = []
  }
  if (batch.length > 0) yield batch
}
