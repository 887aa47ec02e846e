import { Readable } from 'node:stream'
import { setTimeout as sleep } from 'node:timers/promises'
import { type FieldSet, fieldsAmong, isStamp } from '../../engine/definition/fields.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import type { DeletionLine, Refusal as LineRefusal, TransferLine } from '../../engine/transfer/import.ts'
import { readLines } from '../../engine/transfer/lines.ts'
import { StartupError } from '../../foundation/process/startup-error.ts'
import { isId } from '../../foundation/values/int32.ts'
import { imageMembers } from '../../shop/pictures/fetches.ts'
import { resources } from '../../shop/registry.ts'
import { find, type Store } from '../new-store/installation.ts'
import { callServer, LostAnswer, NotListening, Refusal, type Server } from '../server.ts'
import { idOf, printOf, type Shape, type Shaped, shapeRecord } from './shape.ts'
import { isSetting } from './source.ts'

/** Ids per request. */
const IDS_MAX = 500
/** How long calls are retried: a restart takes less. */
const FAILING_MS_MAX = 300_000
const RETRY_MS = 2_000

/** A record of the target. */
export interface Here extends Shape {
  /** Private fields that a write must keep because no source has them, such as a customer's password hash. */
  readonly kept: Shaped
  readonly print: string
}

/** As the operator's routes show it. */
type TargetStore = Pick<Store, 'Id' | 'Name' | 'SecureURL'> & { readonly TimeZone: string }

type Erasure = Readonly<Record<'Orders' | 'Returns' | 'GiftRegistries', readonly number[]>> & {
  readonly CustomerID: number | null
}

/** The store to copy into, through the operator's export and import routes. */
export class Target {
  readonly store: TargetStore
  /** What was worth a look of what was written, for somebody to take. */
  readonly warnings: LineRefusal[] = []
  readonly #server: Server
  /** Records that get nothing of their person again, by service. */
  readonly #erased = new Map<string, Set<number>>()
  readonly #say: (line: string) => void

  private constructor(server: Server, store: TargetStore, say: (line: string) => void) {
    this.#server = server
    this.store = store
    this.#say = say
  }

  /** Throws StartupError if the server cannot be reached or has no such store. */
  static async open(server: Server, storeId: number, say: (line: string) => void): Promise<Target> {
    const store = await find<TargetStore>(server, '/admin/stores', ({ Id }) => Id === storeId)
    if (!store) throw new StartupError(`There is no store ${storeId}. Open it with npm run new-store`)
    return new Target(server, store, say)
  }

  /** Whether the store has records, not counting settings such as order statuses, which every store has. */
  async hasRecords(): Promise<boolean> {
    for (const resource of resources) {
      if (isSetting(resource)) continue
      for await (const _line of this.#lines(resource)) return true
    }
    return false
  }

  /** Reads records by id. Ids that do not exist, or that no record can have, are missing in the result. */
  async records(resource: Resource, given: readonly number[]): Promise<Map<number, Here>> {
    const found = new Map<number, Here>()
    const ids = given.filter(isId)
    const names = keptFields(resource).entries.map(([name]) => name)
    for (let first = 0; first < ids.length; first += IDS_MAX) {
      const some = ids.slice(first, first + IDS_MAX)
      await this.#again(async () => {
        for await (const { record, private: hidden = {} } of this.#lines(resource, some)) {
          const shape = shapeRecord(resource, record, { timeZone: this.store.TimeZone })
          const kept = Object.fromEntries(names.flatMap((name) => (name in hidden ? [[name, hidden[name]]] : [])))
          found.set(shape.id, { ...shape, kept, print: printOf(resource, shape.record) })
        }
      })
    }
    return found
  }

  /** Asks who was erased since. */
  async readErased(): Promise<void> {
    const path = `/admin/stores/${this.store.Id}/erasures`
    const note = ({ CustomerID, Orders, Returns: RMA, GiftRegistries }: Erasure) => {
      const Customers = CustomerID === null ? [] : [CustomerID]
      for (const [service, ids] of Object.entries({ Customers, Orders, RMA, GiftRegistries }))
        this.#erased.set(service, (this.#erased.get(service) ?? new Set()).union(new Set(ids)))
      return false
    }
    await this.#again(() => find<Erasure>(this.#server, path, note))
  }

  /** Whether a write of the record is passed over. */
  isErased({ service }: Resource, id: number): boolean {
    return this.#erased.get(service)?.has(id) === true
  }

  /** Lists all ids of a service. */
  async ids(resource: Resource): Promise<number[]> {
    return this.#again(async () => {
      const ids: number[] = []
      for await (const { record } of this.#lines(resource)) ids.push(idOf(resource, record))
      return ids
    })
  }

  /** Lists what the images of all records say. */
  async images(): Promise<Set<string>> {
    return this.#again(async () => {
      const texts = new Set<string>()
      for (const resource of resources) {
        const names = imageMembers(resource.fields)
        const note = (name: string, value: unknown) => {
          if (names.includes(name)) texts.add(String(value).trim())
          return value
        }
        if (names.length > 0) for await (const { record } of this.#lines(resource)) JSON.stringify(record, note)
      }
      return texts
    })
  }

  /** Has the picture fetched that a text means. Returns why it could not be; empty: it is stored. */
  async fetch(body: { readonly Path: string; readonly Address: string }): Promise<string> {
    const path = `/admin/stores/${this.store.Id}/pictures`
    const headers = { 'content-type': 'application/json' }
    const sent = { method: 'POST', headers, body: JSON.stringify(body) } as const
    const answer = await this.#again(async () => (await callServer(this.#server, path, sent)).json())
    const [picture] = answer as [{ readonly Reason: string }]
    return picture.Reason
  }

  /** Imports lines. Returns the reasons of refused lines, by index. Safe to repeat: a line replaces the stored record. */
  async write(lines: readonly (TransferLine | DeletionLine)[]): Promise<Map<number, string>> {
    const body = lines.map((line) => `${JSON.stringify(line)}\n`).join('')
    return this.#again(() => this.#import(Readable.from([body])))
  }

  async #import(body: Readable): Promise<Map<number, string>> {
    const path = `/admin/stores/${this.store.Id}/import`
    const headers = { 'content-type': 'application/x-ndjson' }
    const report = await callServer(this.#server, path, { method: 'POST', headers, body })
    const refused = new Map<number, string>()
    for await (const { content } of readLines(report)) {
      const line = content as {
        refused?: LineRefusal
        warned?: LineRefusal
        failed?: { message: string }
        done?: object
      }
      if (line.refused) refused.set(line.refused.line - 1, line.refused.message)
      if (line.warned) this.warnings.push(line.warned)
      if (line.failed) throw new LostAnswer(line.failed.message)
      if (line.done) return refused
    }
    throw new LostAnswer('The server ended its answer early')
  }

  async *#lines(resource: Resource, ids?: readonly number[]): AsyncGenerator<TransferLine> {
    const { service } = resource
    const only = ids === undefined ? '' : `&ids=${ids.join(',')}`
    const body = await callServer(this.#server, `/admin/stores/${this.store.Id}/export?service=${service}${only}`)
    let isWhole = false
    for await (const { content } of readLines(body)) {
      const line = content as TransferLine & { end?: object }
      if (line.end) isWhole = true
      else if (line.continues === undefined) yield line
    }
    if (!isWhole) throw new LostAnswer('The server ended its answer early')
  }

  /** Retries a call while the server does not answer. */
  async #again<T>(call: () => Promise<T>): Promise<T> {
    const beganMs = performance.now()
    for (;;) {
      try {
        return await call()
      } catch (error) {
        if (!isPassing(error) || performance.now() - beganMs > FAILING_MS_MAX) throw error
        this.#say(`This server did not answer (${(error as Error).message}); the next try is in ${RETRY_MS / 1_000} s`)
        await sleep(RETRY_MS)
      }
    }
  }
}

/** Whether a retry may succeed. */
function isPassing(error: unknown): boolean {
  if (error instanceof Refusal) return error.status === 429 || error.status >= 500
  return error instanceof LostAnswer || error instanceof NotListening || !(error instanceof StartupError)
}

/** Selects the private fields, except the stamps of the last change. */
function keptFields({ fields, storedFields }: Resource): FieldSet {
  return fieldsAmong(storedFields, (name) => {
    const field = storedFields.get(name)
    return fields.get(name) === undefined && !(field && field.kind !== 'object' && isStamp(field))
  })
}
