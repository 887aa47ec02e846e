import type { FieldSet, ValueField } from '../../../../src/engine/definition/fields.ts'
import { resourceNamed } from '../../../../src/shop/registry.ts'

/** A record, or an item of a list. */
export type Wire = Record<string, unknown>

let serial = 100

/** The members in which a mark was planted, by mark. No text of the server has one by chance, nor is one part of another. */
export const marks = new Map<string, string>()

export const PATTERN = 'qz\\d+z'

export function mark(path: string): string {
  const word = `qz${serial++}z`
  marks.set(word, path)
  return word
}

/** A line of a transfer file with a mark in every text that takes one; `given` stands over it. */
export function markedLine(service: string, given: Wire) {
  const { fields, storedFields } = resourceNamed(service)
  const whole = markedRecord(service, storedFields)
  const isPrivate = (name: string) => fields.get(name) === undefined
  const part = (wanted: boolean) =>
    Object.fromEntries(Object.entries(whole).filter(([name]) => isPrivate(name) === wanted))
  return { service, record: { ...part(false), ...given }, private: part(true) }
}

function markedRecord(at: string, { entries }: FieldSet): Wire {
  const made = entries.flatMap(([name, field]): [string, unknown][] => {
    const path = `${at}.${name}`
    if (field.kind === 'list') return [[name, [markedRecord(path, field.fields)]]]
    if (field.kind === 'object') return [[name, markedRecord(path, field.fields)]]
    if (field.access === 'key') return [[name, 900 + serial++]]
    return isMarkable(field)
      ? [[name, field.bounds.format === 'email' ? `${mark(path)}@mark.example` : mark(path)]]
      : []
  })
  return Object.fromEntries(made)
}

function isMarkable({ kind, access, sql, bounds, isDay, schema }: ValueField): boolean {
  const isStored = !['wo', 'sent', 'derived'].includes(access) && !(sql !== undefined && access === 'ro')
  return kind === 'text' && isStored && !isDay && bounds.values === undefined && schema.safeParse('qz100z').success
}
