/** The range of PostgreSQL's `integer`: ids, counts, and whole numbers on the wire. */
export const INT32_MIN = -2_147_483_648
export const INT32_MAX = 2_147_483_647

/** The highest number of those that counters assign that a file may bring: a store has at least a million left behind it. */
export const IMPORTED_MAX = INT32_MAX - 1_000_000
