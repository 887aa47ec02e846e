import type { FastifyError, FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { Registry } from 'prom-client'
import type { Throttle } from '../applications/throttle.ts'
import { outageOf } from '../database/outage.ts'
import { sendErrorPage } from '../html/errors.ts'
import { wantsHtml } from '../html/wants-html.ts'
import type { Outbound } from '../outbound/outbound.ts'
import { sendCompressible } from '../server/compression.ts'
import { sendTagged } from '../server/send-tagged.ts'
import { StoreFailure, withoutQuoted } from '../values/failure.ts'
import type { Secrets } from '../values/secrets.ts'
import { shown } from '../xml/read.ts'
import { type AdmissionServices, admit } from './admission.ts'
import { receiveEnvelopes } from './body.ts'
import { type Callbacks, createCallbacks } from './callback.ts'
import { readEnvelope } from './envelope.ts'
import { SoapFault, writeFault } from './faults.ts'
import { createSoapMetrics, type SoapMetrics } from './metrics.ts'
import { createModel, type SoapModel, type SoapOperation } from './model.ts'
import type { OperationServices, Xml } from './operation.ts'
import { operations } from './operations/index.ts'
import { sendOperationsPage } from './page.ts'
import { type Parameters, readParameters, textParameter } from './parameters.ts'
import { createQueue, type QueueServices } from './queue.ts'
import { ResultError, writeError } from './result-errors.ts'
import { checkAction } from './soap-action.ts'
import { type SoapVersion, soapVersions } from './versions.ts'

export interface SoapServices extends Pick<AdmissionServices, 'authenticator'>, QueueServices {
  throttle: Throttle
  config: { readonly publicUrl: string; readonly soapPath: string; readonly soapNamespaces: readonly string[] }
  secrets: Secrets
  outbound: Pick<Outbound, 'send' | 'addressFault'>
  metrics: { readonly registry: Registry }
}

declare module 'fastify' {
  interface FastifyRequest {
    /** The version that the answer will be in, as far as it is known. */
    soapVersion: SoapVersion
  }
}

/** The legacy service cartAPI (contract §4.4): one address for both ports, their WSDL, and a page for people. */
export async function soap(app: FastifyInstance, services: SoapServices): Promise<void> {
  const { publicUrl, soapPath, soapNamespaces } = services.config
  const model = createModel({ namespaces: soapNamespaces, address: publicUrl + soapPath })
  const { authenticator, throttle } = services
  const queue = createQueue(services)
  const { calls, givenUpCalls } = createSoapMetrics(services.metrics.registry, queue.size)
  const admission = { authenticator, throttle, queue, givenUpCalls }
  const callbacks = createCallbacks(services.outbound)
  const operationServices = { secrets: services.secrets, publicUrl }
  app.decorateRequest('soapVersion', '1.1')
  receiveEnvelopes(app)
  app.addHook('onRequest', async (request) => {
    if (/application\/soap\+xml/i.test(request.headers['content-type'] ?? '')) request.soapVersion = '1.2'
  })
  app.setErrorHandler<FastifyError | StoreFailure | SoapFault>((error, request, reply) =>
    sendFault(calls, faultOf(error, request), request, reply),
  )

  app.addHook('preClose', async () => queue.stop())

  app.get(soapPath, async (request, reply) => {
    const asks = Object.keys(request.query as object).some((name) => name.toLowerCase() === 'wsdl')
    if (asks) return sendTagged(request, reply, model.wsdl, 'text/xml; charset=utf-8')
    return sendOperationsPage(reply, model, services.config)
  })

  app.post(soapPath, async (request, reply) => {
    const { operation, parameters } = readCall(request, model)
    // It has been read, and the call may wait half a minute for its turn.
    request.body = undefined
    const result = await answerCall(request, reply, { operation, parameters, admission, operationServices, callbacks })
    calls.inc({ operation: operation.name, outcome: result.error === '' ? 'result' : 'error', error: result.error })
    reply.type(soapVersions[request.soapVersion].contentType)
    if (secretOperations.includes(operation.name)) reply.header('cache-control', 'no-store')
    return sendCompressible(reply, operation.answer(result.xml))
  })

  app.route({
    method: app.supportedMethods.filter((method) => !['GET', 'HEAD', 'POST'].includes(method)),
    url: soapPath,
    // Before a body is looked at, whatever it is.
    onRequest: refuseMethod,
    handler: refuseMethod,
  })

  refuseAdvanced(app, services.config)
}

/** The original has a second service beside cartAPI, which runs SQL. Its clients get a fault, because they cannot read the JSON of a 404. */
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
      readEnvelope(body, (version) => {
        request.soapVersion = version
      })
      throw new SoapFault('Client', message)
    },
  })
}

/** Their results let somebody in. */
const secretOperations = ['getCustomerLoginToken']

async function refuseMethod(_request: FastifyRequest, reply: FastifyReply): Promise<never> {
  reply.header('allow', 'GET, HEAD, POST')
  throw new SoapFault('Client', 'This address takes POST, and GET for the WSDL', { status: 405 })
}

/** Finds out what is asked for; the version of the answer is known from then on. */
function readCall(request: FastifyRequest, model: SoapModel): { operation: SoapOperation; parameters: Parameters } {
  const { body, headers } = request
  if (typeof body !== 'string' || body === '')
    throw new SoapFault('Client', 'The body is empty; an Envelope is expected')
  const asked = readEnvelope(body, (version) => {
    request.soapVersion = version
  })
  const binding = model.binding(asked.namespace, request.soapVersion)
  if (binding === null) {
    const rule = `must be ${model.namespaces.join(' or ')}`
    const logMessage = `The namespace of the operation ${rule}`
    throw new SoapFault('Client', `The namespace of ${shown(asked.name)} ${rule}`, { logMessage })
  }
  const operation = binding.operations.get(asked.name)
  if (operation === undefined) {
    const known = [...binding.operations.keys()].join(', ')
    const message = `There is no operation ${shown(asked.name)}; there are ${known}`
    throw new SoapFault('Client', message, { logMessage: 'There is no such operation' })
  }
  request.operation = operation.name
  checkAction(headers, operation.name, binding.operations.keys())
  const names = operation.parameters.map(({ name }) => name)
  return { operation, parameters: readParameters(asked.element, names) }
}

interface Answering {
  readonly operation: SoapOperation
  readonly parameters: Parameters
  readonly admission: AdmissionServices
  readonly operationServices: OperationServices
  readonly callbacks: Callbacks
}

interface Result {
  readonly xml: Xml
  /** The number of the error document; empty: it is none. */
  readonly error: string
}

/** The result or the error document, or what says that it was posted to where the caller wants it. */
async function answerCall(
  request: FastifyRequest,
  reply: FastifyReply,
  { operation, parameters, admission, operationServices, callbacks }: Answering,
): Promise<Result> {
  const url = textParameter(parameters, 'callBackURL')
  const run = operations[operation.name]
  if (run === undefined) throw new Error(`The WSDL has an operation that is not there: ${operation.name}`)
  const told = (error: unknown): Result => {
    if (!(error instanceof ResultError)) throw error
    request.log.info({ operation: operation.name, error: error.id, detail: error.logMessage }, 'cartAPI refused')
    reply.header(REASON_HEADER, headerText(error.message))
    return { xml: writeError(error), error: String(error.id) }
  }
  const passOver = (detail: string) => {
    request.log.info({ operation: operation.name, detail: withoutQuoted(detail) }, 'cartAPI passed over')
    reply.header(REASON_HEADER, headerText(detail))
  }
  try {
    const caller = await admit(admission, request, reply, parameters)
    const work = async (): Promise<Result> => {
      try {
        return { xml: await run({ caller, parameters, services: operationServices, passOver }), error: '' }
      } catch (error) {
        return told(error)
      }
    }
    return url === '' ? await work() : await callbacks.post({ url, storeId: caller.store.id }, work)
  } catch (error) {
    return told(error)
  }
}

const REASON_HEADER = 'x-error-reason'
const REASON_LENGTH_MAX = 300

/** What a header can hold of a text. */
function headerText(text: string): string {
  return text.slice(0, REASON_LENGTH_MAX).replace(/[^\x20-\x7e]/g, '?')
}

/** What is the caller's is told; a defect tells nothing from inside, the log has it. */
function faultOf(error: FastifyError | StoreFailure | SoapFault, request: FastifyRequest): SoapFault {
  if (error instanceof SoapFault) return error
  const failure = error instanceof StoreFailure ? error : outageOf(error)
  if (failure?.logDetail) request.log.info({ detail: failure.logDetail }, failure.message)
  if (failure?.kind === 'throttled') {
    // Proxies of SOAP 1.1 read a fault from 500 alone, and report anything else as a transport error.
    const { message, retryAfterSeconds = 1 } = failure
    return new SoapFault('Server', message, { status: request.soapVersion === '1.1' ? 500 : 429, retryAfterSeconds })
  }
  if (failure?.kind === 'unavailable') return new SoapFault('Server', failure.message, { retryAfterSeconds: 1 })
  if (failure !== null && failure.status < 500) {
    // The two that HTTP itself speaks of keep its status.
    const isOfHttp = failure.kind === 'body-too-large' || failure.kind === 'unsupported-media-type'
    return new SoapFault('Client', failure.message, {
      logMessage: failure.logMessage,
      ...(isOfHttp && { status: failure.status }),
    })
  }
  if ((error as FastifyError).code === 'FST_ERR_CTP_INVALID_MEDIA_TYPE') {
    return new SoapFault('Client', 'Content-Type is not a media type', { status: 415 })
  }
  request.log.error({ err: error }, 'request failed')
  return new SoapFault('Server', 'Internal error')
}

function sendFault(
  calls: SoapMetrics['calls'],
  fault: SoapFault,
  request: FastifyRequest,
  reply: FastifyReply,
): FastifyReply {
  const { soapVersion, operation } = request
  calls.inc({ operation, outcome: 'fault', error: fault.code })
  request.log.info({ operation, fault: fault.code, detail: fault.logMessage }, 'cartAPI fault')
  if (fault.retryAfterSeconds !== undefined) reply.header('retry-after', String(fault.retryAfterSeconds))
  return reply.code(fault.status).type(soapVersions[soapVersion].contentType).send(writeFault(soapVersion, fault))
}
