import type { Listing, ListOptions, Query } from '../engine/read.ts'
import { shapeRecords } from '../engine/shape.ts'
import type { Answer } from './answer.ts'
import type { RecordType } from './body.ts'
import type { Call } from './endpoints.ts'

/** A list with `$select` and `$orderby` applied, or the number of its records, which neither touches (rest-protocol 8.1). */
export function listingAnswer(listing: Listing, type: RecordType, query: Query): Answer {
  if ('count' in listing) return { kind: 'count', count: listing.count }
  const { next, total } = listing
  return { kind: 'records', type, records: shapeRecords(listing.records, type.fields, query), next, total }
}

/** `Prefer: count=exact` asks for the number of all matches beside the page. Of several `count` the first is meant (RFC 7240 §2). */
export function listOptions({ headers: { prefer = '' } }: Call): ListOptions {
  const preferences = String(prefer).split(',')
  const [, count = ''] = preferences.map((one) => countPreference.exec(one)).find((found) => found !== null) ?? []
  return { counted: count.toLowerCase() === 'exact' }
}

const countPreference = /^\s*count\s*=\s*"?([\w-]*)"?\s*(?:;|$)/i
