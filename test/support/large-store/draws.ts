// SQL of values that depend on a record's number alone, so that every run and every statement gives the same ones.

/** A number from 0 to below 1. Another `salt`: another number for the same record. */
export function draw(n: string, salt: number): string {
  return `((hashint8extended((${n})::bigint, ${salt}) & 2147483647) / 2147483648.0::float8)`
}

/**
 * A whole number from 0 to below `count`. With a `skew` of 1 all are as frequent; with 3 and a count of 100, every fifth is
 * a 0.
 */
export function place(n: string, salt: number, count: number, skew = 1): string {
  return `floor(${count} * power(${draw(n, salt)}, ${skew}))::int`
}

/** One of these words, the first of them most often. */
export function word(words: readonly string[], n: string, salt: number, skew = 3): string {
  return `(ARRAY['${words.join("','")}'])[1 + ${place(n, salt, words.length, skew)}]`
}

/** All words of two such parts. */
export function compounds(first: readonly string[], second: readonly string[]): string[] {
  return second.flatMap((end) => first.map((start) => `${start}${end}`))
}
