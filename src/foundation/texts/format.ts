import { LRUCache } from 'lru-cache'
import { decimalsOf } from '../values/currency.ts'
import { readDate } from '../values/dates.ts'
import { cachedFormatters as cached, toTheMinute } from '../values/shown-date.ts'
import { countryCodes, isPostalCodeFirst } from './countries.ts'

const byteUnits = ['B', 'kB', 'MB', 'GB', 'TB']
const units = [
  ['day', 86_400_000],
  ['hour', 3_600_000],
  ['minute', 60_000],
] as const

/**
 * Returns the non-empty lines of the `Billing…` or `Shipment…` address of an order's record, from name to country, in the order of its
 * country.
 */
export function postalAddress(
  record: object,
  prefix: 'Billing' | 'Shipment',
  countryOf = (country: string) => country,
): string[] {
  const fields = record as Readonly<Record<string, unknown>>
  const of = (name: string) => {
    const field = fields[prefix + name]
    // A form may send a field twice.
    return typeof field === 'string' ? field.trim() : ''
  }
  const joined = (separator: string, ...words: string[]) => words.filter((word) => word !== '').join(separator)
  const country = of('Country')
  const place = isPostalCodeFirst(country)
    ? joined(', ', joined(' ', of('ZipCode'), of('City')), of('State'))
    : joined(', ', of('City'), joined(' ', of('State'), of('ZipCode')))
  const name = joined(' ', of('FirstName'), of('LastName'))
  const lines = [name, of('Company'), of('Address'), of('Address2'), place, countryOf(country)]
  return lines.filter((line) => line !== '')
}

/** Returns the lines of the address that a shipment goes to: its own, or the billing address if it has none. */
export function shippingAddress(order: object, shipment: object | null, countryOf?: (country: string) => string) {
  const own = shipment === null ? [] : postalAddress(shipment, 'Shipment', countryOf)
  return own.length > 0 ? own : postalAddress(order, 'Billing', countryOf)
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

/** Formats values for the pages as people of one country write them. */
export type Format = ReturnType<typeof makeFormat>

const formats = new LRUCache<string, Format>({ max: 20, memoMethod: makeFormat })

/** Returns what formats values by a BCP 47 locale, such as `de-CH`. */
export function formatOf(locale: string): Format {
  return formats.memo(locale)
}

function makeFormat(locale: string) {
  const and = new Intl.ListFormat(locale, { type: 'conjunction' })
  const or = new Intl.ListFormat(locale, { type: 'disjunction' })
  return {
    locale,
    ...numbersOf(locale),
    ...datesOf(locale),
    ...addressesOf(locale),
    /** Such as `a, b, and c`. */
    and: (words: readonly string[]) => and.format(words),
    /** Such as `a, b, or c`. */
    or: (words: readonly string[]) => or.format(words),
  }
}

function addressesOf(locale: string) {
  const countryNames = new Intl.DisplayNames(locale, { type: 'region' })
  const country = (code: string) => (/^[A-Z]{2}$/.test(code) ? (countryNames.of(code) ?? code) : code)
  const { compare } = new Intl.Collator(locale)
  const countries = countryCodes
    .map((code) => [code, country(code)] as const)
    .sort(([, one], [, other]) => compare(one, other))
  return {
    /** As `postalAddress` of this module, with the country's name. */
    postalAddress: (record: object, prefix: 'Billing' | 'Shipment') => postalAddress(record, prefix, country),
    /** As `shippingAddress` of this module, with the country's name. */
    shippingAddress: (order: object, shipment: object | null) => shippingAddress(order, shipment, country),
    phoneLink,
    mailLink,
    /** A country by its code, such as `Germany`. Returns text that is no code unchanged. */
    country,
    /** All countries as code and name, by name; behind them the text that is none of them. */
    countries: (typed: string) =>
      typed === '' || countryCodes.includes(typed) ? countries : [...countries, [typed, typed] as const],
  }
}

function numbersOf(locale: string) {
  /** With the decimals of the currency, and up to `max` where an amount has more. */
  const moneyFormats = (max = 0) =>
    cached((currency) => {
      const least = decimalsOf(currency)
      const decimals = { minimumFractionDigits: least, maximumFractionDigits: Math.max(least, max) }
      return new Intl.NumberFormat(locale, { style: 'currency', currency, ...decimals })
    })
  const [sumFormats, priceFormats] = [moneyFormats(), moneyFormats(4)]
  const shortMoneyFormats = cached(
    (currency) => new Intl.NumberFormat(locale, { style: 'currency', currency, notation: 'compact' }),
  )
  const currencyNames = new Intl.DisplayNames(locale, { type: 'currency' })
  const numberFormat = new Intl.NumberFormat(locale, { maximumFractionDigits: 4 })
  const bytesFormat = new Intl.NumberFormat(locale, { maximumFractionDigits: 1 })
  const decimalSign = numberFormat.formatToParts(0.5).find(({ type }) => type === 'decimal')?.value ?? '.'
  const unitPrice = (price: number | string, currency: string) => priceFormats.memo(currency).format(Number(price))
  return {
    /** Between the whole part and the decimals. */
    decimalSign,
    /** Formats a sum, in the decimals of its currency: `$1,234.50`. */
    money: (sum: number | string, currency: string) => sumFormats.memo(currency).format(Number(sum)),
    /** Formats the price of one piece, or an amount as it is stored, with all its decimals: `$10.00`, and `$0.0125`. */
    unitPrice,
    /** Formats what is added to the price of one piece, with its sign: `+$3.00` or `-$1.50`. */
    surcharge: (price: number, currency: string) => `${price > 0 ? '+' : ''}${unitPrice(price, currency)}`,
    /** Formats a round amount for an axis, such as `$200` or `$40K`. */
    shortMoney: (amount: number, currency: string) => shortMoneyFormats.memo(currency).format(amount),
    /** A currency by its ISO 4217 code, such as `Euro`. Returns a text that is no code, or an unknown one, unchanged. */
    currency: (code: string) => (/^[A-Z]{3}$/.test(code) ? (currencyNames.of(code) ?? code) : code),
    number: (value: number | string) => numberFormat.format(Number(value)),
    /** A number as people type it: with the sign of decimals, without separators of thousands. */
    typed: (value: number | string) => String(value).replace('.', decimalSign),
    /** Such as `1.5 MB`, in powers of 1,000. */
    bytes: (value: number) => {
      const power = Math.min(Math.floor(Math.log10(Math.max(value, 1)) / 3), byteUnits.length - 1)
      return `${bytesFormat.format(value / 1_000 ** power)} ${byteUnits[power]}`
    },
  }
}

function datesOf(locale: string) {
  const ofInstants = (options: Intl.DateTimeFormatOptions) => {
    const inZones = cached((timeZone) => new Intl.DateTimeFormat(locale, { ...options, timeZone }))
    // A zone such as `GMT−5` has a minus, at which no line breaks.
    return (value: Date, timeZone: string) =>
      inZones
        .memo(timeZone)
        .format(value)
        .replace(/GMT-(?=\d)/, 'GMT−')
  }
  const ofDays = (options: Intl.DateTimeFormatOptions) => {
    const inUtc = new Intl.DateTimeFormat(locale, { ...options, timeZone: 'UTC' })
    return (day: string | Date) => inUtc.format(new Date(day))
  }
  const dayOf = ofDays({ year: 'numeric', month: 'short', day: 'numeric' })
  const relativeFormat = new Intl.RelativeTimeFormat(locale, { numeric: 'auto' })
  const date = ofInstants(toTheMinute)
  const brief = ofInstants({ dateStyle: 'medium', timeStyle: 'short' })
  const recordDateBy = (formatter: typeof date) => (text: string, timeZone: string) => {
    const read = readDate(text, timeZone)
    return read === null ? text : formatter(read.instant, timeZone)
  }
  return {
    /** Such as `Mar 10, 2026, 4:05 PM EDT`, in an IANA zone. */
    date,
    /** Such as `Mar 10, 2026, 4:05:09 PM EDT`, in an IANA zone. */
    second: ofInstants({ ...toTheMinute, second: '2-digit' }),
    /** Formats a record's date, which is in the store's zone, like `date`. Returns text that is not a date unchanged. */
    recordDate: recordDateBy(date),
    /** Such as `Mar 10, 2026, 4:05 PM`, for pages of a store, whose dates are all in its zone. */
    briefDate: brief,
    /** The same for a record's date. */
    briefRecordDate: recordDateBy(brief),
    /** Formats a date that a person typed, such as `Mar 10, 2026`. Returns text that is not a date unchanged. */
    day: (text: string) => recordDateBy(dayOf)(text, 'UTC'),
    /** Formats a day such as `2026-03-10` as `Mar 10`. */
    shortDay: ofDays({ month: 'short', day: 'numeric' }),
    /** Formats a month such as `2026-03` as `March 2026`. */
    month: ofDays({ year: 'numeric', month: 'long' }),
    /** Formats a day such as `2026-03-10` as `Tue, Mar 10`. */
    weekday: ofDays({ weekday: 'short', month: 'short', day: 'numeric' }),
    /** Such as `3 hours ago`; `now`: less than a minute. */
    ago: (value: Date, now: Date) => {
      const ms = value.getTime() - now.getTime()
      const [unit, length] = units.find(([, each]) => Math.abs(ms) >= each) ?? []
      return unit ? relativeFormat.format(Math.trunc(ms / length), unit) : relativeFormat.format(0, 'second')
    },
  }
}
