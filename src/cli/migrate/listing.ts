import type { Resource } from '../../engine/definition/define.ts'
import { type Shape, type Shaping, shapeRecord } from './shape.ts'
import { type Source, Unavailable } from './source.ts'

export interface Listing {
  readonly since?: Date
  /** The position up to which an earlier run has read the list. */
  readonly place?: number
  /** Ids that the earlier run has read. */
  readonly earlier?: ReadonlySet<number>
  readonly shaping: Shaping
}

export interface Page {
  /** Records that no earlier page had. */
  readonly records: readonly Shape[]
  /** The position up to which the list is read, plus or minus one. */
  readonly place: number
}

/** How a list ended. */
export interface ListingEnd {
  /** Whether the list had as many records as the source counts. */
  readonly isComplete: boolean
  /** The source's count after the last page. */
  readonly count: number
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
  { since, place: begin = 0, earlier = new Set(), shaping }: Listing,
): AsyncGenerator<Page, ListingEnd | Unavailable> {
  const seen = new Set<number>()
  const isSeen = ({ id }: Shape) => seen.has(id) || earlier.has(id)
  const at = (before: number) => (since === undefined ? { before } : { before, since })
  const stepBack = Math.ceil(resource.maxRecords / 2)
  let place = begin
  let doubts = 0
  for (;;) {
    const before = Math.max(0, place - 1)
    const given = await source.page(resource, at(before))
    if (given instanceof Unavailable) return given
    const page = given.map((record) => shapeRecord(resource, record, shaping))
    const [first] = page
    if (before > 0 && (first === undefined || !isSeen(first))) {
      place = Math.max(0, before - stepBack)
      continue
    }
    const records: Shape[] = []
    for (const shape of page) {
      if (isSeen(shape)) continue
      seen.add(shape.id)
      records.push(shape)
    }
    place = before + page.length
    if (records.length > 0) {
      doubts = 0
      yield { records, place }
      continue
    }
    const count = await source.count(resource, since)
    if (count instanceof Unavailable) return count
    const isComplete = earlier.size + seen.size >= count
    if (isComplete || ++doubts > DOUBTS_MAX) return { isComplete, count }
    // The last retry starts over.
    if (doubts === DOUBTS_MAX) place = 0
  }
}

/** Hands each page of a list to `take`, in turn, and returns how the list ended. */
export async function forEachPage(
  list: ReturnType<typeof readList>,
  take: (page: Page) => Promise<void>,
): Promise<ListingEnd | Unavailable> {
  for (;;) {
    const { done, value } = await list.next()
    if (done) return value
    await take(value)
  }
}
