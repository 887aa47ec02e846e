import { createHash } from 'node:crypto'
import type { Caller } from '../../../engine/caller.ts'
import { claimRequest, endAttempt, type Remember, rememberItem } from '../../../engine/changing/idempotency.ts'
import type { Scalar } from '../../../engine/definition/fields.ts'
import { resultItem, StoreFailure } from '../../../foundation/values/failure.ts'
import { type Form, textIn } from '../../html/request.ts'

/** What a form with a one-time key (`OneTimeKey`, a new one each time that the form is shown) adds. */
interface Addition {
  /** What is added to what, such as `payment of order 5`: the key counts only there. */
  readonly scope: string
  /** Of the identifier that is stored for the key. */
  readonly resultKey: string
  /** Returns the identifier. */
  readonly add: (remember: Remember | undefined) => Promise<Scalar>
  readonly messages: {
    /** The form was changed after it had been carried out. */
    readonly isDone: string
    /** It is being carried out. */
    readonly isPending: string
  }
}

/**
 * Carries out a form that adds something, and returns the id of what it added. For a form resubmitted unchanged with its
 * one-time key, returns the id of what it added before. Throws a 409 if the form was changed meanwhile, and
 * `in-progress` while it is being carried out.
 */
export async function addOnce(caller: Caller, form: Form, addition: Addition): Promise<number> {
  const { scope, resultKey, add, messages } = addition
  const key = textIn(form, 'OneTimeKey')
  if (key === '') return Number(await add(undefined))
  const formHash = hash(JSON.stringify(form))
  // The claim covers only the key, because a rejected form is corrected and resubmitted with the same key.
  const claim = await claimRequest(caller, { scope: hash(`${scope} form ${key}`), bodyHash: '' })
  if (claim.kind === 'answered') {
    const added = claim.attempt.stored.get(0)
    if (added?.Message === formHash) return Number(added.Value)
    throw new StoreFailure('invalid-state', messages.isDone)
  }
  if (claim.kind !== 'ours') throw new StoreFailure('in-progress', messages.isPending)
  const { attempt } = claim
  try {
    const remember: Remember = (tx, id) => rememberItem(tx, attempt, resultItem(resultKey, Number(id), 201, formHash))
    return Number(await add(remember))
  } catch (error) {
    await endAttempt(caller, attempt)
    const isInProgress = error instanceof StoreFailure && error.code === 'in-progress'
    throw isInProgress ? new StoreFailure('in-progress', messages.isPending) : error
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
