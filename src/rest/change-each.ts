import type { FastifyBaseLogger } from 'fastify'
import { outageOf } from '../database/outage.ts'
import type { Scalar } from '../engine/fields.ts'
import { StoreFailure } from '../failure.ts'
import { type ResultItem, resultItem } from '../result-item.ts'
import type { Answer } from './answer.ts'

/**
 * Makes one change per record, each for itself, in order, and answers one result item each (rest-resources 0.7, 0.8):
 * 200 or 201 when all succeeded, 206 when some did; when none did, an empty 404 if all are unknown, the status that all
 * share if it is a defect, else 400. A defect at one record is that record's 500; the others stand.
 */
export async function changeEach(
  records: readonly unknown[],
  log: FastifyBaseLogger,
  change: (record: unknown) => Promise<ResultItem>,
): Promise<Answer> {
  const items: ResultItem[] = []
  for (const record of records) items.push(await change(record).catch((error: unknown) => failed(error, log)))
  const status = statusOf(items)
  return status === 404 ? { kind: 'nothing' } : { kind: 'results', status, items }
}

export function created(key: string, id: Scalar): ResultItem {
  return resultItem(key, String(id), 201, 'Created successfully')
}

export function updated(key: string, id: Scalar): ResultItem {
  return resultItem(key, String(id), 200, 'updated successfully')
}

function failed(error: unknown, log: FastifyBaseLogger): ResultItem {
  const failure = error instanceof StoreFailure ? error : outageOf(error)
  if (failure === null) {
    log.error({ err: error }, 'a record of the request failed')
    return defect
  }
  if (failure.logDetail) log.info({ detail: failure.logDetail }, failure.message)
  return resultItem('Error', failure.field, failure.status, failure.message)
}

/** What a caller learns of a defect. */
export const defect = resultItem('Error', '', 500, 'Internal error')

function statusOf(items: readonly ResultItem[]): number {
  const [first = 0, ...others] = new Set(items.map(({ Status }) => Number(Status)))
  const isShared = others.length === 0
  if (isShared && (first < 400 || first === 404 || first >= 500)) return first
  return items.some(({ Key }) => Key !== 'Error') ? 206 : 400
}
