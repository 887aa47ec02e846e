import { type FieldSet, fieldsAmong } from '../../../engine/definition/fields.ts'
import { compileReader, type Reader, type WireRecord, type WireValue } from '../../../engine/definition/reader.ts'
import { escapeXml } from '../../../foundation/xml/text.ts'

type Value = WireValue | undefined

/** Elements of a record, in the order in which clients know them, and the fields of the record that they show. */
export interface Elements<Context = unknown> {
  readonly fields: readonly string[]
  readonly write: (record: WireRecord, context: Context) => string
}

/** Values as cartAPI writes them (soap-cartapi §3). Dates come in the store's zone, as `2012-07-11T10:44:08` or empty. */
export const formats = {
  /** Escaped text; any other value as its text. */
  text: (value: Value) => (typeof value === 'string' ? escapeXml(value) : String(value)),
  /** Two decimals, rounded half up. Four are stored, and `toFixed` alone would round their binary neighbours. */
  fixed: (value: Value) => {
    const tenThousandths = Math.round(Number(value) * 10_000)
    const cents = Math.sign(tenThousandths) * Math.round(Math.abs(tenThousandths) / 100)
    return (cents / 100 || 0).toFixed(2)
  },
  /** A number without trailing zeros. */
  plain: (value: Value) => String(Number(value)),
  flag: (value: Value) => (value === true ? '1' : '0'),
  /** `6/22/2009`, or empty. */
  day: (value: Value) => dayText(String(value)),
  /** `7/18/2013 3:08:30 PM`, at midnight only the day; or empty. */
  moment: (value: Value) => {
    const date = String(value)
    return date === '' || date.endsWith('T00:00:00') ? dayText(date) : `${dayText(date)} ${timeText(date)}`
  },
  /** `3:08:30 PM`, or empty. */
  time: (value: Value) => timeText(String(value)),
}

type Format = keyof typeof formats

function dayText(date: string): string {
  return date === '' ? '' : `${Number(date.slice(5, 7))}/${Number(date.slice(8, 10))}/${date.slice(0, 4)}`
}

function timeText(date: string): string {
  if (date === '') return ''
  const hour = Number(date.slice(11, 13))
  return `${hour % 12 || 12}${date.slice(13, 19)} ${hour < 12 ? 'AM' : 'PM'}`
}

/**
 * Elements of one value each. `text('Title', 'UserId=UserID')` shows the field Title in an element Title and the field UserID
 * in an element UserId. `prefix` begins the names of all fields: `valuesOf('Item').fixed('Weight')` shows ItemWeight.
 */
export function valuesOf(prefix = '') {
  const by = (name: Format) => {
    const format = formats[name]
    return (...names: readonly string[]): Elements => {
      const members = names.map((each) => {
        const [name = '', field = name] = each.split('=')
        return { field: prefix + field, start: `<${name}>`, end: `</${name}>` }
      })
      return {
        fields: members.map(({ field }) => field),
        write: (record) => {
          let xml = ''
          for (const { field, start, end } of members) xml += start + format(record[field]) + end
          return xml
        },
      }
    }
  }
  const elements = (Object.keys(formats) as Format[]).map((name) => [name, by(name)])
  return Object.fromEntries(elements) as Record<Format, ReturnType<typeof by>>
}

/** An element with a text that `show` makes of some fields. */
export function computed<Context>(
  name: string,
  fields: readonly string[],
  show: (record: WireRecord, context: Context) => WireValue,
): Elements<Context> {
  return { fields, write: (record, context) => `<${name}>${formats.text(show(record, context))}</${name}>` }
}

/** Elements without a field. */
export function empty(...names: readonly string[]): Elements {
  const xml = names.map((name) => `<${name}></${name}>`).join('')
  return { fields: [], write: () => xml }
}

/** One element around others. */
export function group<Context>(name: string, ...inside: readonly Elements<Context>[]): Elements<Context> {
  const fields = inside.flatMap((elements) => elements.fields)
  return { fields, write: (record, context) => `<${name}>${writeInside(inside, record, context)}</${name}>` }
}

/** The elements of an object in the record. */
export function member<Context>(field: string, ...inside: readonly Elements<Context>[]): Elements<Context> {
  return { fields: [field], write: (record, context) => writeInside(inside, record[field] as WireRecord, context) }
}

function writeInside<Context>(inside: readonly Elements<Context>[], record: WireRecord, context: Context): string {
  let xml = ''
  for (const { write } of inside) xml += write(record, context)
  return xml
}

/** One element for each item of a list in the record. */
export function each<Context>(field: string, name: string, ...inside: readonly Elements<Context>[]): Elements<Context> {
  const { write } = group(name, ...inside)
  return {
    fields: [field],
    write: (record, context) => {
      let xml = ''
      for (const item of itemsOf(record[field])) xml += write(item, context)
      return xml
    },
  }
}

export function itemsOf(list: Value): readonly WireRecord[] {
  return list as readonly WireRecord[]
}

/** Reads these fields and no others. Throws for a name that is no field. */
export function readerOf(fields: FieldSet, names: readonly string[]): Reader {
  const unknown = names.find((name) => fields.get(name) === undefined)
  if (unknown !== undefined) throw new Error(`There is no field ${unknown}`)
  return compileReader(fieldsAmong(fields, (name) => names.includes(name)))
}
