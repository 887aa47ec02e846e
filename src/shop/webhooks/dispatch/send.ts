import type { KeyObject } from 'node:crypto'
import { LRUCache } from 'lru-cache'
import { allows, bothOf } from '../../../access/applications/privileges.ts'
import type { Log } from '../../../engine/definition/endpoints.ts'
import { eventKind } from '../../../engine/definition/event-kinds.ts'
import { type Outbound, textOf } from '../../../foundation/outbound/outbound.ts'
import { TRIES_MAX } from '../../../foundation/outbound/retry-schedule.ts'
import { messageIdOf, signedHeaders, signingKey } from '../../../foundation/outbound/standard-webhooks.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import { shownMembers } from '../members.ts'
import { signingSecrets } from '../secret.ts'
import type { Claim } from './claim.ts'
import type { Outcome } from './decide.ts'

export interface SendServices {
  secrets: Pick<Secrets, 'open'>
  now: () => Date
  outbound: Outbound
  log: Pick<Log, 'warn'>
  /** Converts one record of a service from JSON text to an XML document. */
  toXml: (service: string, record: string) => string
}

const CONNECT_MS = 3_000
const TOTAL_MS = 15_000
const ANSWER_BYTES_MAX = 65_536
/** The stored part of an answer. */
const KEPT_BYTES_MAX = 4_096
/** Per UTF-16 code unit. */
const UTF8_BYTES_MAX = 3
/** The keys of webhooks that are kept. */
const KEYS_MAX = 1_000

const unanswered = { status: null, durationMs: 0, answer: '', retryAfter: null, isHeldBack: false }

type KeyOf = (sealed: string) => KeyObject

/** Returns the function that makes one attempt, signed by the Standard Webhooks scheme. It never rejects. */
export function createSender(services: SendServices): (claim: Claim) => Promise<Outcome> {
  const keys = new LRUCache({
    max: KEYS_MAX,
    memoMethod: (sealed: string) => signingKey(services.secrets.open(sealed)),
  })
  return async (claim) => {
    const at = services.now()
    const fault = faultOf(claim)
    if (fault !== null) return { ...unanswered, at, reason: fault, isHeldBack: true }
    try {
      return await post(services, (sealed) => keys.memo(sealed), claim, at)
    } catch (error) {
      const { storeId, webhookId, id: deliveryId } = claim
      services.log.warn({ err: error, storeId, webhookId, deliveryId }, 'a webhook delivery could not be sent')
      return { ...unanswered, at, reason: 'The notification could not be made' }
    }
  }
}

/** Returns why it must not be sent now, whatever applied when the event happened, or null. */
function faultOf({ sequence, enabled, attempts, triesBefore, subscriptionId, asked, agreed, eventType }: Claim) {
  const isTest = sequence === 0
  if (!enabled && !isTest) return 'The webhook is not enabled'
  if (attempts - triesBefore > (isTest ? 1 : TRIES_MAX)) return 'The last attempt did not come to an end'
  const service = serviceOf(eventType)
  const privileges = subscriptionId === null ? null : bothOf(asked, agreed)
  return allows(privileges, service, 'read') ? null : `The application may not read ${service}`
}

function serviceOf(eventType: number): string {
  return eventKind(eventType)?.service ?? ''
}

async function post(services: SendServices, keyOf: KeyOf, claim: Claim, at: Date): Promise<Outcome> {
  const body = Buffer.from(bodyOf(services, claim))
  const keys = signingSecrets(claim, at).map(keyOf)
  const answer = await services.outbound.send({
    url: claim.url,
    method: 'POST',
    headers: {
      'content-type': `application/${claim.format === 'XML' ? 'xml' : 'json'}; charset=utf-8`,
      'user-agent': 'store-platform',
      ...signedHeaders(keys, messageIdOf(claim.messageId), at, body),
      'webhook-event': eventKind(claim.eventType)?.name ?? '',
      'webhook-sequence': String(claim.sequence),
      ...(claim.changed !== null && { 'webhook-changed': shownMembers(claim.changed) }),
    },
    body,
    connectMs: CONNECT_MS,
    totalMs: TOTAL_MS,
    answerBytesMax: ANSWER_BYTES_MAX,
  })
  const { durationMs } = answer
  if (!answer.ok) return { ...unanswered, at, durationMs, reason: answer.reason }
  const { status } = answer
  return {
    at,
    durationMs,
    status,
    reason: status >= 200 && status < 300 ? '' : `The answer has the status ${status}`,
    answer: kept(textOf(answer)),
    retryAfter: answer.headers.get('retry-after') ?? null,
    isHeldBack: false,
  }
}

/** Returns the body that the contract's clients expect: an array with the record, without an envelope. */
function bodyOf({ toXml }: SendServices, { format, eventType, body }: Claim): string {
  if (format !== 'XML') return `[${body}]`
  const service = serviceOf(eventType)
  try {
    return toXml(service, body)
  } catch {
    // The error's message may contain parts of the record, and would be logged.
    throw new Error(`A record of ${service} could not be written as XML`)
  }
}

/** Returns the first whole characters that fit, in a form that PostgreSQL accepts. */
function kept(answer: string): string {
  if (answer.length * UTF8_BYTES_MAX <= KEPT_BYTES_MAX) return stored(answer)
  const { read } = new TextEncoder().encodeInto(answer, new Uint8Array(KEPT_BYTES_MAX))
  return stored(answer.slice(0, read))
}

function stored(answer: string): string {
  return answer.toWellFormed().replaceAll('\0', '')
}
