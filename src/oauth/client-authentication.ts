import type { FastifyRequest } from 'fastify'
import { authenticateOAuthClient, type OAuthClient } from '../applications/oauth-clients.ts'
import type { Throttle } from '../applications/throttle.ts'
import type { Db } from '../database/client.ts'
import type { Secrets } from '../values/secrets.ts'
import { decode, type Parameters } from './parameters.ts'
import { OAuthRefusal } from './refusal.ts'

export interface ClientServices {
  db: Db
  secrets: Secrets
  now: () => Date
  throttle: Throttle
}

/**
 * The application that calls, by its keys: client_id is the public key, client_secret the private key. They come by Basic
 * (RFC 6749 2.3.1) or among the parameters; a client sends them both ways (rest-protocol 9.2), which is taken where both
 * are the same. Refuses missing or wrong ones (401), and too many of those from one address (429).
 */
export async function authenticateClient(
  services: ClientServices,
  request: FastifyRequest,
  parameters: Parameters,
): Promise<OAuthClient> {
  const sent = sentIn(parameters)
  const keys = oneOf(basicIn(request), sent)
  const client = keys && (await authenticateOAuthClient(services, keys))
  if (client) return client
  const { accepted, retryAfterSeconds } = services.throttle.takeRefused(request.ip)
  if (!accepted) {
    const description = `Too many requests with wrong credentials; come back in ${retryAfterSeconds} s`
    throw new OAuthRefusal('temporarily_unavailable', description, { status: 429, retryAfterSeconds })
  }
  const description = keys
    ? 'client_id and client_secret must be the public and the private key of one application'
    : `Send ${missingIn(sent).join(' and ')}`
  throw new OAuthRefusal('invalid_client', description, { status: 401 })
}

interface Keys {
  readonly publicKey: string
  readonly privateKey: string
}

/** Null: there are none, or they are not whole. */
function oneOf(basic: Keys | null, sent: Partial<Keys>): Keys | null {
  const publicKey = basic?.publicKey ?? sent.publicKey
  const privateKey = basic?.privateKey ?? sent.privateKey
  const contradicts =
    basic !== null &&
    ((sent.publicKey ?? basic.publicKey) !== basic.publicKey ||
      (sent.privateKey ?? basic.privateKey) !== basic.privateKey)
  if (contradicts) {
    throw new OAuthRefusal(
      'invalid_request',
      'The credentials in Authorization are others than client_id and client_secret',
    )
  }
  return publicKey === undefined || privateKey === undefined ? null : { publicKey, privateKey }
}

function missingIn({ publicKey, privateKey }: Partial<Keys>): string[] {
  return [
    ...(publicKey === undefined ? ['client_id (the public key)'] : []),
    ...(privateKey === undefined ? ['client_secret (the private key)'] : []),
  ]
}

function sentIn(parameters: Parameters): Partial<Keys> {
  const publicKey = parameters.value('client_id')
  const privateKey = parameters.value('client_secret')
  return { ...(publicKey !== null && { publicKey }), ...(privateKey !== null && { privateKey }) }
}

/** Null: the request has no such header. One that cannot be read names nobody. */
function basicIn({ headers }: FastifyRequest): Keys | null {
  const encoded = /^Basic +(\S*)$/i.exec(headers.authorization?.trim() ?? '')?.[1]
  if (encoded === undefined) return null
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  return { publicKey: decode(id ?? '') ?? '', privateKey: decode(secret ?? '') ?? '' }
}
