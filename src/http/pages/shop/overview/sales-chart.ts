import type { DaySales } from './sales.ts'

/** The width of a day in the units of the chart, and the chart's height. */
const DAY_WIDTH = 10
const HEIGHT = 100
const BAR_WIDTH = 7
/** A day with the smallest sale still has a bar. */
const BAR_HEIGHT_MIN = 1
/** Of more bars, each is too narrow to be pressed. */
const LINKS_MAX = 62

/**
 * Returns the geometry of a bar chart: a bar for each day, `former`, the path of steps as high as what the days are compared with (empty:
 * nothing), and `top`, the round amount at its upper edge.
 */
export function chartOf(days: readonly DaySales[]) {
  const top = roundUp(Math.max(...days.map(({ amount, before = 0 }) => Math.max(amount, before))))
  const bars = days.map((day, index) => {
    const height = day.amount > 0 ? Math.max(BAR_HEIGHT_MIN, rounded((day.amount / top) * HEIGHT)) : 0
    const left = index * DAY_WIDTH
    return { ...day, left, x: left + (DAY_WIDTH - BAR_WIDTH) / 2, y: rounded(HEIGHT - height), height }
  })
  const steps = bars.flatMap(({ before, left }) =>
    before === undefined ? [] : `V${yOf(before, top)}H${left + DAY_WIDTH}`,
  )
  const former = steps.length === 0 ? '' : `M0 ${HEIGHT}${steps.join('')}V${HEIGHT}`
  const isLinked = days.length <= LINKS_MAX
  const width = days.length * DAY_WIDTH
  return { top, bars, former, isLinked, width, height: HEIGHT, dayWidth: DAY_WIDTH, barWidth: BAR_WIDTH }
}

/** A small line through amounts, from edge to edge: its path and the size of its drawing. */
export function sparkOf(amounts: readonly number[]) {
  const top = Math.max(1, ...amounts)
  const points = amounts.length === 1 ? [...amounts, ...amounts] : amounts
  const line = points.map((amount, index) => `${index * DAY_WIDTH} ${yOf(amount, top)}`).join('L')
  return { width: (points.length - 1) * DAY_WIDTH, height: HEIGHT, path: `M${line}` }
}

function yOf(amount: number, top: number): number {
  return rounded(HEIGHT * (1 - Math.max(0, amount) / top))
}

/** Returns 1.2, 1.6, 2, 4, 6, 8 or 10 times a power of ten, at least `amount` and 2, so that half of it is round too. */
function roundUp(amount: number): number {
  const power = 10 ** Math.floor(Math.log10(Math.max(amount, 1)))
  const digit = [1.2, 1.6, 2, 4, 6, 8].find((each) => each * power >= amount) ?? 10
  return Math.max(2, Math.round(digit * power))
}

function rounded(value: number): number {
  return Math.round(value * 100) / 100
}
