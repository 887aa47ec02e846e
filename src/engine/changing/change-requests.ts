import type { StoreFailure } from '../../foundation/values/failure.ts'
import { type ResultItem, resultItem } from '../../foundation/values/failure.ts'
import type { Caller } from '../caller.ts'
import type { Resource } from '../definition/define.ts'
import type { Scalar } from '../definition/fields.ts'
import type { Answer, Call } from '../reading/endpoints.ts'
import { inChange, type Member, type Outcomes } from './change.ts'
import { beginAttempt, endAttempt, rememberItems } from './idempotency.ts'
import { makeAlone, makeChanges, type Note } from './make-changes.ts'
import type { RequestedChange } from './plan-change.ts'

// The changes that one request asks for, and its answer.

/**
 * Makes the changes of one request separately and in order, and answers one result item each (rest-resources §0.7,
 * §0.8). The status is 200 or 201 if all succeed, 206 if some do, and if none does the status that all share (an empty
 * body for 404), else 400. A defect makes its record a 500; the other changes stand. With an `Idempotency-Key`, results
 * of an earlier attempt are replayed and not repeated.
 */
export function changeRecords(
  call: Call,
  resource: Resource,
  requested: readonly RequestedChange[],
  { key = resource.resultKey, precondition }: { key?: string } & Pick<Member, 'precondition'> = {},
): Promise<Answer> {
  const { log, headers } = call
  const caller = { ...call.caller, isKeyed: 'idempotency-key' in headers }
  const bytes = Number(headers['content-length'] ?? Number.POSITIVE_INFINITY)
  const done = requested.map(({ kind }) => doneBy[kind](key))
  return answerEach(call, done, (open, note) => {
    const changes = open.map((place): [number, RequestedChange] => [place, requested[place] as RequestedChange])
    return makeChanges({ caller, resource, log, precondition, note, bytes }, new Map(changes))
  })
}

/** Makes one change, not of a record, in its own transaction; only once with an `Idempotency-Key`. */
export function changeOnce(call: Call, change: (tx: Caller) => Promise<Scalar>, done: Done): Promise<Answer> {
  const { caller, log } = call
  return answerEach(call, [done], async ([place = 0], note) => {
    const made = await makeAlone({ caller, log, note }, place, (remember) => inChange(caller, change, remember))
    return new Map([[place, made]])
  })
}

export function created(key: string) {
  return (id: Scalar): ResultItem => resultItem(key, String(id), 201, 'Created successfully')
}

export function updated(key: string) {
  return (id: Scalar): ResultItem => resultItem(key, String(id), 200, 'updated successfully')
}

export function deleted(key: string) {
  return (id: Scalar): ResultItem => resultItem(key, String(id), 200, 'Deleted successfully')
}

const doneBy = {
  create: created,
  'add-item': created,
  update: updated,
  patch: updated,
  'update-item': updated,
  delete: deleted,
}

/** The answer to a change that was made. */
type Done = (key: Scalar) => ResultItem

/** Answers changes, by place: `make` makes those that have no stored answer. */
async function answerEach(
  call: Call,
  done: readonly Done[],
  make: (open: readonly number[], note: Note | undefined) => Promise<Outcomes>,
): Promise<Answer> {
  const { caller, log } = call
  const attempt = 'idempotency-key' in call.headers ? await beginAttempt(call) : null
  const itemsOf = (outcomes: Outcomes) =>
    [...outcomes].map(([place, outcome]): [number, ResultItem] => {
      const doneAt = done[place] as Done
      return [place, 'key' in outcome ? doneAt(outcome.key) : refusalItem(outcome.failure)]
    })
  const note: Note = async (tx, outcomes) => {
    const items = itemsOf(outcomes).filter(([, item]) => !isToBeTriedAgain(item))
    if (attempt && items.length > 0) await rememberItems(tx, attempt, new Map(items), done.length)
  }
  const stored = attempt?.stored ?? new Map<number, ResultItem>()
  const open = [...done.keys()].filter((place) => !stored.has(place))
  const outcomes: Outcomes = open.length === 0 ? new Map() : await make(open, attempt ? note : undefined)
  const made = itemsOf(outcomes)
  const byPlace = new Map([...stored, ...made])
  const items = [...done.keys()].map((place) => byPlace.get(place) as ResultItem)
  const replayed = open.length === 0
  // Replaying stored items does not mark the key as answered, so the lease must end here.
  if (attempt?.claim && (replayed || items.some(isToBeTriedAgain))) await endAttempt(caller, attempt, log)
  const status = statusOf(items)
  return status === 404
    ? { kind: 'nothing', replayed }
    : { kind: 'results', status, items, replayed, parts: partsOf(outcomes) }
}

function partsOf(outcomes: Outcomes): ReadonlyMap<number, readonly StoreFailure[]> {
  return new Map(
    [...outcomes].flatMap(([place, outcome]) =>
      'failure' in outcome ? [[place, outcome.failure.parts] as const] : [],
    ),
  )
}

/** The result item of a refusal. */
export function refusalItem({ field, status, message }: StoreFailure): ResultItem {
  return resultItem('Error', field, status, message)
}

/** A 5xx is not stored, because a retry should not repeat it. */
function isToBeTriedAgain({ Status }: ResultItem): boolean {
  return Number(Status) >= 500
}

function statusOf(items: readonly ResultItem[]): number {
  const [first = 0, ...others] = new Set(items.map(({ Status }) => Number(Status)))
  const isShared = others.length === 0
  if (isShared) return first
  return items.some(({ Key }) => Key !== 'Error') ? 206 : 400
}
