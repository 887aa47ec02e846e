import { inTransaction } from '../database/client.ts'
import { outageOf } from '../database/outage.ts'
import { StoreFailure } from '../values/failure.ts'
import { type ResultItem, resultItem } from '../values/result-item.ts'
import type { Caller } from './caller.ts'
import type { Answer, Call } from './endpoints.ts'
import type { Scalar } from './fields.ts'
import { beginAttempt } from './idempotency.ts'
import type { Terms } from './write.ts'

/** The changes of one request. */
export interface Changes {
  readonly records: readonly unknown[]
  /** What the request demands of each record besides. */
  readonly condition?: Pick<Terms, 'precondition'>
  /** Makes one of them and returns its identifier or key. */
  readonly change: (record: unknown, terms: Terms) => Promise<Scalar>
  /** What is answered to a change that was made. */
  readonly done: (key: Scalar) => ResultItem
}

/**
 * Makes one change per record, each for itself, in order, and answers one result item each (rest-resources 0.7, 0.8):
 * 200 or 201 when all succeeded, 206 when some did; when none did, an empty 404 if all are unknown, the status that all
 * share if it is a defect or a failed precondition, else 400. A defect at one record is that record's 500; the others stand.
 * With an `Idempotency-Key`, what an earlier attempt did is answered and not done again.
 */
export async function changeEach(call: Call, { records, condition, change, done }: Changes): Promise<Answer> {
  const attempt = await beginAttempt(call, records.length)
  const items: ResultItem[] = []
  for (const [place, record] of records.entries()) {
    const failedItem = (error: unknown) => failed(error, call.log)
    const make = (terms: Terms) =>
      change(record, { ...condition, ...terms })
        .then(done)
        .catch(failedItem)
    const made = attempt === null ? make({}) : attempt.once(place, done, make).catch(failedItem)
    items.push(await made)
  }
  await attempt?.end()
  const status = statusOf(items)
  const replayed = attempt?.isReplay === true
  return status === 404 ? { kind: 'nothing', replayed } : { kind: 'results', status, items, replayed }
}

/** One change, in a transaction of its own; with an Idempotency-Key made once. */
export function changeOnce(
  call: Call,
  change: (tx: Caller) => Promise<Scalar>,
  done: (key: Scalar) => ResultItem,
): Promise<Answer> {
  const { caller } = call
  return changeEach(call, {
    records: [null],
    change: (_nothing, { finish }) =>
      inTransaction(caller.db, async (db) => {
        const tx = { ...caller, db }
        const key = await change(tx)
        await finish?.(tx, key)
        return key
      }),
    done,
  })
}

export function created(key: string): Changes['done'] {
  return (id) => resultItem(key, String(id), 201, 'Created successfully')
}

export function updated(key: string): Changes['done'] {
  return (id) => resultItem(key, String(id), 200, 'updated successfully')
}

export function deleted(key: string): Changes['done'] {
  return (id) => resultItem(key, String(id), 200, 'Deleted successfully')
}

function failed(error: unknown, log: Call['log']): ResultItem {
  const failure = error instanceof StoreFailure ? error : outageOf(error)
  // Another attempt at the whole request goes on with it.
  if (failure?.kind === 'in-progress') throw failure
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
  if (isShared) return first
  return items.some(({ Key }) => Key !== 'Error') ? 206 : 400
}
