import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Authenticator } from '../access/authenticate.ts'
import { RefusedStore, type StoreRefusal } from '../access/store-access.ts'
import type { Caller } from '../caller.ts'
import { contractFigures, showBucket, type Throttle } from '../throttle.ts'
import { type Parameters, textParameter } from './parameters.ts'
import { type ErrorName, ResultError } from './result-errors.ts'

export interface AdmissionServices {
  authenticator: Pick<Authenticator, 'authenticateStore'>
  throttle: Throttle
}

const errorOf: Readonly<Record<StoreRefusal, ErrorName>> = {
  key: 'wrongKey',
  'switched-off': 'switchedOff',
  address: 'addressRefused',
}

/**
 * Lets a call into the store that it names: by storeUrl and userKey, then by the store's bucket (contract §8). Who is not let in
 * counts against the client's address. Throws ResultError, or `throttled` for a full bucket; the answer's headers show it.
 */
export async function admit(
  { authenticator, throttle }: AdmissionServices,
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: Parameters,
): Promise<Caller> {
  const storeUrl = textParameter(parameters, 'storeUrl')
  const userKey = textParameter(parameters, 'userKey')
  try {
    if (userKey === '') throw new ResultError('userKeyMissing', 'userKey is missing')
    if (storeUrl === '') throw new ResultError('storeUrlMissing', 'storeUrl is missing')
    const { caller, throttle: figures } = await authenticator.authenticateStore({
      storeUrl,
      userKey,
      address: request.ip,
    })
    request.caller = caller
    showBucket(reply, figures, throttle.take(figures.key, figures))
    return caller
  } catch (error) {
    if (error instanceof RefusedStore || error instanceof ResultError) {
      showBucket(reply, contractFigures, throttle.takeRefused(request.ip))
    }
    throw error instanceof RefusedStore ? new ResultError(errorOf[error.reason], error.message) : error
  }
}
