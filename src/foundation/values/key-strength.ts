/** The maximum length of a key that was brought along, and so of any key. */
export const KEY_LENGTH_MAX = 200

const BITS_MIN = 128
const HEX_DIGITS = '0123456789abcdef'
const HEX_DISTINCT_MIN = 7
const HEX_SURPRISES_MIN = 20
/** The length from which a text that occurs again counts as a repetition. */
const REPEATED_LENGTH = 4

/**
 * Whether a text that another platform made can serve as a key: 32 hexadecimal characters that look random, or printable
 * ASCII without blanks of at most 200 characters with at least 128 bits by a conservative estimate. The estimate counts
 * the characters that nothing before predicts, each for the logarithm of the number of different characters in use.
 */
export function isKeyStrong(key: string): boolean {
  if (/^[0-9a-f]{32}$/i.test(key)) {
    const digits = Array.from(key.toLowerCase(), (digit) => HEX_DIGITS.indexOf(digit))
    return new Set(digits).size >= HEX_DISTINCT_MIN && countSurprises(digits) >= HEX_SURPRISES_MIN
  }
  if (key.length > KEY_LENGTH_MAX || !/^[\x21-\x7e]+$/.test(key)) return false
  const codes = Array.from(key, (character) => character.charCodeAt(0))
  return countSurprises(codes) * Math.log2(new Set(codes).size) >= BITS_MIN
}

/** Counts the characters that neither continue a run (`aaaa`, `1234`, `8642`) nor belong to a text that occurred before. */
function countSurprises(codes: readonly number[]): number {
  const isPredicted = codes.map((code, index) => {
    const [before = Number.NaN, last = Number.NaN] = codes.slice(Math.max(0, index - 2), index)
    return code - last === last - before
  })
  const seen = new Map<string, number>()
  for (let end = REPEATED_LENGTH; end <= codes.length; end++) {
    const block = codes.slice(end - REPEATED_LENGTH, end).join()
    const firstEnd = seen.get(block)
    if (firstEnd === undefined) seen.set(block, end)
    else isPredicted.fill(true, Math.max(firstEnd, end - REPEATED_LENGTH), end)
  }
  return isPredicted.filter((predicted) => !predicted).length
}
