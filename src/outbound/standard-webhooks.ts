import { Webhook } from 'standardwebhooks'

/** How long the former secret also signs after a rotation, so that a receiver can switch without losing a message. */
export const FORMER_SECRET_MS = 24 * 60 * 60 * 1_000

/** Returns the secret for a purpose, as `whsec_` and base64, the form that the scheme's libraries take. */
export function signingSecret(secrets: { derive(purpose: string): Buffer }, purpose: string): string {
  return `whsec_${secrets.derive(purpose).toString('base64')}`
}

/** Returns the headers that identify a message and sign it with each secret (https://www.standardwebhooks.com). */
export function signedHeaders(secrets: readonly string[], messageId: string, at: Date, body: string) {
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(messageId, at, body)).join(' '),
  }
}

/** Returns the header webhook-id of an event, from its UUID: `evt_` and 32 hexadecimal characters. */
export function messageIdOf(uuid: string): string {
  return `evt_${uuid.replaceAll('-', '')}`
}
