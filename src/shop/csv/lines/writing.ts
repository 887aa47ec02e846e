import type { Format } from '../../../foundation/texts/format.ts'
import type { Row } from './rows.ts'

// How people write numbers and dates in a file. It is settled for the whole file, because a cell alone may have two readings.

/** What stands before the decimals of a file. */
export type Decimal = 'point' | 'comma'

/** What is known of a file beside its cells. */
export interface Written {
  /** Null: a point; and where semicolons separate the cells a comma too, as far as a number has one reading. */
  readonly decimal: Decimal | null
  /** Of who sent the file. Null: nobody has said. */
  readonly locale: string | null
}

/** How cells are read. */
export interface Writing {
  readonly decimal: Decimal | 'either'
  /** Whether a day with points is one: `31.12.2026`. */
  readonly hasPointsInDates: boolean
  /** Whether a day with slashes has the month first, without a doubt: `12/31/2026`. */
  readonly hasMonthFirst: boolean
}

/**
 * Returns what stands before the decimals of a file of which nobody has said it: where commas separate the cells, a point. Elsewhere it
 * is the sign of who sent the file if that is a comma, because spreadsheets of their country write both.
 */
export function likelyDecimal({ separator }: Row, { decimalSign }: Pick<Format, 'decimalSign'>): Decimal | null {
  if (separator === ',') return 'point'
  return decimalSign === ',' ? 'comma' : null
}

export function writingOf({ decimal, locale }: Written, { separator }: Pick<Row, 'separator'>): Writing {
  return {
    decimal: decimal ?? (separator === ';' ? 'either' : 'point'),
    hasPointsInDates: locale?.startsWith('de') === true,
    hasMonthFirst: locale === null || locale === 'en-US',
  }
}
