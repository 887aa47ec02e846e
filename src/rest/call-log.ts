import { STATUS_CODES } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { CallLog } from '../applications/call-log.ts'
import { loggablePath } from '../server/request-log.ts'
import { withoutQuoted } from '../values/failure.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** Whose token came with credentials that were refused. */
    refusedSubscriptionId: number | null
    /** What was wrong with the request or a part of it, in words; empty: nothing, or nobody said. */
    refusal: string
  }
}

/** Notes every request that a subscription's token came with, once it is answered. */
export function logCalls(app: FastifyInstance, callLog: Pick<CallLog, 'record'>): void {
  app.decorateRequest('refusedSubscriptionId', null)
  app.decorateRequest('refusal', '')
  app.addHook('onResponse', (request, { statusCode: status }, done) => {
    const { caller, refusedSubscriptionId, method, refusal } = request
    const subscriptionId = caller?.application?.subscriptionId ?? refusedSubscriptionId
    if (subscriptionId !== null) {
      const path = loggablePath(request)
      const message = withoutQuoted(refusal) || (status >= 400 ? (STATUS_CODES[status] ?? '') : '')
      callLog.record({ subscriptionId, method, path, status, message })
    }
    done()
  })
}
