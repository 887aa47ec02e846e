import type { Conditions } from '../../engine/changing/change.ts'
import type { Call, JsonText, Query } from '../../engine/definition/endpoints.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { digest, plainTag } from '../server/requests/compression.ts'
import type { Format } from './format.ts'

/*
 * The entity tag of a record is the hash of its JSON text. XML and $select give other representations with their own
 * tags: the record's hash, a point and a second hash. Compressed answers append a point and the encoding. A change is
 * conditional on the record only, so it accepts any of these tags.
 */

/** The strong tag of the representation that this request receives (RFC 9110 §8.8.3). */
export function entityTag(record: JsonText, format: Format, query: Query): string {
  const select = query.get('$select')
  if (format === 'json' && select === undefined) return `"${digest(record)}"`
  return `"${digest(record)}.${digest(`${format} ${select ?? ''}`).slice(0, 8)}"`
}

/**
 * The tag in `If-None-Match` that matches this one, or this one for `*`; null if none matches. Comparison is weak and
 * ignores the encoding (RFC 9110 §13.1.2); shared caches may not store these answers.
 */
export function namedTag(tag: string, ifNoneMatch: string | undefined): string | null {
  const named = tagsIn(ifNoneMatch)
  if (named === '*') return tag
  return named.map((one) => one.replace(/^W\//, '')).find((one) => plainTag(one) === tag) ?? null
}

/**
 * The precondition in `If-Match` and `If-None-Match` of a change of one record (RFC 9110 §13.1), checked under the
 * record's lock. Throws `precondition-failed` at once for several records, because they have no common tag.
 */
export function preconditionOf({ headers, records }: Call): Pick<Conditions, 'precondition'> {
  const { 'if-match': ifMatch, 'if-none-match': ifNoneMatch } = headers
  if (ifMatch === undefined && ifNoneMatch === undefined) return {}
  if (records.length > 1) {
    const field = ifMatch === undefined ? 'If-None-Match' : 'If-Match'
    throw unmet(field, 'If-Match and If-None-Match go with a change of one record')
  }
  return {
    precondition: (record) => {
      if (ifMatch !== undefined && !isRecordNamed(record, ifMatch, 'strong')) {
        const message = isWellFormed(ifMatch)
          ? 'The record is not the one that If-Match names: it was changed meanwhile. Read it again'
          : 'If-Match must be * or an ETag as it was answered, in double quotes; several are separated by commas'
        throw unmet('If-Match', message)
      }
      if (ifNoneMatch !== undefined && isRecordNamed(record, ifNoneMatch, 'weak')) {
        throw unmet('If-None-Match', 'The record is one that If-None-Match names')
      }
    },
  }
}

/** Throws `precondition-failed` for `If-Match`, because a new record has no tag to match. */
export function refuseIfMatch({ headers }: Call): Record<string, never> {
  if (headers['if-match'] !== undefined) throw unmet('If-Match', 'If-Match goes with the address of one record')
  return {}
}

function unmet(field: string, message: string): StoreFailure {
  return new StoreFailure('precondition-failed', message, { field })
}

/** Whether a header names the record, in any representation. Strong comparison ignores weak tags. */
function isRecordNamed(record: string, header: string, comparison: 'strong' | 'weak'): boolean {
  const named = tagsIn(header)
  if (named === '*') return true
  const current = digest(record)
  return named.some((tag) => {
    if (comparison === 'strong' && tag.startsWith('W/')) return false
    return tag.replace(/^W\//, '').replace(/^"([^".]*).*"$/, '$1') === current
  })
}

const tags = /(?:W\/)?"[^"]*"/g

/** Returns no tags for a malformed header, so that a part of it is not misread. */
function tagsIn(header: string | undefined): readonly string[] | '*' {
  if (header === undefined || !isWellFormed(header)) return []
  return header.trim() === '*' ? '*' : (header.match(tags) ?? [])
}

function isWellFormed(header: string): boolean {
  return header.trim() === '*' || /^[\s,]*$/.test(header.replace(tags, ','))
}
