/** The range of PostgreSQL's `integer`: ids, counts, and whole numbers on the wire. */
export const INT32_MIN = -2_147_483_648
export const INT32_MAX = 2_147_483_647

/** Whether a record can have the number as its id. */
export function isId(number: number): boolean {
  return Number.isInteger(number) && number >= 1 && number <= INT32_MAX
}

/** The highest number of those that counters assign that a file may bring: a store has at least a million left behind it. */
export const IMPORTED_MAX = INT32_MAX - 1_000_000
