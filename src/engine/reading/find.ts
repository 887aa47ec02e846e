import { rowsInTurn } from '../../foundation/database/client.ts'
import { constant, sql } from '../../foundation/database/sql.ts'
import type { Caller } from '../caller.ts'
import type { Filter } from '../definition/filters.ts'
import { type Finder, foundBy, readTyped, type Seeker } from '../definition/finders.ts'

/** The records that a list shows of a search: the newest of each way to find them. */
const LISTED_MAX = 10_000

/** The ids of the records that somebody may mean by the text, best first, then the newest, at most `limit`. An empty text: none. */
export async function findRecords(caller: Caller, finders: readonly Finder[], given: string, limit: number) {
  const text = readTyped(given, 'q')
  // A record may be found by several of its texts.
  const found = text === '' ? null : foundBy(finders, text, caller, limit * 3)
  if (found === null) return []
  const rows = await rowsInTurn<{ id: number }>(caller)`
    SELECT "id" FROM (${found}) ranked ORDER BY "rank", "id" DESC LIMIT ${constant(limit)}`
  return rows.map(({ id }) => id)
}

/** A filter of what the finders find, for somebody with these privileges. */
export function foundFilter(finders: readonly Finder[], privileges: Seeker['privileges']): Filter {
  return {
    kind: 'part',
    read: (given, name, store) => {
      const text = readTyped(given, name)
      if (text === '') return null
      // A list has an order of its own.
      const needed = finders.filter(({ isCovered }) => isCovered?.(text) !== true)
      const found = foundBy(needed, text, { store, privileges }, LISTED_MAX)
      return found === null ? sql`false` : sql`t."id" = ANY (ARRAY (SELECT "id" FROM (${found}) ranked))`
    },
  }
}
