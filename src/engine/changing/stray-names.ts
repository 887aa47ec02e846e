import { StoreFailure } from '../../foundation/values/failure.ts'
import { type Candidate, candidateOf, nearestName } from '../../foundation/values/nearest.ts'
import { remembered } from '../../foundation/values/remembered.ts'
import type { FieldSet, ObjectType } from '../definition/fields.ts'
import { isRecord } from '../definition/input.ts'

/**
 * Refuses (400) an update that names no known field at any depth, but others: to answer that it succeeded would say that something
 * was stored. An identifier counts as a field, and a record without members is allowed.
 */
export function refuseStrayNames({ typeName, fields }: ObjectType, body: unknown): void {
  const stray = strayName(fields, body)
  if (stray === null) return
  const shown = stray.slice(0, SHOWN_LENGTH_MAX).toWellFormed()
  const meant =
    nearestName(stray.slice(stray.lastIndexOf('.') + 1), candidatesOf(fields)) ??
    nearestName(stray, candidatesOf(fields))
  const advice = meant === null ? 'The fields are listed at /docs' : `Did you mean ${meant}?`
  throw new StoreFailure(
    'bad-request',
    `"${shown}" is not a field of ${typeName}, and no other field is given. ${advice}`,
    { field: shown },
  )
}

const SHOWN_LENGTH_MAX = 60

/** The path of the first unknown name, if no known one has a value; otherwise null. */
function strayName(fields: FieldSet, body: unknown): string | null {
  let stray: string | null = null
  const hasKnown = (within: FieldSet, record: Record<string, unknown>, path: string): boolean =>
    Object.entries(record).some(([given, member]) => {
      const name = within.byLowerName.get(given.toLowerCase())
      const field = name === undefined ? undefined : within.get(name)
      if (field === undefined) {
        stray ??= path + given
        return false
      }
      if (field.kind === 'object' && isRecord(member)) return hasKnown(field.fields, member, `${path}${name}.`)
      if (field.kind !== 'list' || !Array.isArray(member) || member.length === 0) return true
      const isKnown = (item: unknown, index: number) =>
        !isRecord(item) || Object.keys(item).length === 0 || hasKnown(field.fields, item, `${path}${name}[${index}].`)
      return member.some(isKnown)
    })
  return isRecord(body) && !hasKnown(fields, body, '') ? stray : null
}

export const candidatesOf = remembered((fields: FieldSet): readonly Candidate[] => namesIn(fields, ''))

/** Every field at every depth by its path: `SKUInfo.Price`, `FeatureList.FeatureTitle`. */
function namesIn({ entries }: FieldSet, path: string): Candidate[] {
  return entries.flatMap(([last, field]) => {
    const name = path + last
    const meant = candidateOf(name, [last, name, ...('label' in field ? [field.label] : [])])
    return 'fields' in field ? [meant, ...namesIn(field.fields, `${name}.`)] : [meant]
  })
}
