import type { Resource } from '../../engine/definition/resource.ts'
import { confirm } from './keys.ts'
import { keyOf, type Shape, type Shaping, shapeRecord } from './shape.ts'
import { type Source, Unavailable } from './source.ts'

export interface Listing {
  readonly since?: Date
  /** The position up to which an earlier run has read the list. */
  readonly place?: number
  /** Ids that the earlier run has read. */
  readonly earlier?: ReadonlySet<number>
  readonly shaping: Shaping
  /** Whether somebody is asked where far more records came than the source counts; else the list is left there. */
  readonly asks?: boolean
}

export interface Page {
  /** Records that no earlier page had. */
  readonly records: readonly Shape[]
  /** The position up to which the list is read, plus or minus one. */
  readonly place: number
}

export interface ListingEnd {
  /** Null: at least as many records came as the source counts. */
  readonly problem: string | null
  /** Whether exactly as many came. */
  readonly isExact: boolean
  /** Records that the list has more than once. */
  readonly again: readonly string[]
}

/** Retries of a page without new records while the source counts more than were read. */
const DOUBTS_MAX = 5

/**
 * Yields each record of a list once, by offset. Works whether the source counts offsets from 0 or from 1, returns short pages, or
 * deletes records meanwhile: each page overlaps the last one, and a page that does not begin with a known record is read again from
 * half a page earlier.
 */
export async function* readList(
  source: Source,
  resource: Resource,
  { since, place: begin = 0, earlier = new Set(), shaping, asks = false }: Listing,
): AsyncGenerator<Page, ListingEnd | Unavailable> {
  const seen = createSeen(resource, earlier)
  const at = (before: number) => (since === undefined ? { before } : { before, since })
  const stepBack = Math.ceil(resource.maxRecords / 2)
  let place = begin
  let doubts = 0
  /** Beyond as many records the source is asked how many it has. */
  let bound = resource.maxRecords
  for (;;) {
    const before = Math.max(0, place - 1)
    const given = await source.page(resource, at(before))
    if (given instanceof Unavailable) return given
    const page = given.map((record) => shapeRecord(resource, record, shaping))
    const [first] = page
    if (before > 0 && (first === undefined || !seen.has(first))) {
      place = Math.max(0, before - stepBack)
      continue
    }
    const records = seen.add(page)
    place = before + page.length
    if (records.length > 0 && seen.count() <= bound) {
      doubts = 0
      yield { records, place }
      continue
    }
    const count = await source.count(resource, since)
    if (count instanceof Unavailable) return count
    const end = { isExact: seen.count() === count, again: seen.again() }
    if (records.length > 0) {
      const far = `${seen.count()} records came, and the source counts ${count}`
      const isFar = seen.count() > 2 * count + resource.maxRecords
      if (isFar && !(asks && (await confirm(`${resource.service}: ${far}. Go on reading?`)))) {
        return { ...end, problem: `${far}: the rest is left` }
      }
      bound = 2 * seen.count()
      yield { records, place }
      continue
    }
    if (seen.count() >= count) return { ...end, problem: null }
    if (++doubts > DOUBTS_MAX) return { ...end, problem: 'fewer records came than the source counts; run this again' }
    // The last retry starts over.
    if (doubts === DOUBTS_MAX) place = 0
  }
}

/** The records of a list that came, with those that an earlier run has read. */
function createSeen(resource: Resource, earlier: ReadonlySet<number>) {
  const seen = new Set<number | string>()
  /** Such as `17 2` where a page had record 17 twice. On two pages a record may be because the list has moved. */
  const again = new Set<string>()
  const isSeen = (key: number | string) => seen.has(key) || earlier.has(Number(key))
  return {
    has: (shape: Shape) => isSeen(keyOf(resource, shape)),
    count: () => earlier.size + seen.size + again.size,
    again: () => Array.from(again, (each) => each.split(' ', 1).join()),
    /** Returns those of a page that had not come. */
    add(page: readonly Shape[]): Shape[] {
      const times = new Map<number | string, number>()
      return page.filter((shape) => {
        const key = keyOf(resource, shape)
        const time = (times.get(key) ?? 0) + 1
        times.set(key, time)
        if (time > 1) again.add(`${key} ${time}`)
        if (isSeen(key)) return false
        seen.add(key)
        return true
      })
    },
  }
}

/** Hands each page of a list to `take`, in turn, and returns how the list ended. */
export async function forEachPage(list: ReturnType<typeof readList>, take: (page: Page) => Promise<void>) {
  for (;;) {
    const { done, value } = await list.next()
    if (done) return value
    await take(value)
  }
}
