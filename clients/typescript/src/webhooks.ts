import type { components, webhooks } from '../lib/schema.d.ts'

type EventName = Exclude<keyof webhooks, 'AUTHORIZE' | 'REMOVE' | 'REDACT'>

type RecordsOf<Name extends EventName> = webhooks[Name]['post']['requestBody']['content']['application/json']

/** What a webhook is notified of. `event` says of what kind the record is. */
export type Notification = {
  [Name in EventName]: {
    readonly event: Name
    /** The same in every try: remember it, because a notification may come twice. */
    readonly id: string
    readonly timestamp: Date
    /** The place of the event in the feed; 0 for a test. */
    readonly sequence: number
    /** The members that took other values, where the kind of event says so. */
    readonly changed: readonly string[]
    /** As it was right after the change; of Customer Erased the number alone. */
    readonly record: RecordsOf<Name>[number]
  }
}[EventName]

/** A store is about to use the application, or to end that; with the Action REDACT, a person was erased in it. */
export type Callback = components['schemas']['Callback'] | components['schemas']['Redaction']

export interface ReceivedRequest {
  readonly headers: Headers | Readonly<Record<string, string | readonly string[] | undefined>>
  /** As it came, before anything parsed it. */
  readonly body: string | Uint8Array
}

export interface VerifyOptions {
  /** The age of a message, back or ahead, from which on it is refused. 5 minutes if omitted. */
  readonly toleranceMs?: number
  readonly now?: Date
}

/** The message was not signed with the secret, or too long ago. Answer 400, and use nothing of it. */
export class VerificationError extends Error {
  override readonly name = 'VerificationError'
}

const TOLERANCE_MS = 5 * 60_000

/**
 * Verifies a notification of a webhook whose format is JSON, and reads it. `secret` is that of `/Webhooks/{id}/Secret`, or several
 * while one replaces another. Throws `VerificationError`.
 */
export async function verifyNotification(
  request: ReceivedRequest,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Notification> {
  const { id, timestamp, text } = await verified(request, secret, options)
  const header = (name: string) => headerOf(request, name) ?? ''
  const [record] = JSON.parse(text) as readonly unknown[]
  const event = header('webhook-event')
  const changed = header('webhook-changed')
    .split(',')
    .filter((name) => name !== '')
  return { id, timestamp, event, sequence: Number(header('webhook-sequence')), changed, record } as Notification
}

/** Verifies a callback to an application's CallBackURL by its callback secret, and reads it. Throws `VerificationError`. */
export async function verifyCallback(
  request: ReceivedRequest,
  secret: string | readonly string[],
  options: VerifyOptions = {},
): Promise<Callback> {
  return JSON.parse((await verified(request, secret, options)).text) as Callback
}

async function verified(request: ReceivedRequest, secret: string | readonly string[], options: VerifyOptions) {
  const { toleranceMs = TOLERANCE_MS, now = new Date() } = options
  const [id, seconds, signatures] = ['webhook-id', 'webhook-timestamp', 'webhook-signature'].map((name) => {
    const value = headerOf(request, name)
    if (value === undefined || value === '') throw new VerificationError(`The header ${name} is missing`)
    return value
  }) as [string, string, string]
  const timestamp = new Date(Number(seconds) * 1_000)
  // Also refuses what is no number.
  if (!(Math.abs(now.getTime() - timestamp.getTime()) <= toleranceMs)) {
    throw new VerificationError('The message is too old, or from the future')
  }
  const body = typeof request.body === 'string' ? new TextEncoder().encode(request.body) : request.body
  const signed = joined(new TextEncoder().encode(`${id}.${seconds}.`), body)
  for (const one of [secret].flat()) {
    const key = await keyOf(one)
    for (const signature of signatures.split(' ').slice(0, SIGNATURES_MAX)) {
      const bytes = signature.startsWith('v1,') ? bytesOf(signature.slice('v1,'.length)) : null
      // WebCrypto compares in constant time.
      if (bytes !== null && (await crypto.subtle.verify('HMAC', key, bytes, signed))) {
        return { id, timestamp, text: new TextDecoder().decode(body) }
      }
    }
  }
  throw new VerificationError('No signature is of the secret')
}

/** The server sends two at most. */
const SIGNATURES_MAX = 10

function keyOf(secret: string) {
  const bytes = bytesOf(secret.replace(/^whsec_/, ''))
  if (bytes === null) throw new TypeError('The secret is not whsec_ and base64')
  return crypto.subtle.importKey('raw', bytes, { name: 'HMAC', hash: 'SHA-256' }, false, ['verify'])
}

function bytesOf(base64: string): Uint8Array<ArrayBuffer> | null {
  try {
    return Uint8Array.from(atob(base64), (character) => character.charCodeAt(0))
  } catch {
    return null
  }
}

function joined(first: Uint8Array, second: Uint8Array): Uint8Array<ArrayBuffer> {
  const both = new Uint8Array(first.length + second.length)
  both.set(first)
  both.set(second, first.length)
  return both
}

function headerOf({ headers }: ReceivedRequest, name: string): string | undefined {
  if (headers instanceof Headers) return headers.get(name) ?? undefined
  const [, value] = Object.entries(headers).find(([given]) => given.toLowerCase() === name) ?? []
  return typeof value === 'object' ? value[0] : value
}
