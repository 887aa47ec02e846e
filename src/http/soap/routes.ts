import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Throttle } from '../../access/applications/limits/throttle.ts'
import type { Outbound } from '../../foundation/outbound/outbound.ts'
import { type StoreFailure, withoutQuoted } from '../../foundation/values/failure.ts'
import { tellingOf } from '../../foundation/values/preferences.ts'
import type { Secrets } from '../../foundation/values/secrets.ts'
import { sendErrorPage } from '../html/errors.ts'
import { pageHeaders } from '../html/guard.ts'
import { sendPage } from '../html/page.ts'
import { wantsHtml } from '../html/request.ts'
import type { Metrics } from '../server/figures/metrics.ts'
import { sendCompressible, sendTagged } from '../server/requests/compression.ts'
import { failureIn, noteRefusal } from '../server/requests/errors.ts'
import { type AdviceServices, settingAdvice } from '../server/requests/setting-advice.ts'
import { type AdmissionServices, admit } from './admission.ts'
import { receiveEnvelopes } from './body.ts'
import { createPostBack } from './callback.ts'
import { readCall, readEnvelope } from './envelope.ts'
import { SoapFault, type SoapVersion, soapVersions, writeFault } from './faults.ts'
import { lazyModel, type SoapModel, writeWsdl } from './model.ts'
import type { Parameters } from './operation.ts'
import { operations } from './operations/index.ts'
import { Queue, type QueueServices } from './queue.ts'
import { ResultError, type SoapAnswer, writeError } from './result.ts'

export interface SoapServices extends Pick<AdmissionServices, 'authenticator'>, QueueServices, AdviceServices {
  throttle: Throttle
  config: AdviceServices['config'] & {
    readonly publicUrl: string
    readonly soapPath: string
    readonly soapNamespaces: readonly string[]
  }
  secrets: Secrets
  outbound: Pick<Outbound, 'send' | 'addressFault'>
  metrics: Pick<Metrics, 'throttledRequests' | 'cartApi'>
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The version of the answer, as far as it is known. */
    soapVersion: SoapVersion
  }
}

/** The legacy service cartAPI (contract §4.4): one address for both ports, their WSDL, and a page for people. */
export async function soap(app: FastifyInstance, services: SoapServices): Promise<void> {
  const { publicUrl, soapPath, soapNamespaces } = services.config
  const described = { namespaces: soapNamespaces, address: publicUrl + soapPath }
  const wsdl = writeWsdl(described)
  const modelOf = lazyModel(described, (error) => app.log.error(error, 'cartAPI: strong-soap cannot read the WSDL'))
  const adviseNamespace = settingAdvice(services, 'SOAP_NAMESPACES')
  const queue = new Queue(services)
  const { calls, queues } = services.metrics.cartApi
  queues.push(queue)
  const answering = { ...services, queue, postBack: createPostBack(services.outbound) }
  app.decorate('requestKind', 'cartapi')
  app.decorateRequest('soapVersion', '1.1')
  receiveEnvelopes(app)
  app.addHook('onRequest', async (request) => {
    if (/application\/soap\+xml/i.test(request.headers['content-type'] ?? '')) request.soapVersion = '1.2'
    if (request.method === 'POST') services.throttle.requireAnonymous(request.ip)
  })
  app.setErrorHandler<FastifyError | StoreFailure | SoapFault>(async (error, request, reply) => {
    const { soapVersion } = request
    const fault = error instanceof SoapFault ? error : faultOf(failureIn(error, reply, wordings), soapVersion)
    calls.inc({ operation: request.operation, outcome: 'fault', error: fault.code })
    return sendFault(await modelOf().catch(() => null), fault, reply)
  })
  app.addHook('preClose', async () => queue.stop())

  app.get(soapPath, async (request, reply) => {
    const asksForWsdl = Object.keys(request.query as object).some((name) => name.toLowerCase() === 'wsdl')
    if (asksForWsdl) return sendTagged(request, reply, wsdl, 'text/xml; charset=utf-8')
    const { operations, namespaces } = await readable(modelOf)
    const data = { operations, namespaces, address: described.address }
    return sendPage(reply.headers(pageHeaders), { template: '/soap/page', title: 'cartAPI', data })
  })

  app.post(soapPath, async (request, reply) => {
    const { operation, parameters } = await readCall(request, await readable(modelOf), adviseNamespace)
    // The call may wait half a minute for its turn, and needs its text no more.
    request.body = undefined
    const { xml, error } = await answerCall(answering, request, reply, parameters)
    calls.inc({ operation: operation.name, outcome: error === '' ? 'result' : 'error', error })
    reply.type(soapVersions[request.soapVersion].contentType)
    // Its result signs a customer in.
    if (operation.name === 'getCustomerLoginToken') reply.header('cache-control', 'no-store')
    return sendCompressible(reply, operation.answer(xml))
  })

  refuseOthers(app, soapPath)
  refuseAdvanced(app, services.config)
}

function refuseOthers(app: FastifyInstance, url: string): void {
  const method = app.supportedMethods.filter((each) => !['GET', 'HEAD', 'POST'].includes(each))
  const refuse = async (_request: FastifyRequest, reply: FastifyReply): Promise<never> => {
    reply.header('allow', 'GET, HEAD, POST')
    throw new SoapFault('Client', 'This address takes POST, and GET for the WSDL', { status: 405 })
  }
  // Before a body is looked at, whatever it is.
  app.route({ method, url, onRequest: refuse, handler: refuse })
}

/** The original's second service runs SQL. Its clients get a fault, because they cannot read the JSON of a 404. */
function refuseAdvanced(app: FastifyInstance, { publicUrl, soapPath }: SoapServices['config']): void {
  const url = soapPath.replace(/(\.asmx)?$/i, '_advanced$1')
  const message = `${url} (runQuery) is not offered by this server; cartAPI is at ${publicUrl}${soapPath}`
  app.route({
    method: app.supportedMethods,
    url,
    handler: async (request, reply) => {
      const { body } = request
      if (typeof body !== 'string' || body === '') {
        if (wantsHtml(request)) return sendErrorPage(reply, 404, message)
        throw new SoapFault('Client', message, { status: 404 })
      }
      await readEnvelope(request, body)
      throw new SoapFault('Client', message)
    },
  })
}

/** Returns the result or the error document, or the notice that it was posted to callBackURL. */
async function answerCall(
  services: SoapServices & AdmissionServices & { readonly postBack: ReturnType<typeof createPostBack> },
  request: FastifyRequest,
  reply: FastifyReply,
  parameters: Parameters,
): Promise<SoapAnswer> {
  const { operation, log } = request
  const operationOf = operations[operation]
  if (operationOf === undefined) throw new Error(`The WSDL has an operation without code: ${operation}`)
  const explain = (reason: string) => reply.header('x-error-reason', headerText(reason))
  const refused = (error: unknown): SoapAnswer => {
    if (!(error instanceof ResultError)) throw error
    noteRefusal(request, { error: error.id, reason: error.logMessage })
    explain(error.message)
    return { xml: writeError(error), error: String(error.id) }
  }
  const passOver = (detail: string) => {
    log.info({ operation, detail: withoutQuoted(detail) }, 'cartAPI passed over')
    explain(detail)
  }
  try {
    const caller = { ...(await admit(services, request, reply, parameters)), ...tellingOf(request.headers.prefer) }
    const { secrets, config, postBack } = services
    const call = { caller, parameters, services: { secrets, publicUrl: config.publicUrl }, passOver }
    const run = () => operationOf(call)
    const work = async () => run().then((xml) => ({ xml, error: '' }), refused)
    const url = parameters.text('callBackURL')
    return url === '' ? await work() : await postBack({ url, storeId: caller.store.id }, work)
  } catch (error) {
    return refused(error)
  }
}

const REASON_LENGTH_MAX = 300

/** The part of a text that a header can hold. */
function headerText(text: string): string {
  return text.slice(0, REASON_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?')
}

const wordings = {
  FST_ERR_CTP_INVALID_MEDIA_TYPE: ['unsupported-media-type', 'Content-Type is not a media type'],
} as const

function faultOf({ code, message, logMessage, status }: StoreFailure, version: SoapVersion): SoapFault {
  // Proxies of SOAP 1.1 read a fault only from 500, and report anything else as a transport error.
  if (code === 'rate-limited') return new SoapFault('Server', message, { status: version === '1.1' ? 500 : status })
  if (status >= 500) return new SoapFault('Server', message)
  // HTTP itself has a status for these two.
  const isOfHttp = code === 'body-too-large' || code === 'unsupported-media-type'
  return new SoapFault('Client', message, { logMessage, ...(isOfHttp && { status }) })
}

async function readable(modelOf: () => Promise<SoapModel>): Promise<SoapModel> {
  return modelOf().catch(() => {
    throw new SoapFault('Server', 'cartAPI is out of order; the log of the server says why')
  })
}

function sendFault(model: SoapModel | null, fault: SoapFault, reply: FastifyReply) {
  const { request } = reply
  const { soapVersion } = request
  const { status = 500, logMessage = fault.message } = fault.options
  noteRefusal(request, { error: fault.code, reason: logMessage })
  return reply
    .code(status)
    .type(soapVersions[soapVersion].contentType)
    .send(writeFault(model, soapVersion, fault))
}
