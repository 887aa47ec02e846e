/**
 * The last day of the shop but one: it began on day 0, 2024-11-01, and this one is 2026-10-31. The newest orders and changes are a day
 * later, on the eve of `recordsDay`. Days before 0 are earlier.
 */
export const lastDay = 729

/**
 * A wall-clock time in the wire's form: day, minute of the day, second. Only between 7 and 23 o'clock, when no time zone
 * skips or repeats an hour.
 */
export function localDate(day: number, minute: number, second = 0): string {
  return new Date(Date.UTC(2024, 10, 1 + day, 0, minute, second)).toISOString().slice(0, 19)
}

/** `MM/DD/YYYY`, as shipments write the day they left. */
export function americanDay(day: number): string {
  const [year, month, date] = localDate(day, 0).slice(0, 10).split('-')
  return `${month}/${date}/${year}`
}
