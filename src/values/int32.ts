/** The range of PostgreSQL's `integer`: ids, counts, and whole numbers on the wire. */
export const INT32_MIN = -2_147_483_648
export const INT32_MAX = 2_147_483_647
