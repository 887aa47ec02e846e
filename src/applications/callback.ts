import { randomUUID } from 'node:crypto'
import { DateTime } from 'luxon'
import type { Outbound } from '../outbound/outbound.ts'
import { FORMER_SECRET_MS, signedHeaders, signingSecret } from '../outbound/standard-webhooks.ts'
import type { Secrets } from '../values/secrets.ts'

/** Contract §6: a store is about to subscribe or unsubscribe. */
export type CallbackAction = 'AUTHORIZE' | 'REMOVE'

/** The application that receives callbacks. */
export interface CallbackReceiver {
  readonly publicKey: string
  readonly callbackUrl: string
  readonly callbackSecretVersion: number
  readonly callbackSecretRotatedAt: Date | null
}

export interface CallbackServices {
  secrets: Secrets
  now: () => Date
  outbound: Outbound
}

/** The time limit of a callback, from the DNS lookup to the last byte of the response. */
export const CALLBACK_MS = 10_000
const CONNECT_MS = 3_000
const ANSWER_BYTES_MAX = 65_536
const BODY_KEPT_LENGTH_MAX = 4_096
const POST_BACK_URL_LENGTH_MAX = 2_000

export interface Callback {
  application: CallbackReceiver
  action: CallbackAction
  token: string
  /** The store's address. */
  secureUrl: string
  /** The webhook-id, the same on every retry. */
  messageId: string
}

/** Returns a new, unique webhook-id. */
export function newMessageId(): string {
  return `msg_${randomUUID()}`
}

/**
 * Sends a callback: the JSON text of contract §6 with its members in that order, and TimeStamp in Eastern time whatever
 * the store's zone. `sent` is that text. Never rejects because of the address or the receiver.
 */
export async function sendCallback(
  services: CallbackServices,
  { application, action, token, secureUrl, messageId }: Callback,
): Promise<CallbackResult & { readonly sent: string }> {
  const sent = JSON.stringify({
    PublicKey: application.publicKey,
    TimeStamp: DateTime.fromJSDate(services.now(), { zone: 'America/New_York' }).toFormat('MM-dd-yyyy HH:mm:ss'),
    TokenKey: token,
    Action: action,
    SecureURL: secureUrl,
  })
  const result = await postCallback(services, application, { url: application.callbackUrl, body: sent, messageId })
  return { ...result, sent }
}

/** Sends again, with a new signature, a text that `sendCallback` has sent. */
export async function postCallback(
  { secrets, now, outbound }: CallbackServices,
  application: Omit<CallbackReceiver, 'callbackUrl'>,
  { url, body, messageId }: { url: string; body: string; messageId: string },
) {
  const at = now()
  const answer = await outbound.send({
    url,
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      accept: 'application/json',
      ...signedHeaders(signingSecrets(secrets, application, at), messageId, at, body),
    },
    body,
    connectMs: CONNECT_MS,
    totalMs: CALLBACK_MS,
    answerBytesMax: ANSWER_BYTES_MAX,
  })
  const { durationMs } = answer
  const refused = (reason: string, status: number | null = null, answered = '') => {
    return {
      ok: false as const,
      /** A sentence without full stop that is safe to show to anyone. */
      reason,
      /** Null: no response arrived. */
      status,
      /** At most 4,096 characters of the response body. */
      body: answered,
      durationMs,
    }
  }
  if (!answer.ok) return refused(answer.reason)
  const { status, isCut } = answer
  const kept = answer.body.slice(0, BODY_KEPT_LENGTH_MAX).toWellFormed()
  if (status !== 200) return refused(`The answer has the status ${status} and not 200`, status, kept)
  if (isCut) return refused('The answer is longer than 64 kB', status, kept)
  // `postBackUrl` is http or https, of at most 2,000 characters. Null: none was sent, or it is unsafe to open.
  return { ok: true as const, status, body: kept, durationMs, postBackUrl: postBackUrlIn(answer.body) }
}

/** The result of a callback. Success is status 200 alone (contract §6), with the whole response received in time. */
export type CallbackResult = Awaited<ReturnType<typeof postCallback>>

function signingSecrets(
  secrets: Secrets,
  { publicKey, callbackSecretVersion, callbackSecretRotatedAt }: Omit<CallbackReceiver, 'callbackUrl'>,
  at: Date,
): string[] {
  const current = callbackSecret(secrets, { publicKey, callbackSecretVersion })
  const isFormerGood = callbackSecretRotatedAt && at.getTime() - callbackSecretRotatedAt.getTime() < FORMER_SECRET_MS
  if (!isFormerGood) return [current]
  return [current, callbackSecret(secrets, { publicKey, callbackSecretVersion: callbackSecretVersion - 1 })]
}

/** Returns the secret that signs an application's callbacks, `whsec_` and base64. Its owner verifies them with it. */
export function callbackSecret(
  secrets: Pick<Secrets, 'derive'>,
  { publicKey, callbackSecretVersion }: Pick<CallbackReceiver, 'publicKey' | 'callbackSecretVersion'>,
): string {
  return signingSecret(secrets, `callback ${publicKey} ${callbackSecretVersion}`)
}

/** Response bodies may be empty, plain text or malformed JSON (rest-protocol §10). These contain no PostBackURL. */
function postBackUrlIn(body: string): string | null {
  let answer: unknown
  try {
    answer = JSON.parse(body)
  } catch {
    return null
  }
  if (typeof answer !== 'object' || answer === null || !('PostBackURL' in answer)) return null
  const { PostBackURL: url } = answer
  return typeof url === 'string' && isForBrowsers(url) ? url : null
}

/** Rejects blanks and control characters, because browsers ignore them when they read the scheme. */
function isForBrowsers(url: string): boolean {
  return (
    url.length <= POST_BACK_URL_LENGTH_MAX &&
    /^https?:\/\//i.test(url) &&
    !/[\s\p{Cc}]/u.test(url) &&
    url.isWellFormed() &&
    URL.canParse(url)
  )
}
