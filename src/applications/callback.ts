import { randomUUID } from 'node:crypto'
import { DateTime } from 'luxon'
import type { Outbound } from '../outbound/outbound.ts'
import { FORMER_SECRET_MS, signedHeaders, signingSecret } from '../outbound/standard-webhooks.ts'
import type { Secrets } from '../values/secrets.ts'

/** Contract §6: a store is about to subscribe, or to unsubscribe. */
export type CallbackAction = 'AUTHORIZE' | 'REMOVE'

/** Whom a callback goes to. */
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

/** How long a callback takes at most, from looking up the name to the last byte of the answer. */
export const CALLBACK_MS = 10_000
const CONNECT_MS = 3_000
const ANSWER_BYTES_MAX = 65_536
const BODY_KEPT_LENGTH_MAX = 4_096
const POST_BACK_URL_LENGTH_MAX = 2_000

export interface Callback {
  application: CallbackReceiver
  action: CallbackAction
  token: string
  /** The store's. */
  secureUrl: string
  /** webhook-id: the same every time that this is sent. */
  messageId: string
}

/** A webhook-id that was never sent before. */
export function newMessageId(): string {
  return `msg_${randomUUID()}`
}

/**
 * Tells the application what happens to its token: the JSON text of contract §6, its members in that order, with TimeStamp in
 * Eastern time whatever the store's zone. `sent` is that text. Never rejects for what the address or the receiver does.
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

/** Sends a text that `sendCallback` has sent before, signed anew. */
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
      /** A sentence that anyone may see, without its full stop. */
      reason,
      /** Null: there was no answer. */
      status,
      /** At most 4,096 characters of it. */
      body: answered,
      durationMs,
    }
  }
  if (!answer.ok) return refused(answer.reason)
  const { status, isCut } = answer
  const kept = answer.body.slice(0, BODY_KEPT_LENGTH_MAX).toWellFormed()
  if (status !== 200) return refused(`The answer has the status ${status} and not 200`, status, kept)
  if (isCut) return refused('The answer is longer than 64 kB', status, kept)
  // `postBackUrl` is http or https, at most 2,000 characters; null: none, or one that nobody should open.
  return { ok: true as const, status, body: kept, durationMs, postBackUrl: postBackUrlIn(answer.body) }
}

/** What came of a callback. Only the status 200 is a yes (contract §6), and only when the whole answer came in time. */
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

/** What an application's callbacks are signed with, `whsec_` and base64: for its owner, who verifies them with it. */
export function callbackSecret(
  secrets: Pick<Secrets, 'derive'>,
  { publicKey, callbackSecretVersion }: Pick<CallbackReceiver, 'publicKey' | 'callbackSecretVersion'>,
): string {
  return signingSecret(secrets, `callback ${publicKey} ${callbackSecretVersion}`)
}

/** Answers may be empty, plain text or broken JSON (rest-protocol §10): those ask for nothing. */
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

/** Blanks and control characters are refused because browsers pass over them when they read the scheme. */
function isForBrowsers(url: string): boolean {
  return (
    url.length <= POST_BACK_URL_LENGTH_MAX &&
    /^https?:\/\//i.test(url) &&
    !/[\s\p{Cc}]/u.test(url) &&
    url.isWellFormed() &&
    URL.canParse(url)
  )
}
