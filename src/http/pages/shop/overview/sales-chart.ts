import type { DaySales } from './sales.ts'

/** The width of a day in the units of the chart, and the chart's height. */
const DAY_WIDTH = 10
const HEIGHT = 100
const BAR_WIDTH = 7
/** A day with the smallest sale still has a bar. */
const BAR_HEIGHT_MIN = 1

/** Returns the geometry of a bar chart: a bar for each day, and `top`, the round amount at its upper edge. */
export function chartOf(days: readonly DaySales[]) {
  const top = roundUp(Math.max(...days.map(({ amount }) => amount)))
  const bars = days.map((day, index) => {
    const height = day.amount > 0 ? Math.max(BAR_HEIGHT_MIN, rounded((day.amount / top) * HEIGHT)) : 0
    const left = index * DAY_WIDTH
    return { ...day, left, x: left + (DAY_WIDTH - BAR_WIDTH) / 2, y: rounded(HEIGHT - height), height }
  })
  return { top, bars, width: days.length * DAY_WIDTH, height: HEIGHT, dayWidth: DAY_WIDTH, barWidth: BAR_WIDTH }
}

/** Returns 2, 4, 6, 8 or 10 times a power of ten, at least `amount` and 2, so that half of it is round too. */
function roundUp(amount: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(amount, 1)))
  const digit = [2, 4, 6, 8, 10].find((each) => each * power >= amount) ?? 20
  return digit * power
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
