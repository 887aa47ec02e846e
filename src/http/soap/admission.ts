import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../../access/applications/authenticate.ts'
import { contractRateLimit, type Throttle } from '../../access/applications/limits/throttle.ts'
import { RefusedStore } from '../../access/applications/user-keys.ts'
import { type Caller, callerKey } from '../../engine/caller.ts'
import { bytesInFlight } from '../../foundation/process/bytes-in-flight.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import type { Metrics } from '../server/figures/metrics.ts'
import { showBucket } from '../server/requests/throttled.ts'
import type { Parameters } from './operation.ts'
import type { Queue } from './queue.ts'
import { ResultError } from './result.ts'

export interface AdmissionServices {
  authenticator: Pick<Authenticator, 'authenticateStore'>
  throttle: Pick<Throttle, 'takeRefused' | 'returnAnonymous'>
  queue: Queue
  metrics: Pick<Metrics, 'throttledRequests' | 'cartApi'>
}

const refusals = {
  key: 'wrongKey',
  closed: 'switchedOff',
  'switched-off': 'switchedOff',
  address: 'addressRefused',
} as const

/**
 * Admits a call to the store that it names by storeUrl and userKey, after waiting for a slot of the store's bucket (contract §8).
 * Refused credentials never wait, and count against the client's address. Shows the bucket in the answer's headers. Throws
 * ResultError for the credentials, `rate-limited` for a call whose turn would come too late, `unavailable` where waiting ended early.
 */
export async function admit(
  { authenticator, throttle, queue, metrics }: AdmissionServices,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: Parameters,
): Promise<Caller> {
  try {
    const userKey = parameters.required('userKey', 'userKeyMissing')
    const storeUrl = parameters.required('storeUrl', 'storeUrlMissing')
    const credentials = { storeUrl, userKey, address: request.ip }
    const { caller, throttle: rateLimit } = await authenticator.authenticateStore(credentials)
    request.caller = caller
    throttle.returnAnonymous(request.ip)
    bytesInFlight.admit(callerKey(caller))
    const turn = await queue.takeTurn(rateLimit.key, rateLimit, whenClosed(reply))
    if (turn.kind !== 'granted') metrics.cartApi.givenUpCalls.inc({ reason: turn.kind })
    if (turn.kind === 'refused') metrics.throttledRequests.inc({ bucket: 'cartapi' })
    if (turn.kind === 'left' || turn.kind === 'stopped') throw new StoreFailure('unavailable', reasons[turn.kind])
    showBucket(reply, rateLimit, turn.bucket)
    if (turn.kind === 'granted' && turn.hasWaited) {
      // Meanwhile the key may have been changed, or cartAPI switched off.
      request.caller = (await authenticator.authenticateStore(credentials)).caller
    }
    return request.caller
  } catch (error) {
    if (error instanceof RefusedStore || error instanceof ResultError) {
      showBucket(reply, contractRateLimit, await throttle.takeRefused(request.ip))
    }
    throw error instanceof RefusedStore ? new ResultError(refusals[error.reason], error.message) : error
  }
}

const reasons = {
  left: 'The client closed the connection while the call waited for its turn',
  stopped: 'The server is stopping; try again in a moment',
}

/** Aborted when the answer was sent, or can no longer be sent. */
function whenClosed({ raw }: FastifyReply): AbortSignal {
  const closed = new AbortController()
  raw.once('close', () => closed.abort())
  if (raw.closed) closed.abort()
  return closed.signal
}
