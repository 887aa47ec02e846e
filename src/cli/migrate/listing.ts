import type { Resource } from '../../engine/definition/define.ts'
import { type Shape, type Shaping, shapeRecord } from './shape.ts'
import { type Source, Unavailable } from './source.ts'

export interface Listing {
  readonly since?: Date
  /** The place in the list up to which an earlier run has read it. */
  readonly place?: number
  /** The records that it has read. */
  readonly earlier?: ReadonlySet<number>
  readonly shaping: Shaping
}

export interface Page {
  /** Those that no earlier page had. */
  readonly records: readonly Shape[]
  /** The place in the list up to which it is read now, give or take one. */
  readonly place: number
}

/** What became of a list. */
export interface ListingEnd {
  /** Whether as many records came as the source counts. */
  readonly isComplete: boolean
  /** By the source, at the end. */
  readonly count: number
}

/** How often a page without anything new is doubted while fewer records came than the source counts. */
const DOUBTS_MAX = 5

/**
 * Reads a list from its beginning, or from where an earlier run was, so that each record that is in it all the while comes once,
 * whether the source counts its pages from 0 or from 1, cuts them short, or loses records meanwhile. Each page begins with a record
 * that the last one had: where it does not, the list has moved up, and is read again from further in front.
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
    // The last doubt reads it from the beginning.
    if (doubts === DOUBTS_MAX) place = 0
  }
}
