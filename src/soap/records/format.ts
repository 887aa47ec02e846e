import type { WireRecord, WireValue } from '../../engine/reader.ts'
import { escapeXml } from '../../xml/text.ts'
import { element } from '../elements.ts'

// How values of records are written (soap-cartapi 3). They come as REST's record has them: dates in the store's zone, as
// `2012-07-11T10:44:08` or empty.

type Value = WireValue | undefined

/** Text; anything else as it is written. */
export function text(name: string, value: Value): string {
  return element(name, typeof value === 'string' ? escapeXml(value) : String(value))
}

/** Two decimals, rounded half up: money, weights and sizes. Stored are four, so that `toFixed` alone would round their binary neighbours. */
export function fixed(name: string, value: Value): string {
  const tenThousandths = Math.round(Number(value) * 10_000)
  const cents = Math.sign(tenThousandths) * Math.round(Math.abs(tenThousandths) / 100)
  return element(name, (cents / 100 || 0).toFixed(2))
}

/** Without decimals that are zero: quantities, stocks, and the prices and totals that are written so. */
export function plain(name: string, value: Value): string {
  return element(name, String(Number(value)))
}

/** 0 or 1. */
export function flag(name: string, value: Value): string {
  return element(name, value === true ? '1' : '0')
}

/** `6/22/2009`, or empty. */
export function day(name: string, value: Value): string {
  return element(name, dayText(String(value)))
}

/** `7/18/2013 3:08:30 PM`, at midnight the day alone; or empty. */
export function moment(name: string, value: Value): string {
  const date = String(value)
  const isMidnight = date.endsWith('T00:00:00')
  return element(name, date === '' || isMidnight ? dayText(date) : `${dayText(date)} ${timeText(date)}`)
}

/** `3:08:30 PM`, or empty. */
export function time(name: string, value: Value): string {
  return element(name, timeText(String(value)))
}

/** The items of a list in a record. */
export function itemsOf(list: Value): readonly WireRecord[] {
  return list as readonly WireRecord[]
}

function dayText(date: string): string {
  return date === '' ? '' : `${Number(date.slice(5, 7))}/${Number(date.slice(8, 10))}/${date.slice(0, 4)}`
}

function timeText(date: string): string {
  if (date === '') return ''
  const hour = Number(date.slice(11, 13))
  return `${hour % 12 || 12}${date.slice(13, 19)} ${hour < 12 ? 'AM' : 'PM'}`
}
