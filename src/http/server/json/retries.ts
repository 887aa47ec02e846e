// Answers a change by a JSON route once for each Idempotency-Key (docs/decisions/idempotency.md).

import type { FastifyReply } from 'fastify'
import {
  type Attempt,
  attemptAt,
  endAttempt,
  type Remember,
  rememberItem,
} from '../../../engine/changing/idempotency.ts'
import { type DataServices, type Db, inTransaction } from '../../../foundation/database/client.ts'
import {
  codeOfStatus,
  type ErrorCode,
  errorCodes,
  type ResultItem,
  resultItem,
  StoreFailure,
} from '../../../foundation/values/failure.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'

/** The keys of these routes belong to no store, because some of the routes do not either. */
const NO_STORE = { id: 0 }

type Keys = Parameters<typeof attemptAt>[0]
type Log = Parameters<typeof endAttempt>[2]

/** Makes the function by which a handler stores its answer itself, in the transaction of its change; undefined without a key. */
export type Pending<Value> = <Result>(toValue: (result: Result) => Value) => Remember<Result> | undefined

interface RetryableChange<Services> {
  readonly header: string | readonly string[]
  readonly reply: FastifyReply
  /** The principal and the address: keys of other principals and addresses are other keys. */
  readonly scope: readonly unknown[]
  /** Whether `run` makes its own transactions and stores the answer in one of them by `pending`. */
  readonly storesAnswer: boolean
  /** Returns the value of the answer. */
  readonly run: (services: Services, pending: Pending<unknown>) => Promise<unknown>
  /** Sets the status, and returns the body. */
  readonly write: (value: unknown) => unknown
}

/** A stored answer. It is sealed, because it may contain secrets. */
type Outcome =
  | { readonly status: number; readonly body: unknown }
  | Pick<StoreFailure, 'code' | 'status' | 'message' | 'field' | 'logMessage'>
  /** As early versions stored it. */
  | (Pick<StoreFailure, 'message' | 'field' | 'logMessage'> & { readonly kind: string })

/**
 * Makes a change with an `Idempotency-Key` once, and returns its answer. The answer is stored in the transaction of the
 * change: unless it stores the answer itself, all of `run` is one transaction. Refusals are stored and repeated too, but
 * for those that ask for a retry: from 500 on, and while another request is in progress.
 */
export async function answerOnce<Services extends DataServices>(
  services: Services,
  { header, reply, scope, storesAnswer, run, write }: RetryableChange<Services>,
): Promise<unknown> {
  const { db, secrets, now } = services
  const { request } = reply
  const keys = { db, now, store: NO_STORE }
  const attempt = await attemptAt(keys, { header, address: scope, body: ['json', textOf(request.body)] })
  const [stored] = attempt.stored.values()
  if (stored) return replay(secrets, stored, reply)

  const answer = (value: unknown) => {
    const body = write(value)
    return { body, item: sealed(secrets, { status: reply.statusCode, body }) }
  }
  try {
    if (storesAnswer) return await runStoring(keys, attempt, answer, (pending) => run(services, pending))
    return await inTransaction(db, async (tx) => {
      const { body, item } = answer(await run({ ...services, db: tx as Db }, () => undefined))
      await rememberItem({ db: tx, now }, attempt, item)
      return body
    })
  } catch (error) {
    throw await failed(keys, attempt, secrets, error, request.log)
  }
}

function textOf(body: unknown): string {
  try {
    return JSON.stringify(body ?? null)
  } catch {
    throw new StoreFailure('malformed-body', 'The body is nested too deeply')
  }
}

async function runStoring(
  keys: Keys,
  attempt: Attempt,
  answer: (value: unknown) => { body: unknown; item: ResultItem },
  run: (pending: Pending<unknown>) => Promise<unknown>,
): Promise<unknown> {
  let isStored = false
  const value = await run((toValue) => (tx, result) => {
    isStored = true
    return rememberItem(tx, attempt, answer(toValue(result)).item)
  })
  const { body, item } = answer(value)
  if (!isStored) await rememberItem(keys, attempt, item)
  return body
}

/** Stores a final refusal; after any other error, ends the attempt. Returns the error to answer. */
async function failed(keys: Keys, attempt: Attempt, secrets: Secrets, error: unknown, log: Log): Promise<unknown> {
  const store = async ({ code, status, message, field, logMessage }: StoreFailure) =>
    rememberItem(keys, attempt, sealed(secrets, { code, status, message, field, logMessage }))
  const reason = isFinal(error) ? await store(error).catch((reason) => reason) : error
  if (reason === undefined) return error
  await endAttempt(keys, attempt, log)
  return reason
}

function isFinal(error: unknown): error is StoreFailure {
  return error instanceof StoreFailure && error.status < 500 && error.retryAfterSeconds === undefined
}

function sealed(secrets: Secrets, outcome: Outcome): ResultItem {
  return resultItem('Sealed', secrets.seal(JSON.stringify(outcome)), 200, '')
}

function replay(secrets: Secrets, { Value }: ResultItem, reply: FastifyReply): unknown {
  const outcome: Outcome = JSON.parse(secrets.open(Value))
  reply.header('idempotency-replayed', 'true')
  if ('code' in outcome) throw new StoreFailure(outcome.code, outcome.message, outcome)
  if ('kind' in outcome) throw new StoreFailure(codeOfKind(outcome.kind), outcome.message, outcome)
  reply.code(outcome.status)
  return outcome.body
}

/** The code of what early versions named by one word for each status. */
function codeOfKind(kind: string): ErrorCode {
  return errorCodes.find((code) => code === kind) ?? codeOfStatus(kind === 'conflict' ? 409 : 400)
}
