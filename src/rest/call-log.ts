import { STATUS_CODES } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { CallLog } from '../applications/call-log.ts'
import { loggablePath } from '../server/request-log.ts'
import { withoutQuoted } from '../values/failure.ts'

declare module 'fastify' {
  interface FastifyRequest {
    /** The subscription of the token, if the credentials were refused. */
    refusedSubscriptionId: number | null
    /** The reason for refusing the request or a part of it; empty: none, or unknown. */
    refusal: string
  }
}

/** Records every answered request with a subscription's token in the call log. */
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
