import { DateTime } from 'luxon'
import type { Caller } from '../../../../engine/caller.ts'
import { queryRows } from '../../../../foundation/database/client.ts'

export interface Sales {
  readonly count: number
  readonly amount: number
}

export interface DaySales extends Sales {
  /** Such as `2026-03-10`. */
  readonly day: string
  /** The amount of the day in the period before. Undefined: nothing to compare with. */
  readonly before?: number
}

const DAYS_SHOWN = 30
/** The lengths of the periods in days, today included. */
const periodDays = [1, 7, DAYS_SHOWN] as const

/**
 * Returns a store's sales by day and by period, in its time zone. Cancelled and incomplete orders do not count. `before`
 * is the period before, up to the same time of its last day (to a quarter of an hour), because today is not over yet. `line`: the amounts of
 * a period one after another, by hours of a day and days of longer ones.
 */
export async function readSales({ db, now, store: { id: storeId, timeZone } }: Caller) {
  const present = DateTime.fromJSDate(now(), { zone: timeZone })
  const startOf = (daysAgo: number) => present.minus({ days: daysAgo }).startOf('day').toJSDate()
  const sameTime = (daysAgo: number) => present.minus({ days: daysAgo }).toJSDate()
  const starts = Array.from({ length: 2 * DAYS_SHOWN + 1 }, (_, index) => startOf(index - 1))
  const midnight = present.startOf('day')
  const hoursBegun = Math.floor(present.diff(midnight, 'hours').hours) + 1
  const hours = Array.from({ length: hoursBegun + 1 }, (_, hour) => midnight.plus({ hours: hour }).toJSDate())
  const times = [...starts, ...hours, ...periodDays.map(sameTime)].toSorted(
    (one, other) => one.getTime() - other.getTime(),
  )
  const between = salesAmong(times, await sumSales(db, storeId, times))

  const days: DaySales[] = Array.from({ length: DAYS_SHOWN }, (_, index) => {
    const daysAgo = DAYS_SHOWN - 1 - index
    const day = present.minus({ days: daysAgo }).toFormat('yyyy-MM-dd')
    const { amount: before } = between(startOf(daysAgo + DAYS_SHOWN), startOf(daysAgo + DAYS_SHOWN - 1))
    return { day, ...between(startOf(daysAgo), startOf(daysAgo - 1)), before }
  })
  const byHour = hours.slice(1).map((until, hour) => between(hours[hour] ?? until, until))
  const periods = periodDays.map((length) => ({
    length,
    ...between(startOf(length - 1), startOf(-1)),
    before: between(startOf(2 * length - 1), sameTime(length)),
    line: (length === 1 ? byHour : days.slice(-length)).map(({ amount }) => amount),
  }))
  return { days, periods }
}

type SummedSales = Sales & { readonly place: number }

/** Sums the sales between each of `times`, which ascend, and the next one; by the place of the former. Times without sales are missing. */
export function sumSales(db: Caller['db'], storeId: number, times: readonly Date[]): Promise<SummedSales[]> {
  const instants = times.map((time) => time.toISOString())
  return queryRows<SummedSales>(db)`
    SELECT width_bucket("since", ${instants}::timestamptz[]) - 1 AS "place", sum("count")::int AS "count",
        sum("amount")::float8 AS "amount"
      FROM "SalesSum"
      WHERE "storeId" = ${storeId}::int AND "since" >= ${instants[0]}::timestamptz AND "since" < ${instants.at(-1)}::timestamptz
      GROUP BY 1`
}

/** Returns a function that sums the sales between two of `times`. */
function salesAmong(times: readonly Date[], rows: readonly SummedSales[]) {
  return (from: Date, until: Date): Sales => {
    const inside = rows.filter(
      ({ place }) => times[place] !== undefined && times[place] >= from && times[place] < until,
    )
    const sum = (of: keyof Sales) => inside.reduce((total, each) => total + each[of], 0)
    return { count: sum('count'), amount: sum('amount') }
  }
}
