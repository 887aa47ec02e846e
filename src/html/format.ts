import { readDate } from '../values/dates.ts'
import { cachedFormatters as cached, shownDate as date, toTheMinute } from '../values/shown-date.ts'

const moneyFormats = cached((currency) => new Intl.NumberFormat('en-US', { style: 'currency', currency }))
const shortMoneyFormats = cached(
  (currency) => new Intl.NumberFormat('en-US', { style: 'currency', currency, notation: 'compact' }),
)
const amountFormats = cached(
  (currency) => new Intl.NumberFormat('en-US', { style: 'currency', currency, maximumFractionDigits: 4 }),
)
const secondFormats = cached(
  (timeZone) => new Intl.DateTimeFormat('en-US', { ...toTheMinute, second: '2-digit', timeZone }),
)
const dayFormat = new Intl.DateTimeFormat('en-US', { dateStyle: 'medium', timeZone: 'UTC' })
const shortDayFormat = new Intl.DateTimeFormat('en-US', { month: 'short', day: 'numeric', timeZone: 'UTC' })
const weekdayFormat = new Intl.DateTimeFormat('en-US', {
  weekday: 'short',
  month: 'short',
  day: 'numeric',
  timeZone: 'UTC',
})
const numberFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 4 })
const bytesFormat = new Intl.NumberFormat('en-US', { maximumFractionDigits: 1 })
const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB']
const relativeFormat = new Intl.RelativeTimeFormat('en-US', { numeric: 'auto' })
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/** In the currency's own decimals, such as `$1,234.50`. */
const money = (amount: number | string, currency: string) => moneyFormats.memo(currency).format(Number(amount))

/** Returns the non-empty lines of the `Billing…` or `Shipment…` address of an order's record, from name to country. */
export function postalAddress(record: object, prefix: 'Billing' | 'Shipment'): string[] {
  const fields = record as Readonly<Record<string, string | undefined>>
  const of = (name: string) => fields[prefix + name]?.trim() ?? ''
  const joined = (separator: string, ...words: string[]) => words.filter((word) => word !== '').join(separator)
  const place = joined(', ', of('City'), joined(' ', of('State'), of('ZipCode')))
  const name = joined(' ', of('FirstName'), of('LastName'))
  return [name, of('Company'), of('Address'), of('Address2'), place, of('Country')].filter((line) => line !== '')
}

/** Returns the lines of the address that a shipment goes to: its own, or the billing address if it has none. */
export function shippingAddress(order: object, shipment: object | null): string[] {
  const own = shipment === null ? [] : postalAddress(shipment, 'Shipment')
  return own.length > 0 ? own : postalAddress(order, 'Billing')
}

/** Returns the link that dials a telephone number as somebody wrote it. Null: it has too few digits for one. */
export function phoneLink(text: string): string | null {
  const [number = ''] = text.trim().split(/[a-z;,/]/i)
  const isInternational = number.startsWith('+')
  // In +44 (0)20 the zero is for those who dial without the country.
  const digits = (isInternational ? number.replace('(0)', '') : number).replaceAll(/\D/g, '')
  return digits.length < 3 ? null : `tel:${isInternational ? '+' : ''}${digits}`
}

/** Returns the link that writes to an e-mail address. Null: it is none. */
export function mailLink(text: string): string | null {
  const [, name, host] = /^([^\s@]+)@([^\s@]+)$/.exec(text.trim()) ?? []
  return name === undefined || host === undefined
    ? null
    : `mailto:${encodeURIComponent(name)}@${encodeURIComponent(host)}`
}

/** Formats values for the pages, in English. */
export const format = {
  money,
  date,
  postalAddress,
  shippingAddress,
  phoneLink,
  mailLink,
  /** With its sign, such as `+$3.00` or `-$1.50`. */
  surcharge: (amount: number, currency: string) => `${amount > 0 ? '+' : ''}${money(amount, currency)}`,
  /** Formats a stored amount in full: `$10.00`, and `$9.1234` where money would be rounded. */
  amount: (amount: number | string, currency: string) => amountFormats.memo(currency).format(Number(amount)),
  /** Such as `1.5 MB`, in powers of 1,000. */
  bytes: (value: number) => {
    const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), byteUnits.length - 1)
    return `${bytesFormat.format(value / 1_000 ** power)} ${byteUnits[power]}`
  },
  number: (value: number | string) => numberFormat.format(Number(value)),
  /** Such as `Mar 10, 2026, 4:05:09 PM EDT`, in an IANA zone. */
  second: (value: Date, timeZone: string) => secondFormats.memo(timeZone).format(value),
  /** Formats a record's date, which is in the store's zone, like `date`. Returns text that is not a date unchanged. */
  recordDate: (text: string, timeZone: string) => {
    const read = readDate(text, timeZone)
    return read === null ? text : date(read.instant, timeZone)
  },
  /** Formats a date that a person typed, such as `Mar 10, 2026`. Returns text that is not a date unchanged. */
  day: (text: string) => {
    const read = readDate(text, 'UTC')
    return read === null ? text : dayFormat.format(read.instant)
  },
  /** Formats a round amount for an axis, such as `$200` or `$40K`. */
  shortMoney: (amount: number, currency: string) => shortMoneyFormats.memo(currency).format(amount),
  /** Formats a day such as `2026-03-10` as `Mar 10`. */
  shortDay: (day: string) => shortDayFormat.format(new Date(day)),
  /** Formats a day such as `2026-03-10` as `Tue, Mar 10`. */
  weekday: (day: string) => weekdayFormat.format(new Date(day)),
  /** Such as `3 hours ago`. */
  ago: (value: Date, now: Date) => {
    const ms = value.getTime() - now.getTime()
    const [unit, length] = units.find(([, each]) => Math.abs(ms) >= each) ?? []
    return unit ? relativeFormat.format(Math.trunc(ms / length), unit) : 'just now'
  },
}
