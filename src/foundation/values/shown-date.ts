import { LRUCache } from 'lru-cache'

const FORMATTERS_MAX = 200

/** Caches formatters, because creating one takes a hundred times as long as using it. */
export function cachedFormatters<Formatter extends object>(memoMethod: (key: string) => Formatter) {
  return new LRUCache<string, Formatter>({ max: FORMATTERS_MAX, memoMethod })
}

/** The parts of a date that people read. */
export const toTheMinute = {
  year: 'numeric',
  month: 'short',
  day: 'numeric',
  hour: 'numeric',
  minute: '2-digit',
  timeZoneName: 'short',
} as const

const formats = cachedFormatters((timeZone) => new Intl.DateTimeFormat('en-US', { ...toTheMinute, timeZone }))

/** Such as `Mar 10, 2026, 4:05 PM EDT`, in an IANA zone. */
export function shownDate(value: Date, timeZone: string): string {
  return formats.memo(timeZone).format(value)
}
