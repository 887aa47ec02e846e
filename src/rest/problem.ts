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
