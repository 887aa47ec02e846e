import { createHash } from 'node:crypto'
import type { Caller } from '../../../engine/caller.ts'
import { claimRequest, endAttempt } from '../../../engine/idempotency.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { type PlacedOrder, placeOrder } from '../../../resources/orders/place-order.ts'
import { StoreFailure } from '../../../values/failure.ts'
import { resultItem } from '../../../values/result-item.ts'

/**
 * Places the order of a form and returns its id. For a form resubmitted unchanged with its one-time key, returns the
 * order it placed. Throws `conflict` if the form was changed meanwhile, and `in-progress` while it is being placed.
 */
export async function placeOnce(caller: Caller, form: Form, body: unknown): Promise<number> {
  const key = textIn(form, 'OneTimeKey')
  if (key === '') return (await placeOrder(caller, body)).id
  const formHash = hash(JSON.stringify(form))
  // The claim covers only the key, because a rejected form is corrected and resubmitted with the same key.
  const claim = await claimRequest(caller, { scope: hash(`order form ${key}`), bodyHash: '' })
  if (claim.kind === 'answered') {
    const placed = claim.attempt.stored.get(0)
    if (placed?.Message === formHash) return Number(placed.Value)
    const advice = 'If you want to place this one too, press the button again'
    throw new StoreFailure('conflict', `This form has placed an order already. ${advice}`)
  }
  const message = 'This order is being placed. It appears in the list of orders in a moment'
  if (claim.kind !== 'ours') throw new StoreFailure('in-progress', message)
  const { attempt } = claim
  try {
    const itemOf = ({ id }: PlacedOrder) => resultItem('OrderID', id, 201, formHash)
    return (await placeOrder(caller, body, { attempt, place: 0, records: 1, itemOf })).id
  } catch (error) {
    await endAttempt(caller, attempt)
    const isInProgress = error instanceof StoreFailure && error.kind === 'in-progress'
    throw isInProgress ? new StoreFailure('in-progress', message) : error
  }
}

function hash(text: string): string {
  return createHash('sha256').update(text).digest('base64url')
}
