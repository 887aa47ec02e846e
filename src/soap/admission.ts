import type { FastifyReply, FastifyRequest } from 'fastify'
import { contractRateLimit, showBucket, type Throttle } from '../applications/throttle.ts'
import type { Caller } from '../engine/caller.ts'
import { RefusedStore, type StoreRefusal } from '../stores/store-entry.ts'
import type { Authenticator } from '../subscriptions/authenticate.ts'
import { StoreFailure } from '../values/failure.ts'
import type { GivenUpCounter } from './metrics.ts'
import { type Parameters, textParameter } from './parameters.ts'
import type { Queue } from './queue.ts'
import { type ErrorName, ResultError } from './result-errors.ts'

export interface AdmissionServices {
  authenticator: Pick<Authenticator, 'authenticateStore'>
  throttle: Pick<Throttle, 'takeRefused'>
  queue: Queue
  givenUpCalls: GivenUpCounter
}

const errorOf: Readonly<Record<StoreRefusal, ErrorName>> = {
  key: 'wrongKey',
  'switched-off': 'switchedOff',
  address: 'addressRefused',
}

/**
 * Lets a call into the store that it names: by storeUrl and userKey, then by a slot of the store's bucket (contract §8), for which
 * it waits its turn. Refused credentials never wait, and count against the client's address. Throws ResultError, `throttled` for
 * a call whose turn would come too late, or `unavailable` where waiting was given up; the answer's headers show the bucket.
 */
export async function admit(
  { authenticator, throttle, queue, givenUpCalls }: AdmissionServices,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: Parameters,
): Promise<Caller> {
  const storeUrl = textParameter(parameters, 'storeUrl')
  const userKey = textParameter(parameters, 'userKey')
  const credentials = { storeUrl, userKey, address: request.ip }
  try {
    if (userKey === '') throw new ResultError('userKeyMissing', 'userKey is missing')
    if (storeUrl === '') throw new ResultError('storeUrlMissing', 'storeUrl is missing')
    const { caller, throttle: rateLimit } = await authenticator.authenticateStore(credentials)
    request.caller = caller
    const turn = await queue.takeTurn(rateLimit.key, rateLimit, whenClosed(reply))
    if (turn.kind !== 'granted') givenUpCalls.inc({ reason: turn.kind })
    if (turn.kind === 'left' || turn.kind === 'stopped') throw new StoreFailure('unavailable', reasons[turn.kind])
    showBucket(reply, rateLimit, turn.bucket)
    if (turn.kind === 'granted' && turn.hasWaited) {
      // Meanwhile the key may have been changed, or cartAPI switched off.
      request.caller = (await authenticator.authenticateStore(credentials)).caller
    }
    return request.caller
  } catch (error) {
    if (error instanceof RefusedStore || error instanceof ResultError) {
      showBucket(reply, contractRateLimit, throttle.takeRefused(request.ip))
    }
    throw error instanceof RefusedStore ? new ResultError(errorOf[error.reason], error.message) : error
  }
}

const reasons = {
  left: 'The client closed the connection while the call waited for its turn',
  stopped: 'The server is stopping; try again in a moment',
}

/** Aborted when the answer is over, or can no longer be sent. */
function whenClosed({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController()
  raw.once('close', () => closed.abort())
  if (raw.closed) closed.abort()
  return closed.signal
}
