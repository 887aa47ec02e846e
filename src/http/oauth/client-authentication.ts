import type { FastifyRequest } from 'fastify'
import type { Throttle } from '../../access/applications/limits/throttle.ts'
import { authenticateOAuthClient } from '../../access/applications/tokens/oauth-clients.ts'
import type { DataServices } from '../../foundation/database/client.ts'
import { decode, type Parameters } from './parameters.ts'
import { OAuthRefusal } from './refusal.ts'

export type ClientServices = DataServices & { readonly throttle: Throttle }

/**
 * The application that calls, by its keys: client_id is the public key, client_secret the private key. They come by Basic
 * (RFC 6749 §2.3.1) or among the parameters; a client sends them both ways (rest-protocol §9.2), which is allowed where both
 * are the same. Refuses missing or wrong ones (401), and too many of those from one address (429).
 */
export async function authenticateClient(services: ClientServices, request: FastifyRequest, parameters: Parameters) {
  const sent = { publicKey: parameters.value('client_id'), privateKey: parameters.value('client_secret') }
  const basic = basicIn(request)
  if (basic && !(['publicKey', 'privateKey'] as const).every((key) => [null, basic[key]].includes(sent[key]))) {
    const description = 'The credentials in Authorization are others than client_id and client_secret'
    throw new OAuthRefusal('invalid_request', description)
  }
  const { publicKey, privateKey } = basic ?? sent
  const areWhole = publicKey !== null && privateKey !== null
  const client = areWhole ? await authenticateOAuthClient(services, { publicKey, privateKey }) : null
  if (client) return client
  const { accepted, retryAfterSeconds } = await services.throttle.takeRefused(request.ip)
  if (!accepted) {
    const description = `Too many requests with wrong credentials; come back in ${retryAfterSeconds} s`
    throw new OAuthRefusal('temporarily_unavailable', description, { status: 429, retryAfterSeconds })
  }
  const missing = [
    publicKey === null ? 'client_id (the public key)' : '',
    privateKey === null ? 'client_secret (the private key)' : '',
  ].filter((name) => name !== '')
  const description = areWhole
    ? 'client_id and client_secret must be the public and the private key of one application'
    : `Send ${missing.join(' and ')}`
  throw new OAuthRefusal('invalid_client', description, { status: 401 })
}

/** Null: the request has no such header. A malformed one has keys that no application has. */
function basicIn({ headers }: FastifyRequest): { publicKey: string; privateKey: string } | null {
  const encoded = /^Basic +(\S*)$/i.exec(headers.authorization?.trim() ?? '')?.[1]
  if (encoded === undefined) return null
  const [, id, secret] = /^([^:]*):(.*)$/s.exec(Buffer.from(encoded, 'base64').toString('utf8')) ?? []
  return { publicKey: decode(id ?? '') ?? '', privateKey: decode(secret ?? '') ?? '' }
}
