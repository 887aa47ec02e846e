import { DateTime } from 'luxon'
import { wrongField } from '../../../../engine/definition/refused.ts'
import { type Sql, sql } from '../../../../foundation/database/sql.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { readDate } from '../../../../foundation/values/dates.ts'
import { textIn } from '../../../html/request.ts'

/** Ten years. */
const DAYS_MAX = 3_660

export type Unit = 'day' | 'week' | 'month'

/** Whole days of a store's zone; `until` is the first moment behind them. */
export interface Period {
  readonly from: DateTime
  readonly until: DateTime
}

/** Times that people ask for, by the names that addresses have for them. */
export const presets = {
  'this-month': t('This month'),
  'last-month': t('Last month'),
  'this-quarter': t('This quarter'),
  'last-quarter': t('Last quarter'),
  'this-year': t('This year'),
  'last-year': t('Last year'),
} as const

type Preset = keyof typeof presets

/**
 * The days `from` to `to` that an address names, or those of its `period`; without any, this month. `to` alone begins with its month,
 * `from` alone ends today. Throws a 400 for what is no day, and for more than ten years.
 */
export function periodIn(query: unknown, now: Date, zone: string): Period {
  const today = DateTime.fromJSDate(now, { zone }).startOf('day')
  const [from, to] = [dayIn(query, 'from', zone), dayIn(query, 'to', zone)]
  if (from === null && to === null) return presetIn(query, today)
  const last = to ?? (from !== null && from > today ? from : today)
  const first = from ?? last.startOf('month')
  if (first > last) throw wrongField('to', 'must not be before from')
  const until = nextStart(last, 'day')
  if (until.diff(first, 'days').days > DAYS_MAX) {
    throw wrongField('from', `must be at most ${DAYS_MAX} days before to`)
  }
  return { from: first, until }
}

function dayIn(query: unknown, name: string, zone: string): DateTime | null {
  const text = textIn(query, name).trim()
  if (text === '') return null
  const read = readDate(text, zone)
  if (read === null) throw wrongField(name, 'must be a day, such as 2026-03-31')
  return DateTime.fromJSDate(read.instant, { zone }).startOf('day')
}

/** The name of the time that has just these days. Null: none has. */
export function presetOf({ from, until }: Period, now: Date, zone: string): Preset | null {
  const today = DateTime.fromJSDate(now, { zone }).startOf('day')
  const isSame = (preset: Period) => dayText(preset.from) === dayText(from) && dayText(preset.until) === dayText(until)
  return (Object.keys(presets) as Preset[]).find((name) => isSame(daysOfPreset(name, today))) ?? null
}

function presetIn(query: unknown, today: DateTime): Period {
  const name = textIn(query, 'period') || 'this-month'
  if (!Object.hasOwn(presets, name)) throw wrongField('period', `must be ${Object.keys(presets).join(', ')}`)
  return daysOfPreset(name as Preset, today)
}

function daysOfPreset(name: Preset, today: DateTime): Period {
  const [which, unit] = name.split('-') as ['this' | 'last', 'month' | 'quarter' | 'year']
  const start = today.startOf(unit)
  const from = which === 'this' ? start : start.minus({ [unit]: 1 })
  return { from, until: from.plus({ [unit]: 1 }) }
}

/** When the days, weeks (from Monday) or months of the period begin; the first one with the period. */
export function startsOf({ from, until }: Period, unit: Unit): DateTime[] {
  const starts: DateTime[] = []
  for (let at = from; at < until; at = nextStart(at, unit)) starts.push(at)
  return starts
}

/** Also where a zone skips midnight. */
function nextStart(at: DateTime, unit: Unit): DateTime {
  return at
    .startOf(unit)
    .plus({ [unit]: 1 })
    .startOf('day')
}

/** The days of a period as an address has them. */
export function daysOf({ from, until }: Period) {
  return { from: dayText(from), to: dayText(until.minus({ days: 1 })) }
}

/** SQL: whether an instant is in the period. */
export function within(column: Sql, { from, until }: Period): Sql {
  return sql`${column} >= ${from.toUTC().toISO()}::timestamptz AND ${column} < ${until.toUTC().toISO()}::timestamptz`
}

/** Such as `2026-03-10`. */
export function dayText(at: DateTime): string {
  return at.toFormat('yyyy-MM-dd')
}
