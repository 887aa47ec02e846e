import { STATUS_CODES } from 'node:http'
import type { ResultsAnswer } from '../engine/reading/endpoints.ts'
import type { ResultItem } from '../values/failure.ts'

/** What an empty 404 means. */
export const NO_SUCH_RECORD = 'There is no such record'

/** A refusal in the form of RFC 9457 (the schema Problem), with two members of our own: `errors` and `requestId`. */
export function problemOf(
  status: number,
  items: readonly ResultItem[],
  requestId: string,
  parts?: ResultsAnswer['parts'],
) {
  return {
    type: `urn:store-platform:problem:${status}`,
    title: STATUS_CODES[status] ?? 'Error',
    status,
    detail: items.length === 0 ? NO_SUCH_RECORD : items.map(({ Message }) => Message).join('; '),
    errors: items.flatMap(({ Value, Status, Message }, index) => {
      const all = parts?.get(index) ?? []
      if (all.length > 0) return all.map(({ field, status, message }) => ({ index, field, status, detail: message }))
      return { index, field: Value, status: Number(Status), detail: Message }
    }),
    requestId,
  }
}

/** Whether refusals are wanted as problem details (RFC 9457). Only the exact type counts, because old clients accept anything. */
export function acceptsProblem(accept: string | undefined): boolean {
  const ranges = accept?.toLowerCase().split(',').map(readRange) ?? []
  return ranges.some(({ type, quality }) => type === PROBLEM_TYPE && quality > 0)
}

export const PROBLEM_TYPE = 'application/problem+json'

/** A range of media types of a header Accept, with its quality. */
export function readRange(text: string) {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = given === undefined ? 1 : Number(given.slice(2))
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}
