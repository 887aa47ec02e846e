import { LRUCache } from 'lru-cache'

/** How the pages write values, in English. */
export const format = { money, number, date, second, ago }

/** Making a formatter takes a hundred times as long as using it. */
const FORMATTERS_MAX = 200
const moneyFormats = new LRUCache<string, Intl.NumberFormat>({
  max: FORMATTERS_MAX,
  memoMethod: (currency) => new Intl.NumberFormat('en-US', { style: 'currency', currency }),
})
const minuteFormat = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
} as const
const dateFormats = new LRUCache<string, Intl.DateTimeFormat>({
  max: FORMATTERS_MAX,
  memoMethod: (timeZone) => new Intl.DateTimeFormat('en-US', { ...minuteFormat, timeZone }),
})
const secondFormats = new LRUCache<string, Intl.DateTimeFormat>({
  max: FORMATTERS_MAX,
  memoMethod: (timeZone) => new Intl.DateTimeFormat('en-US', { ...minuteFormat, second: '2-digit', timeZone }),
})
const numberFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })

/** In the currency's own decimals, such as `$1,234.50`. */
function money(amount: number | string, currency: string): string {
  return moneyFormats.memo(currency).format(Number(amount))
}

function number(value: number | string): string {
  return numberFormat.format(Number(value))
}

/** Such as `Mar 10, 2026, 4:05 PM EDT`, in an IANA zone. */
function date(value: Date, timeZone: string): string {
  return dateFormats.memo(timeZone).format(value)
}

/** Such as `Mar 10, 2026, 4:05:09 PM EDT`, in an IANA zone. */
function second(value: Date, timeZone: string): string {
  return secondFormats.memo(timeZone).format(value)
}

const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** Such as `3 hours ago`. */
function ago(value: Date, now: Date): string {
  const relative = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' })
  const ms = value.getTime() - now.getTime()
  for (const [unit, length] of units) if (Math.abs(ms) >= length) return relative.format(Math.trunc(ms / length), unit)
  return 'just now'
}
