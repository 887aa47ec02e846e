import { Webhook } from 'standardwebhooks'

/** How long the former secret signs too after a rotation, so that a receiver can change it without losing a message. */
export const FORMER_SECRET_MS = 24 * 60 * 60 * 1_000

/** The secret for one purpose, `whsec_` and base64, as the libraries of the scheme take it. */
export function signingSecret(secrets: { derive(purpose: string): Buffer }, purpose: string): string {
  return `whsec_${secrets.derive(purpose).toString('base64')}`
}

/** The headers by which a receiver knows a message and who sent it, signed with each of the secrets (https://www.standardwebhooks.com). */
export function signedHeaders(secrets: readonly string[], messageId: string, at: Date, body: string) {
  return {
    'webhook-id': messageId,
    'webhook-timestamp': String(Math.floor(at.getTime() / 1_000)),
    'webhook-signature': secrets.map((secret) => new Webhook(secret).sign(messageId, at, body)).join(' '),
  }
}

/** The header webhook-id of an event, out of its UUID: `evt_` and 32 hexadecimal characters. */
export function messageIdOf(uuid: string): string {
  return `evt_${uuid.replaceAll('-', '')}`
}
