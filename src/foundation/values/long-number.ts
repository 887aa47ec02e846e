// Numbers in JSON that have more digits than a JavaScript number keeps.

/**
 * A number in JSON that `JSON.parse` would round. `String` gives its digits as they were sent, `Number` the nearest number, and
 * `JSON.stringify` writes it as it came.
 */
export class LongNumber {
  readonly #source: string

  constructor(source: string) {
    this.#source = source
  }

  /** Whether it was sent without a fraction and an exponent. */
  get isInteger(): boolean {
    return integerText.test(this.#source)
  }

  toString(): string {
    return this.#source
  }

  valueOf(): number {
    return Number(this.#source)
  }

  toJSON(): unknown {
    return (JSON as unknown as WithSource).rawJSON(this.#source)
  }
}

const integerText = /^-?\d+$/

/** What TypeScript does not know of JSON yet. */
interface WithSource {
  parse(text: string, reviver: (name: string, value: unknown, context: { source: string }) => unknown): unknown
  rawJSON(text: string): object
}

/** Finds all numbers that JSON.parse may round: those of 16 digits and more, and those of three digits in the exponent. */
const mayBeLong = /(?:^|[\s:,[])-?[\d.]{16}|\de[+-]?\d{3}/i

/** Parses as `JSON.parse` does, but with a LongNumber for each number that would lose digits. */
export function parseExactly(text: string): unknown {
  return withLongNumbers(text, null) ?? JSON.parse(text)
}

/** The value of a JSON text with its LongNumbers, if it may have any; otherwise `parsed`. */
export function withLongNumbers(text: string, parsed: unknown): unknown {
  if (!mayBeLong.test(text)) return parsed
  // Takes several times as long as without a reviver.
  return (JSON as unknown as WithSource).parse(text, (_name, value, { source }) =>
    typeof value === 'number' && losesDigits(value, source) ? new LongNumber(source) : value,
  )
}

function losesDigits(value: number, source: string): boolean {
  const kept = String(value)
  if (kept === source || !Number.isFinite(value)) return kept !== source
  // An integer from 1e21 on has another text, even where no digit is lost.
  return integerText.test(source) ? value !== 0 : significantDigits(kept) !== significantDigits(source)
}

/** The same for all spellings of a number. */
function significantDigits(number: string): string {
  const [, whole = '', fraction = '', exponent = '0'] = /^-?(\d+)(?:\.(\d+))?(?:e([+-]?\d+))?$/i.exec(number) ?? []
  const digits = whole + fraction
  const first = digits.search(/[1-9]/)
  if (first < 0) return '0'
  let end = digits.length
  while (digits[end - 1] === '0') end--
  return `${digits.slice(first, end)}e${Number(exponent) - fraction.length + digits.length - end}`
}

/** The value with the nearest number for each LongNumber at any depth. For readers that take numbers, never digits. */
export function roundNumbers(value: unknown): unknown {
  if (value instanceof LongNumber) return Number(value)
  if (Array.isArray(value)) return value.map(roundNumbers)
  if (typeof value !== 'object' || value === null || Object.getPrototypeOf(value) !== Object.prototype) return value
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, roundNumbers(member)]))
}
