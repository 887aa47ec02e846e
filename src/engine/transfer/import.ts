import { isClient } from '../../foundation/database/client.ts'
import { identifier, join, sql } from '../../foundation/database/sql.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { remembered } from '../../foundation/values/remembered.ts'
import type { Caller } from '../caller.ts'
import { refusalOf } from '../definition/constraints.ts'
import { tableLists } from '../definition/fields.ts'
import { isRecord } from '../definition/input.ts'
import type { Resource } from '../definition/resource.ts'
import { type NumberedLine, Spool } from './lines.ts'
import { nameLine, readDeletion, readTransferRecord, type Services, servicesOf, type TransferRecord } from './record.ts'
import { findMissing, referencesOf } from './references.ts'
import { continueLedger, type ImportOptions, removeRecord, storeRecords } from './store.ts'

/**
 * A line of a transfer file: a record with everything that belongs to it. An export consists of the store's pictures
 * (shop/pictures/transfer.ts), of such lines in the order of references, and of a final `{"end": {"records": n}}`, which distinguishes a complete file from a truncated one.
 */
export interface TransferLine {
  service: string
  /** As GET returns it. */
  record: Record<string, unknown>
  /** Data that GET does not show: private fields and additions for an exact copy (extras.ts, ledger.ts). */
  private?: Record<string, unknown>
  /** On a record's later lines: the number of ledger rows in earlier ones. Later lines add ledger rows only. */
  continues?: number
}

/** A line of a transfer file that deletes a record, by the rules of every deletion. Exports have none. */
export interface DeletionLine {
  service: string
  deletedId: number
}

export interface Refusal {
  readonly line: number
  /** Empty if the line does not name it. */
  readonly service: string
  readonly id: string
  /** Names the field. */
  readonly message: string
}

export interface ImportCounts {
  /** Lines that contain records. */
  lines: number
  stored: number
  refused: number
  /** Lines of records that `passesOver` names: neither stored nor refused. */
  passed: number
}

/** Receives the progress of an import, which waits for each returned promise. */
export interface ImportWatch {
  /** Stores what a line has that is no record; false: it is one. A StoreFailure refuses the line. */
  storeOther?(content: unknown): Promise<boolean>
  refused(refusal: Refusal): Promise<void> | void
  /** Of a line that is stored, and worth a look. */
  warned?(warning: Refusal): Promise<void> | void
  progress?(counts: Readonly<ImportCounts>): Promise<void> | void
}

const defaults: Required<ImportOptions> = { raising: false, passesOver: async () => new Set() }

/** Limits of one transaction: lines, their bytes, and their nested items. A single line may exceed them. */
const BATCH_LINES_MAX = 500
const BATCH_BYTES_MAX = 1024 * 1024
const BATCH_ITEMS_MAX = 4_000

/** From this many stored records on, an import runs ANALYZE, so that a newly filled store answers fast at once. */
const COUNTED_ANEW_FROM = 1000

/**
 * Stores the records of a transfer file exactly as given: keeps ids and fields that only the platform writes, does not
 * shift or stamp anything, and records events only on request (`raising`), as if each record had been changed separately. An existing record is replaced. A record that refers to
 * a missing record, or needs a value that another one still holds, is retried after the last line. Memory is bounded,
 * whatever the number of lines. If `lines` throws, the batch being stored still completes.
 *
 * If `caller.db` is a transaction, everything happens in it and the first refused line throws a StoreFailure.
 */
export async function importRecords(
  caller: Caller,
  resources: readonly Resource[],
  lines: AsyncIterable<NumberedLine> | Iterable<NumberedLine>,
  watch: ImportWatch,
  options: ImportOptions = {},
): Promise<ImportCounts> {
  const run = new ImportRun(caller, servicesOf(resources), watch, { ...defaults, ...options })
  try {
    for await (const line of lines) await run.take(line)
    await run.settle()
    if (run.counts.stored >= COUNTED_ANEW_FROM) {
      const tables = resources.flatMap(({ table, fields, ledger }) => {
        return [table, ...tableLists(fields).map(({ field }) => field.rows.table), ledger?.table ?? []].flat()
      })
      await caller.db.$executeRaw(sql`ANALYZE ${join(tables.map(identifier))}`)
    }
    return run.counts
  } finally {
    await run.close()
  }
}

type PendingRecord = { readonly line: NumberedLine; readonly record: TransferRecord }

class ImportRun {
  readonly counts: ImportCounts = { lines: 0, stored: 0, refused: 0, passed: 0 }
  readonly #caller: Caller
  readonly #watch: ImportWatch
  readonly #options: Required<ImportOptions>
  readonly #services: Services
  readonly #referencesOf = remembered((resource: Resource) => referencesOf(this.#caller, resource))
  #batch = new Batch()
  /** One batch is stored while the next is read. */
  #inHand: Promise<void> = Promise.resolve()
  #waiting = new Spool()
  /** Records with a ledger whose first line waits; their later lines wait too. */
  #waitingIds = new Set<string>()
  #linesSinceEnd = 0

  constructor(caller: Caller, services: Services, watch: ImportWatch, options: Required<ImportOptions>) {
    this.#caller = caller
    this.#services = services
    this.#watch = watch
    this.#options = options
  }

  async take(line: NumberedLine): Promise<void> {
    if (isRecord(line.content) && 'end' in line.content) return this.#takeEnd(line, line.content.end)
    this.counts.lines++
    this.#linesSinceEnd++
    await this.#takeRecord(line)
  }

  /** Retries the waiting lines after the last line, as long as any can be stored, and refuses the others. */
  async settle(): Promise<void> {
    await this.#flush()
    while (this.#waiting.count > 0) {
      const before = this.counts.stored
      const waiting = this.#waiting
      this.#waiting = new Spool()
      this.#waitingIds.clear()
      try {
        for await (const line of waiting.read()) await this.#takeRecord(line)
        await this.#flush()
      } finally {
        await waiting.close()
      }
      if (this.counts.stored > before) continue
      for await (const line of this.#waiting.read()) await this.#refuse(line, line.reason)
      return
    }
  }

  /** Waits for the batch being stored. */
  async close(): Promise<void> {
    await this.#inHand.catch(() => {})
    await this.#waiting.close()
  }

  async #takeEnd(line: NumberedLine, end: unknown): Promise<void> {
    const expected = isRecord(end) ? end.records : undefined
    const counted = this.#linesSinceEnd
    this.#linesSinceEnd = 0
    if (expected === counted) return
    await this.#refuse(line, `The file ends with ${String(expected)} records by its own account, and has ${counted}`)
  }

  async #takeRecord(line: NumberedLine): Promise<void> {
    if (isRecord(line.content) && 'deletedId' in line.content) return this.#remove(line)
    let record: TransferRecord
    try {
      if (await this.#watch.storeOther?.(line.content)) {
        this.counts.stored++
        return this.#watch.progress?.(this.counts)
      }
      record = await readTransferRecord(this.#services, line.content, this.#caller.store.timeZone)
    } catch (error) {
      if (!(error instanceof StoreFailure) || error.code === 'unavailable') throw error
      return this.#refuse(line, error.message)
    }
    const pending = { line, record }
    if (!this.#batch.takes(pending)) await this.#handOver()
    this.#batch.add(pending)
  }

  /** After all that came before it. */
  async #remove(line: NumberedLine): Promise<void> {
    await this.#flush()
    try {
      const { resource, id } = readDeletion(this.#services, line.content)
      const { raising, passesOver } = this.#options
      if ((await passesOver(this.#caller, resource.service, [id])).has(id)) return void this.counts.passed++
      await removeRecord(this.#caller, resource, id, raising)
      this.counts.stored++
    } catch (error) {
      if (!(error instanceof StoreFailure) || error.code === 'unavailable') throw error
      await this.#refuse(line, error.message)
    }
  }

  async #handOver(): Promise<void> {
    await this.#inHand
    const { pending } = this.#batch
    this.#batch = new Batch()
    this.#inHand = this.#store(pending)
    // Awaited later; prevents an unhandled rejection until then.
    this.#inHand.catch(() => {})
  }

  async #flush(): Promise<void> {
    await this.#handOver()
    await this.#inHand
  }

  async #store(batch: readonly PendingRecord[]): Promise<void> {
    const { service = '' } = batch[0]?.record.resource ?? {}
    const ids = batch.map(({ record }) => record.id)
    const passed = await this.#options.passesOver(this.#caller, service, ids)
    const pending = batch.filter(({ record }) => !passed.has(record.id))
    this.counts.passed += batch.length - pending.length
    const [first] = pending
    if (first === undefined) return
    const { record } = first
    const { resource } = record
    if (isContinuation(record)) {
      if (this.#waitingIds.has(nameOf(record))) await this.#setAside(first, `The ${resource.typeName} is not stored`)
      else await this.#attempt([first], () => continueLedger(this.#caller, record))
    } else {
      const records = pending.map((one) => one.record)
      const missing = await findMissing(this.#caller, await this.#referencesOf(resource), records)
      for (const one of pending) {
        const reason = missing.get(one.record)
        if (reason !== undefined) await this.#setAside(one, reason)
      }
      await this.#storeOrSplit(pending.filter((one) => !missing.has(one.record)))
    }
    await this.#watch.progress?.(this.counts)
  }

  /** Halves a failed batch to isolate the record at fault, because one failure rolls back the whole transaction. */
  async #storeOrSplit(pending: readonly PendingRecord[]): Promise<void> {
    if (pending.length === 0) return
    const records = pending.map(({ record }) => record)
    if (await this.#attempt(pending, () => storeRecords(this.#caller, records, this.#options))) return
    const middle = pending.length >> 1
    await this.#storeOrSplit(pending.slice(0, middle))
    await this.#storeOrSplit(pending.slice(middle))
  }

  /** Returns false if at least one of several records is refused. Sets a single refused record aside. */
  async #attempt(pending: readonly PendingRecord[], store: () => Promise<void>): Promise<boolean> {
    const [one] = pending as [PendingRecord]
    try {
      await store()
      this.counts.stored += pending.length
      await this.#warn(pending, one.record.resource)
      return true
    } catch (error) {
      const failure = error instanceof StoreFailure ? error : refusalOf(error, one.record.resource, 'import')
      // Not about the record.
      if (failure === null || failure.code === 'unavailable') throw error
      // A failed statement aborts the transaction, so halves cannot be retried.
      if (this.#isInTransaction()) throw new StoreFailure('invalid-value', `${linesOf(pending)}: ${failure.message}`)
      if (pending.length > 1) return false
      await this.#setAside(one, failure.message)
      return true
    }
  }

  /** Tells of stored records that have what one alone should have. */
  async #warn(pending: readonly PendingRecord[], { service, worthALook }: Resource): Promise<void> {
    const ids = pending.map(({ record: { id } }) => ({ id }))
    const problems = await worthALook?.sharers?.(this.#caller, ids)
    for (const { line, record } of problems ? pending : []) {
      const problem = problems?.get(record.id)
      const message = `${worthALook?.unshared?.[0]} ${problem}`
      if (problem) await this.#watch.warned?.({ line: line.number, service, id: String(record.id), message })
    }
  }

  async #setAside({ line, record }: PendingRecord, reason: string): Promise<void> {
    if (record.resource.ledger) this.#waitingIds.add(nameOf(record))
    await this.#waiting.add({ ...line, reason })
  }

  async #refuse(line: NumberedLine, message: string): Promise<void> {
    if (this.#isInTransaction()) throw new StoreFailure('invalid-value', `Line ${line.number}: ${message}`)
    this.counts.refused++
    await this.#watch.refused({ line: line.number, ...nameLine(this.#services, line.content), message })
  }

  #isInTransaction(): boolean {
    return !isClient(this.#caller.db)
  }
}

/** Records of one service, with distinct ids. */
class Batch {
  readonly pending: PendingRecord[] = []
  readonly #ids = new Set<number>()
  #bytes = 0
  #items = 0

  takes({ line, record }: PendingRecord): boolean {
    const [first] = this.pending
    if (first === undefined) return true
    if (first.record.resource !== record.resource || this.#ids.has(record.id)) return false
    if (isContinuation(first.record) || isContinuation(record)) return false
    if (this.pending.length >= BATCH_LINES_MAX || this.#bytes + line.bytes > BATCH_BYTES_MAX) return false
    return this.#items + record.keys.items <= BATCH_ITEMS_MAX
  }

  add(pending: PendingRecord): void {
    const { line, record } = pending
    this.pending.push(pending)
    this.#ids.add(record.id)
    this.#bytes += line.bytes
    this.#items += record.keys.items
  }
}

function isContinuation({ ledger }: TransferRecord): boolean {
  return ledger !== null && ledger.after > 0
}

function nameOf({ resource, id }: TransferRecord): string {
  return `${resource.service} ${id}`
}

function linesOf(pending: readonly PendingRecord[]): string {
  const [first] = pending
  const last = pending.at(-1)
  return first === last ? `Line ${first?.line.number}` : `Lines ${first?.line.number} to ${last?.line.number}`
}
