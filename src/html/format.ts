import { LRUCache } from 'lru-cache'
import { readDate } from '../values/dates.ts'

/** Formats values for the pages, in English. */
export const format = { money, surcharge, number, date, second, recordDate, day, ago, postalAddress }

/** Cached, because creating a formatter takes a hundred times as long as using one. */
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
const dayFormat = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
const numberFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })

/** In the currency's own decimals, such as `$1,234.50`. */
function money(amount: number | string, currency: string): string {
  return moneyFormats.memo(currency).format(Number(amount))
}

/** With its sign, such as `+$3.00` or `-$1.50`. */
function surcharge(amount: number, currency: string): string {
  return `${amount > 0 ? '+' : ''}${money(amount, currency)}`
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

/** Formats a record's date, which is in the store's zone, like `date`. Returns text that is not a date unchanged. */
function recordDate(text: string, timeZone: string): string {
  const read = readDate(text, timeZone)
  return read === null ? text : date(read.instant, timeZone)
}

/** Formats a date that a person typed, such as `Mar 10, 2026`. Returns text that is not a date unchanged. */
function day(text: string): string {
  const read = readDate(text, 'UTC')
  return read === null ? text : dayFormat.format(read.instant)
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

/** Returns the non-empty lines of the `Billing…` or `Shipment…` address of an order's record, from name to country. */
export function postalAddress(record: object, prefix: 'Billing' | 'Shipment'): string[] {
  const fields = record as Readonly<Record<string, string | undefined>>
  const of = (name: string) => fields[prefix + name]?.trim() ?? ''
  const joined = (separator: string, ...words: string[]) => words.filter((word) => word !== '').join(separator)
  const place = joined(', ', of('City'), joined(' ', of('State'), of('ZipCode')))
  const name = joined(' ', of('FirstName'), of('LastName'))
  return [name, of('Company'), of('Address'), of('Address2'), place, of('Country')].filter((line) => line !== '')
}
