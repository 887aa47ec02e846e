import type { Caller, Privileges } from '../../../engine/caller.ts'
import type { Filters } from '../../../engine/definition/filters.ts'
import type { Resource } from '../../../engine/definition/resource.ts'
import { foundFilter } from '../../../engine/reading/find.ts'
import type { Phrase, Text } from '../../../foundation/texts/text.ts'
import { orders } from '../../../shop/resources/orders/orders.ts'
import type { Wire } from '../frame/request.ts'
import { orderListing } from '../shop/orders/listing.ts'
import { findersOf } from './search.ts'
import { seenBy, seenValues } from './seen.ts'
import type { Service, Value } from './services.ts'

/** What the list of a service has beyond what follows from its definition. */
export interface Listing {
  /** Filters that only the list has. */
  readonly filters: Filters
  /** What filters are called, where their names do not say it. */
  readonly labels: Readonly<Record<string, Text>>
  /** The names of the filters that are always in sight. */
  readonly inSight: readonly string[]
  /** Values that only the list has, which `textOf` of the words gives. */
  readonly values: readonly Value[]
  /** The names of the columns, where nobody has chosen any. */
  readonly columns: readonly string[]
  readonly titleOf: (record: Wire) => string
  /** The template of further files that the list can be taken along as. */
  readonly files: string
  /** For the records with these ids. */
  readonly wordsOf: (caller: Caller, ids: readonly number[]) => Promise<Words>
}

/** The words for values that would otherwise be numbers, by wire names. */
export interface Words {
  readonly inWords: readonly string[]
  /** All values that there are, for filters of the same column. */
  readonly choices: Readonly<Record<string, readonly (readonly [value: string, text: Phrase])[]>>
  /** Those of `choices` that people may give chosen records. */
  readonly targets: Words['choices']
  /** Null: the value speaks for itself. */
  readonly textOf: (name: string, record: Wire) => Phrase | null
  /** The class of the badge that it is shown as; null: none. */
  readonly toneOf: (name: string, record: Wire) => string | null
}

const listings = new Map<Resource, Listing>([[orders, orderListing]])

/** A service as its list reads it for somebody with these privileges: with `find`, and the filters that only the list has. */
export function listedOf(privileges: Privileges, service: Service): { listed: Service; listing: Listing | null } {
  const { resource } = service
  const seen = seenBy(privileges, service)
  const hasColumn = (values: readonly Value[], column: string) => values.some(({ field }) => field.column === column)
  // A field that the reader is not shown is none to filter by either.
  const isUnseen = (column?: string) =>
    column !== undefined && hasColumn(service.values, column) && !hasColumn(seen.values, column)
  const whole = listings.get(resource)
  const listing =
    whole === undefined
      ? null
      : {
          ...whole,
          values: seenValues(privileges, whole.values),
          filters: Object.fromEntries(Object.entries(whole.filters).filter(([, { column }]) => !isUnseen(column))),
        }
  const find = foundFilter(findersOf(seen), privileges)
  const withOwn = (filters: Filters) => ({ find, ...listing?.filters, ...filters })
  const read = { ...resource, filters: withOwn(resource.filters) }
  return { listed: { ...seen, filters: withOwn(seen.filters), resource: read }, listing }
}
