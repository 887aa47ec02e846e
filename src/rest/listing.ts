import type { Listing, Query } from '../engine/read.ts'
import { shapeRecords } from '../engine/shape.ts'
import type { Answer } from './answer.ts'
import type { RecordType } from './body.ts'

/** A list with `$select` and `$orderby` applied, or the number of its records, which neither touches (rest-protocol 8.1). */
export function listingAnswer(listing: Listing, type: RecordType, query: Query): Answer {
  if ('count' in listing) return { kind: 'count', count: listing.count }
  return { kind: 'records', type, records: shapeRecords(listing.records, type.fields, query) }
}
