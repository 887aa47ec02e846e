import type { Resource } from '../../engine/definition/resource.ts'
import { resources } from '../../shop/registry.ts'
import type { PassState } from './book.ts'
import { Copy, type Copying, files, nameOf } from './copy.ts'
import { forEachPage, type ListingEnd, readList } from './listing.ts'
import { differencesOf, shapeRecord } from './shape.ts'
import { isSetting, Unavailable } from './source.ts'

/** The overlap of docs/integration.md: a change is stamped up to a minute before its commit, and clocks differ. */
const OVERLAP_MS = 120_000
/** Records at the end of a list that every round reads, because some servers stamp new records in another time zone. */
const TAIL = 50
/** The most deletions of a service without --yes: the greater of a number and a share of its records. */
const DELETIONS = { count: 20, share: 0.01 }
const DELETED_AT_A_TIME = 100

export interface Options {
  readonly deletes: boolean
  readonly isSure: boolean
}

/** Runs the passes, rounds and comparisons of a copy. */
export class Passes {
  readonly copy: Copy
  /** Reasons why services could not be read, by service. */
  readonly unavailable = new Map<string, string>()
  /** Why lists were not read to their end, by service. */
  readonly incomplete = new Map<string, string>()
  /** Records that a list had more than once, by service. */
  readonly again = new Map<string, ListingEnd['again']>()
  /** Ids of records that the source has deleted, by service. */
  readonly missing = new Map<string, readonly number[]>()
  deleted = 0
  readonly #copying: Copying
  readonly #options: Options

  constructor(copying: Copying, options: Options) {
    this.copy = new Copy(copying)
    this.#copying = copying
    this.#options = options
  }

  /** Copies the whole source, continuing an interrupted pass. */
  async whole(): Promise<void> {
    const { source, book } = this.#copying
    let { pass } = book.state
    if (pass === null) {
      pass = { number: book.state.lastPass + 1, beganAt: source.now().toISOString(), done: [], place: 0, sums: {} }
      await book.remove(files.waiting, files.refused, files.changedHere)
      await book.keep({ pass })
    }
    this.copy.begin(pass.number, pass.sums)
    for (const resource of resources) {
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

  /** Copies what has changed since the last pass or round. */
  async round(): Promise<void> {
    const { source, target, book } = this.#copying
    await target.readErased()
    const began = source.now()
    this.copy.begin(book.state.lastPass)
    this.unavailable.clear()
    this.incomplete.clear()
    this.deleted = 0
    const since = new Date(Date.parse(book.state.knownUntil ?? '') - OVERLAP_MS)
    let isWhole = true
    for (const resource of resources) {
      if (!source.knowsChanges(resource)) await this.#list(resource)
      else if (!(await this.#changes(resource, since))) isWhole = false
    }
    await this.#applyDeletions()
    // Otherwise the next round reads from the same time on.
    if (isWhole) await book.keep({ knownUntil: began.toISOString() })
  }

  /** Returns whether all changes were read. */
  async #changes(resource: Resource, since: Date): Promise<boolean> {
    const { source } = this.#copying
    const list = readList(source, resource, { since, shaping: this.copy.shaping(resource) })
    const end = await forEachPage(list, ({ records }) => this.copy.take(resource, records))
    const isWhole = !(end instanceof Unavailable) && end.problem === null
    if (isWhole) await this.#tail(resource)
    else this.#noteEnd(resource, end, () => true)
    await this.copy.settle(resource)
    return isWhole
  }

  /** Reads the end of a list for new records, and the whole list if the source counts fewer records than were copied. */
  async #tail(resource: Resource): Promise<void> {
    const { source, book } = this.#copying
    const count = await source.count(resource)
    if (count instanceof Unavailable) return
    const page = await source.page(resource, { before: Math.max(0, count - TAIL) })
    if (!(page instanceof Unavailable)) {
      const shapes = page.map((record) => shapeRecord(resource, record, this.copy.shaping(resource)))
      const added = shapes.filter(({ id }) => book.entry(resource.service, id) === undefined)
      await this.copy.take(resource, added)
    }
    const known = book.entriesOf(resource.service).size - (this.missing.get(resource.service)?.length ?? 0)
    if (count < known) await this.#list(resource)
  }

  /** Copies a whole list. */
  async #list(resource: Resource): Promise<void> {
    const { source } = this.#copying
    const seen = new Set<number>()
    const list = readList(source, resource, { shaping: this.copy.shaping(resource) })
    const end = await forEachPage(list, async ({ records }) => {
      for (const { id } of records) seen.add(id)
      await this.copy.take(resource, records)
    })
    await this.copy.settle(resource)
    this.#noteEnd(resource, end, (id) => seen.has(id))
  }

  /** Records which ids a complete list lacks, or why the list was not complete. */
  #noteEnd(resource: Resource, end: ListingEnd | Unavailable, isThere: (id: number) => boolean): void {
    const { service } = resource
    if (end instanceof Unavailable) return void this.unavailable.set(service, end.reason)
    if (end.problem !== null) return void this.incomplete.set(service, end.problem)
    this.again.delete(service)
    if (end.again.length > 0) this.again.set(service, end.again)
    const { target, book } = this.#copying
    const missing = [...book.entriesOf(service).keys()].filter((id) => !isThere(id) && !target.isErased(resource, id))
    this.missing.delete(service)
    // Trusts the list only if the numbers agree.
    if (missing.length > 0 && end.isExact) this.missing.set(service, missing)
    else if (missing.length > 0) this.incomplete.set(service, 'the list changed while it was read; run this again')
  }

  /** Deletes what the source has deleted; referring services first. */
  async #applyDeletions(): Promise<void> {
    if (!this.#options.deletes) return
    const { book, progress } = this.#copying
    for (const resource of resources.toReversed()) {
      const { service } = resource
      const missing = this.missing.get(service) ?? []
      const allowed = Math.max(DELETIONS.count, Math.floor(book.entriesOf(service).size * DELETIONS.share))
      if (missing.length === 0) continue
      if (!resource.methods.includes('DELETE')) progress.say(`${service}: records are never deleted here`)
      else if (missing.length > allowed && !this.#options.isSure) {
        const many = `${missing.length} records are missing there, more than ${allowed}`
        progress.say(`${service}: ${many}; --yes deletes them here`)
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
      const gone = ids.flatMap((id): [number, null][] => (kept.has(id) ? [] : [[id, null]]))
      await book.note(service, gone)
      this.deleted += gone.length
    }
    if (left.length > 0) this.missing.set(service, left)
    else this.missing.delete(service)
  }

  /** Compares both sides record by record. Writes a line per difference to `differences.ndjson` and returns the figures. */
  async compare() {
    const { source, target, book, progress } = this.#copying
    const found = { equal: 0, different: 0, onlyThere: 0, onlyHere: 0 }
    await book.remove(DIFFERENCES)
    for (const resource of resources) {
      const { service } = resource
      const seen = new Set<number>()
      const list = readList(source, resource, { shaping: this.copy.shaping(resource) })
      const end = await forEachPage(list, async ({ records }) => {
        const ids = records.map(({ id }) => id)
        const here = await target.records(resource, ids)
        for (const { id, record } of records) {
          this.copy.clearKnown(resource, record)
          seen.add(id)
          if (target.isErased(resource, id)) continue
          const now = here.get(id)?.record
          const differences = now ? differencesOf(resource, record, now) : []
          if (now && differences.length === 0) {
            found.equal++
            continue
          }
          if (now) found.different++
          else found.onlyThere++
          await book.append(DIFFERENCES, [now ? { service, id, differences } : { service, id, only: 'there' }])
        }
        progress.advance(records.length)
      })
      this.#noteEnd(resource, end, () => true)
      if (end instanceof Unavailable || end.problem !== null) continue
      // Every store has settings that the source may lack.
      const own = isSetting(resource)
        ? []
        : (await target.ids(resource)).filter((id) => !seen.has(id) && !target.isErased(resource, id))
      found.onlyHere += own.length
      const onlyHere = own.map((id) => ({ service, id, only: 'here' }))
      await book.append(DIFFERENCES, onlyHere)
    }
    return found
  }
}

export const DIFFERENCES = 'differences.ndjson'
