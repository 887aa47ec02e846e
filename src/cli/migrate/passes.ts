import { setTimeout as sleep } from 'node:timers/promises'
import type { Resource } from '../../engine/definition/define.ts'
import type { PassState } from './book.ts'
import { Copy, type Copying, counted, nameOf } from './copy.ts'
import { type ListingEnd, readList } from './listing.ts'
import { differencesOf } from './shape.ts'
import { Unavailable } from './source.ts'

/** A change is stamped before it is committed, up to a minute; the clocks may differ too (docs/integration.md). */
const OVERLAP_MS = 120_000
/** Records at the end of a list that are looked at in every round, because not every server stamps new ones by the store's clock. */
const TAIL = 50
/** What may be deleted of a service without --yes, at least: this many, or this share. */
const DELETIONS = { count: 20, share: 0.01 }
const DELETED_AT_A_TIME = 100

export interface Options {
  readonly deletes: boolean
  readonly isSure: boolean
}

/** What became of a pass, beside its sums. */
export interface PassResult {
  /** Services that could not be read, and why. */
  readonly unavailable: ReadonlyMap<string, string>
  /** Services of which fewer records came than the source counts. */
  readonly incomplete: readonly string[]
  /** Records that the source no longer has, by service. */
  readonly missing: ReadonlyMap<string, readonly number[]>
  readonly deleted: number
}

/** A copy, pass by pass. */
export class Passes {
  readonly copy: Copy
  readonly #copying: Copying
  readonly #options: Options
  readonly #unavailable = new Map<string, string>()
  readonly #incomplete: string[] = []
  readonly #missing = new Map<string, number[]>()
  #deleted = 0

  constructor(copying: Copying, options: Options) {
    this.copy = new Copy(copying)
    this.#copying = copying
    this.#options = options
  }

  get result(): PassResult {
    return {
      unavailable: this.#unavailable,
      incomplete: this.#incomplete,
      missing: this.#missing,
      deleted: this.#deleted,
    }
  }

  /** Reads the whole source, or what a run that ended early has left of it. */
  async whole(): Promise<void> {
    const { source, book } = this.#copying
    let { pass } = book.state
    if (pass === null) {
      pass = { number: book.state.lastPass + 1, beganAt: source.now().toISOString(), done: [], place: 0, sums: {} }
      await this.copy.begin()
      await book.keep({ pass })
    }
    this.copy.pass = pass.number
    for (const name of counted) this.copy.sums[name] = pass.sums[name] ?? 0
    for (const resource of source.resources) {
      if (pass.done.includes(resource.service)) continue
      const at: PassState = pass
      const keep = (place: number) => book.keep({ pass: { ...at, place, sums: { ...this.copy.sums } } })
      const end = await this.copy.whole(resource, { place: at.place, keep })
      this.#noteEnd(resource, end, (id) => book.entry(resource.service, id)?.pass === at.number)
      const done: readonly string[] = [...pass.done, resource.service]
      pass = { ...pass, done, place: 0, sums: { ...this.copy.sums } }
      await book.keep({ pass })
    }
    await this.#applyDeletions()
    await book.keep({ pass: null, lastPass: pass.number, knownUntil: pass.beganAt })
  }

  /** Reads what has changed since the last pass or round. */
  async round(): Promise<void> {
    const { source, book } = this.#copying
    const began = source.now()
    this.copy.pass = book.state.lastPass
    this.#unavailable.clear()
    this.#incomplete.length = 0
    const since = new Date(Date.parse(book.state.knownUntil ?? '') - OVERLAP_MS)
    for (const resource of source.resources) {
      if (source.knowsChanges(resource)) await this.#changes(resource, since)
      else await this.#list(resource)
    }
    await this.#applyDeletions()
    await book.keep({ knownUntil: began.toISOString() })
  }

  async #changes(resource: Resource, since: Date): Promise<void> {
    const { source } = this.#copying
    const list = readList(source, resource, { since, shaping: this.copy.shaping(resource) })
    for (;;) {
      const { done, value } = await list.next()
      if (!done) {
        await this.copy.take(resource, value.records)
        continue
      }
      if (value instanceof Unavailable || !value.isComplete) return this.#noteEnd(resource, value, () => true)
      break
    }
    await this.#tail(resource)
    await this.copy.settle(resource)
  }

  /** New records are at the end of a list; where the source counts fewer than were copied, it is read whole to see which are gone. */
  async #tail(resource: Resource): Promise<void> {
    const { source, book } = this.#copying
    const count = await source.count(resource)
    if (count instanceof Unavailable) return
    const page = await source.page(resource, { before: Math.max(0, count - TAIL) })
    if (!(page instanceof Unavailable)) {
      const shapes = page.map((record) => this.copy.shape(resource, record))
      await this.copy.take(
        resource,
        shapes.filter(({ id }) => book.entry(resource.service, id) === undefined),
      )
    }
    const known = book.entriesOf(resource.service).size - (this.#missing.get(resource.service)?.length ?? 0)
    if (count < known) await this.#list(resource)
  }

  /** Reads a list whole. */
  async #list(resource: Resource): Promise<void> {
    const { source } = this.#copying
    const seen = new Set<number>()
    const list = readList(source, resource, { shaping: this.copy.shaping(resource) })
    for (;;) {
      const { done, value } = await list.next()
      if (done) {
        await this.copy.settle(resource)
        return this.#noteEnd(resource, value, (id) => seen.has(id))
      }
      for (const { id } of value.records) seen.add(id)
      await this.copy.take(resource, value.records)
    }
  }

  /** Notes what a whole list has shown to be missing at the source; of a list that is not complete, nothing. */
  #noteEnd({ service }: Resource, end: ListingEnd | Unavailable, isThere: (id: number) => boolean): void {
    if (end instanceof Unavailable) return void this.#unavailable.set(service, end.reason)
    if (!end.isComplete) return void this.#incomplete.push(service)
    const entries = this.#copying.book.entriesOf(service)
    const missing = [...entries.keys()].filter((id) => !isThere(id))
    this.#missing.delete(service)
    // As many as the source counts have been read.
    if (missing.length > 0 && entries.size - missing.length === end.count) this.#missing.set(service, missing)
    else if (missing.length > 0) this.#incomplete.push(service)
  }

  /** Deletes what the source no longer has, in the order in which nothing refers to it any more. */
  async #applyDeletions(): Promise<void> {
    if (!this.#options.deletes) return
    const { book, progress, source } = this.#copying
    for (const resource of [...source.resources].reverse()) {
      const { service } = resource
      const missing = this.#missing.get(service) ?? []
      const allowed = Math.max(DELETIONS.count, Math.floor(book.entriesOf(service).size * DELETIONS.share))
      if (missing.length === 0) continue
      if (!resource.methods.includes('DELETE')) progress.say(`${service}: records are never deleted here`)
      else if (missing.length > allowed && !this.#options.isSure) {
        progress.say(
          `${service}: ${missing.length} records are missing there, more than ${allowed}; --yes deletes them here`,
        )
      } else await this.#delete(resource, missing)
    }
  }

  async #delete(resource: Resource, missing: readonly number[]): Promise<void> {
    const { target, book, progress } = this.#copying
    const { service } = resource
    const left: number[] = []
    for (let first = 0; first < missing.length; first += DELETED_AT_A_TIME) {
      const ids = missing.slice(first, first + DELETED_AT_A_TIME)
      const here = await target.records(resource, ids)
      const isOurs = (id: number) => {
        const print = here.get(id)?.print
        return print === undefined || print === book.entry(service, id)?.here
      }
      const deleted = ids.filter((id) => here.has(id) && isOurs(id))
      const refusals = await target.write(deleted.map((deletedId) => ({ service, deletedId })))
      const kept = new Map([
        ...ids.filter((id) => !isOurs(id)).map((id) => [id, 'it was changed here since it was copied'] as const),
        ...deleted.flatMap((id, index) => (refusals.has(index) ? [[id, refusals.get(index) ?? ''] as const] : [])),
      ])
      for (const [id, reason] of kept) progress.say(`${nameOf(service, id)} is missing there and stays here: ${reason}`)
      left.push(...kept.keys())
      const gone = ids.filter((id) => !kept.has(id))
      await book.note(
        service,
        gone.map((id) => [id, null]),
      )
      this.#deleted += gone.length
    }
    if (left.length > 0) this.#missing.set(service, left)
    else this.#missing.delete(service)
  }

  /** Reads both sides again, and notes what differs, a line each, in a file of the copy. Returns the figures. */
  async compare(): Promise<Comparison> {
    const { source, target, book, progress } = this.#copying
    const found: Comparison = { equal: 0, different: 0, onlyThere: 0, onlyHere: 0 }
    await book.remove(DIFFERENCES)
    for (const resource of source.resources) {
      const { service } = resource
      const seen = new Set<number>()
      const list = readList(source, resource, { shaping: this.copy.shaping(resource) })
      for (;;) {
        const { done, value } = await list.next()
        if (done) {
          if (value instanceof Unavailable || !value.isComplete) {
            this.#noteEnd(resource, value, () => true)
            break
          }
          // Settings that no order of the source has are in every store.
          const isSetting = resource.methods.length === 1
          const onlyHere = isSetting ? [] : (await target.ids(resource)).filter((id) => !seen.has(id))
          found.onlyHere += onlyHere.length
          await book.append(
            DIFFERENCES,
            onlyHere.map((id) => ({ service, id, only: 'here' })),
          )
          break
        }
        const here = await target.records(
          resource,
          value.records.map(({ id }) => id),
        )
        for (const shape of value.records) {
          const { id, record } = this.copy.asCopied(resource, shape)
          seen.add(id)
          const now = here.get(id)?.record
          const differences = now ? differencesOf(resource, record, now) : []
          if (now && differences.length === 0) found.equal++
          else if (now) found.different++
          else found.onlyThere++
          if (now && differences.length === 0) continue
          await book.append(DIFFERENCES, [now ? { service, id, differences } : { service, id, only: 'there' }])
        }
        progress.advance(value.records.length)
      }
    }
    return found
  }
}

export const DIFFERENCES = 'differences.ndjson'

export interface Comparison {
  equal: number
  different: number
  onlyThere: number
  onlyHere: number
}

/** Waits, unless it is asked to stop. */
export async function pause(ms: number, signal: AbortSignal): Promise<void> {
  await sleep(ms, undefined, { signal }).catch(() => {})
}
