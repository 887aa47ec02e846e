import { randomUUID } from 'node:crypto'
import { DateTime } from 'luxon'
import type { SealingServices } from '../../../foundation/database/client.ts'
import type { Application } from '../../../foundation/database/generated/client.ts'
import { type Outbound, textOf } from '../../../foundation/outbound/outbound.ts'
import { FORMER_SECRET_MS, signedHeaders, signingKey } from '../../../foundation/outbound/standard-webhooks.ts'

/** Contract §6: a store is about to subscribe or unsubscribe. */
export type CallbackAction = 'AUTHORIZE' | 'REMOVE'

export type CallbackServices = SealingServices & { outbound: Outbound }

/** The time limit of a callback, from the DNS lookup to the last byte of the response. */
export const CALLBACK_MS = 10_000
const CONNECT_MS = 3_000
const JSON_TYPE = 'application/json'
const ANSWER_BYTES_MAX = 65_536
const BODY_KEPT_LENGTH_MAX = 4_096
const POST_BACK_URL_LENGTH_MAX = 2_000

/** The application whose secret signs a callback. */
type Signer = SealedCallbackSecrets & Pick<Application, 'publicKey'>

/** The columns of an application's callback secrets. */
export type SealedCallbackSecrets = Pick<
  Application,
  'callbackSecretSealed' | 'formerCallbackSecretSealed' | 'callbackSecretRotatedAt'
>

/** Returns a new, unique webhook-id, which stays the same on every retry. */
export function newMessageId(): string {
  return `msg_${randomUUID()}`
}

/** The JSON text of contract §6: its members in that order, with TimeStamp in Eastern time whatever the store's zone, and `others` behind them. */
export function callbackText(
  now: () => Date,
  { publicKey, token, action, secureUrl }: { publicKey: string; token: string; action: string; secureUrl: string },
  others: object = {},
): string {
  return JSON.stringify({
    PublicKey: publicKey,
    TimeStamp: DateTime.fromJSDate(now(), { zone: 'America/New_York' }).toFormat('MM-dd-yyyy HH:mm:ss'),
    TokenKey: token,
    Action: action,
    SecureURL: secureUrl,
    ...others,
  })
}

/** Sends a callback. `sent` is its text. Never rejects because of the address or the receiver. */
export async function sendCallback(
  services: CallbackServices,
  callback: {
    application: Signer & { callbackUrl: string }
    action: CallbackAction
    token: string
    secureUrl: string
    messageId: string
  },
) {
  const { application, messageId } = callback
  const sent = callbackText(services.now, { ...callback, publicKey: application.publicKey })
  const result = await postCallback(services, application, { url: application.callbackUrl, body: sent, messageId })
  return { ...result, sent }
}

/**
 * Sends the text of a callback, signed anew. `ok`: status 200 (contract §6), with the whole
 * response received in time. `reason`: a sentence without full stop that is safe to show to anyone. `status`: null if no
 * response arrived. `body`: at most 4,096 characters of it. `postBackUrl`: http or https, of at most 2,000 characters;
 * null if none was sent, or it is unsafe to open.
 */
export async function postCallback(
  { secrets, now, outbound }: CallbackServices,
  application: Signer,
  { url, body, messageId }: { url: string; body: string; messageId: string },
) {
  const at = now()
  const keys = sealedCallbackSecrets(application, at).map((sealed) => signingKey(secrets.open(sealed)))
  const answer = await outbound.send({
    url,
    method: 'POST',
    headers: { 'content-type': JSON_TYPE, accept: JSON_TYPE, ...signedHeaders(keys, messageId, at, body) },
    body,
    connectMs: CONNECT_MS,
    totalMs: CALLBACK_MS,
    answerBytesMax: ANSWER_BYTES_MAX,
  })
  const { durationMs } = answer
  const refused = (reason: string, status: number | null = null, answered = '') => {
    return { ok: false as const, reason, status, body: answered, durationMs }
  }
  if (!answer.ok) return refused(answer.reason)
  const { status, isCut } = answer
  const text = textOf(answer)
  const kept = text.slice(0, BODY_KEPT_LENGTH_MAX).toWellFormed()
  if (status !== 200) return refused(`The answer has the status ${status} and not 200`, status, kept)
  if (isCut) return refused('The answer is longer than 64 kB', status, kept)
  return { ok: true as const, status, body: kept, durationMs, postBackUrl: postBackUrlIn(text) }
}

/** Returns the sealed secrets that sign callbacks at this time, newest first. */
export function sealedCallbackSecrets(signer: SealedCallbackSecrets, at: Date): string[] {
  const { callbackSecretSealed, formerCallbackSecretSealed: former, callbackSecretRotatedAt: rotatedAt } = signer
  const isFormerOver = !rotatedAt || at.getTime() - rotatedAt.getTime() >= FORMER_SECRET_MS
  return isFormerOver || former === null ? [callbackSecretSealed] : [callbackSecretSealed, former]
}

/** Response bodies may be empty, plain text or malformed JSON (rest-protocol §10). These contain no PostBackURL. */
function postBackUrlIn(body: string): string | null {
  try {
    const { PostBackURL: url } = JSON.parse(body)
    return typeof url === 'string' && isForBrowsers(url) ? url : null
  } catch {
    return null
  }
}

/** Rejects blanks and control characters, because browsers ignore them when they read the scheme. */
function isForBrowsers(url: string): boolean {
  const isPlain = url.length <= POST_BACK_URL_LENGTH_MAX && url.isWellFormed() && !/[\s\p{Cc}]/u.test(url)
  return isPlain && /^https?:\/\//i.test(url) && URL.canParse(url)
}
