import { createHmac, createSecretKey, type KeyObject, randomBytes } from 'node:crypto'

/** How long the former secret also signs after a rotation, so that a receiver can switch without losing a message. */
export const FORMER_SECRET_MS = 24 * 60 * 60 * 1_000

const SECRET_PREFIX = 'whsec_'

/** Returns a secret of 32 bytes, by default new ones, as `whsec_` and base64, the form that the scheme's libraries take. */
export function newSigningSecret(bytes: Buffer = randomBytes(32)): string {
  return `${SECRET_PREFIX}${bytes.toString('base64')}`
}

/** Returns the key of a `newSigningSecret`. Worth keeping: creating it takes four times as long as signing with it. */
export function signingKey(secret: string): KeyObject {
  return createSecretKey(Buffer.from(secret.slice(SECRET_PREFIX.length), 'base64'))
}

/**
 * Returns the headers that identify a message and sign it with each key (https://www.standardwebhooks.com). Signs
 * without the library `standardwebhooks`, which hashes in JavaScript and takes ten times as long.
 */
export function signedHeaders(keys: readonly KeyObject[], messageId: string, at: Date, body: string | Buffer) {
  const timestamp = String(Math.floor(at.getTime() / 1_000))
  const signature = (key: KeyObject) =>
    `v1,${createHmac('sha256', key).update(`${messageId}.${timestamp}.`).update(body).digest('base64')}`
  return { 'webhook-id': messageId, 'webhook-timestamp': timestamp, 'webhook-signature': keys.map(signature).join(' ') }
}

/** Returns the header webhook-id of an event, from its UUID: `evt_` and 32 hexadecimal characters. */
export function messageIdOf(uuid: string): string {
  return `evt_${uuid.replaceAll('-', '')}`
}
