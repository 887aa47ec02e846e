import { findOAuthClient, type OAuthClient } from '../applications/oauth-clients.ts'
import type { Db } from '../database/client.ts'
import type { CodeChallenge } from '../subscriptions/access-tokens.ts'
import type { Parameters } from './parameters.ts'
import { OAuthRefusal } from './refusal.ts'

/** Where the answer goes: a registered application, and an address that it registered. */
export interface Target {
  readonly client: OAuthClient
  readonly redirectUri: string
  /** As it stood in the request, percent-encoded or not; null: absent. */
  readonly state: string | null
}

/**
 * Finds the target of an authorization request. Refuses an unknown client_id, and a redirect_uri that is absent or not exactly
 * one of the client's; nobody may be redirected then (RFC 6749 §4.1.2.1).
 */
export async function findTarget(db: Db, parameters: Parameters): Promise<Target> {
  const client = await findOAuthClient(db, parameters.value('client_id') ?? '')
  if (!client) throw invalid('its client_id is not the public key of an application that is registered here')
  const redirectUri = parameters.value('redirect_uri')
  if (redirectUri === null) throw invalid('the redirect_uri that it wants you to be sent to is missing')
  if (!client.redirectUris.includes(redirectUri)) {
    throw invalid('its redirect_uri is not exactly one of those that it registered')
  }
  return { client, redirectUri, state: stateOf(parameters) }
}

/** A repeated state is none; readWish refuses it. */
function stateOf(parameters: Parameters): string | null {
  try {
    return parameters.raw('state')
  } catch {
    return null
  }
}

/** What an application asks for, beside its target. */
export interface Wish {
  readonly challenge: CodeChallenge | null
  /** The address of a store, however it is written; null: the merchant is to say which. */
  readonly storeUrl: string | null
}

/** Throws an OAuthRefusal for the application. */
export function readWish(parameters: Parameters): Wish {
  parameters.raw('state')
  const responseType = parameters.value('response_type')
  if (responseType === null) throw invalid('response_type is missing; allowed is code')
  if (responseType !== 'code') throw new OAuthRefusal('unsupported_response_type', 'response_type may only be code')
  return { challenge: readChallenge(parameters), storeUrl: parameters.value('store_url') }
}

/** RFC 7636 §4.3 */
function readChallenge(parameters: Parameters): CodeChallenge | null {
  const text = parameters.value('code_challenge')
  const method = parameters.value('code_challenge_method')
  if (text === null) {
    if (method !== null) throw invalid('code_challenge is missing, though code_challenge_method is sent')
    return null
  }
  if (method !== null && method !== 'S256' && method !== 'plain') {
    throw invalid('code_challenge_method may be S256 or plain')
  }
  if (!/^[A-Za-z0-9._~-]{43,128}$/.test(text)) {
    throw invalid('code_challenge must have 43 to 128 letters, digits or any of - . _ ~')
  }
  return { text, method: method ?? 'plain' }
}

function invalid(description: string): OAuthRefusal {
  return new OAuthRefusal('invalid_request', description)
}

/**
 * The address to redirect the browser to: the redirect address with its own query, then `answer`, the state as it came,
 * and `iss` (RFC 9207).
 */
export function answerAddress(
  { redirectUri, state }: Target,
  issuer: string,
  answer: Readonly<Record<string, string>>,
): string {
  const parts = Object.entries(answer).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
  if (state !== null) parts.push(`state=${state}`)
  parts.push(`iss=${encodeURIComponent(issuer)}`)
  const joint = redirectUri.includes('?') ? (/[?&]$/.test(redirectUri) ? '' : '&') : '?'
  return redirectUri + joint + parts.join('&')
}
