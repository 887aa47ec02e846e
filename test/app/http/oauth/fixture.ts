import type { LightMyRequestResponse } from 'fastify'
import type { Store } from '../../../../src/access/stores/stores.ts'
import type { TestPerson } from '../../../support/person.ts'
import { developerIn, merchantIn } from '../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../support/store.ts'
import { type ApplicationRecord, registered } from '../pages/developers/fixture.ts'

export const page = '/oauth/authorize'
export const redirectUri = 'https://app.example/oauth/callback?from=shop&x=a%2Bb'

/** An application with a redirect address, of a developer who is signed in. */
export interface TestClient extends ApplicationRecord {
  readonly developer: TestPerson
}

export async function openClient(server: TestServer, body: object = {}): Promise<TestClient> {
  const developer = await developerIn(server)
  return { ...(await registered(developer, { Name: 'Order sync', RedirectURIs: [redirectUri], ...body })), developer }
}

/** A store that uses none of the test's clients yet, and its merchant, who is signed in. */
export async function openShop(server: TestServer): Promise<TestStore & { readonly merchant: TestPerson }> {
  const shop = await server.openStore()
  return { ...shop, merchant: await merchantIn(server, shop.store) }
}

export type Query = Readonly<Record<string, string | undefined>>

/** The query of an authorization request; values are encoded, undefined leaves a parameter out. */
export function queryOf(client: ApplicationRecord, store: Store | null, changes: Query = {}): string {
  const all = {
    client_id: client.PublicKey,
    redirect_uri: client.RedirectURIs[0],
    response_type: 'code',
    state: 'xyz',
    ...(store && { store_url: store.secureUrl }),
    ...changes,
  }
  return Object.entries(all)
    .filter((entry): entry is [string, string] => entry[1] !== undefined)
    .map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join('&')
}

/** Presses a button of the consent page at this query. */
export function decide(merchant: TestPerson, query: string, decision = 'allow', headers: Record<string, string> = {}) {
  return merchant.submit(`${page}?${query}`, { decision }, { headers })
}

/** The parameters that the browser is sent back with; throws when it is not sent to the redirect address. */
export function sentBack(answer: LightMyRequestResponse, to = redirectUri): URLSearchParams {
  const location = String(answer.headers.location)
  if (answer.statusCode !== 302 || !location.startsWith(to))
    throw new Error(`${answer.statusCode} ${location} ${answer.body}`)
  return new URL(location).searchParams
}

/** A code that the merchant of the shop agreed to. */
export async function codeOf(
  shop: { readonly store: Store; readonly merchant: TestPerson },
  client: ApplicationRecord,
  changes: Query = {},
): Promise<string> {
  return sentBack(await decide(shop.merchant, queryOf(client, shop.store, changes))).get('code') ?? ''
}

/** A request of a program, with a form of these fields and perhaps other headers. */
export function post(
  { app }: TestServer,
  url: string,
  form: Query,
  headers: Record<string, string> = {},
): Promise<LightMyRequestResponse> {
  const fields = Object.entries(form).filter((field): field is [string, string] => field[1] !== undefined)
  return app.inject({
    method: 'POST',
    url,
    headers: { 'content-type': 'application/x-www-form-urlencoded', ...headers },
    payload: new URLSearchParams(fields).toString(),
  })
}

/** The form that exchanges a code. */
export function exchangeOf(client: ApplicationRecord, code: string, changes: Query = {}): Query {
  return {
    grant_type: 'authorization_code',
    code,
    client_id: client.PublicKey,
    client_secret: client.PrivateKey,
    ...changes,
  }
}

export async function tokenOf(
  server: TestServer,
  shop: { readonly store: Store; readonly merchant: TestPerson },
  client: ApplicationRecord,
): Promise<string> {
  const answer = await post(server, '/oauth/token', exchangeOf(client, await codeOf(shop, client)))
  if (answer.statusCode !== 200) throw new Error(answer.body)
  return answer.json().access_token
}

/** The status of a REST call with these headers alone. */
export async function callStatus({ app }: TestServer, headers: Record<string, string>): Promise<number> {
  return (await app.inject({ url: '/StoreWebAPI/v1/OrderStatus', headers })).statusCode
}

/** Every way of rest-protocol §9.3. */
export function waysOf(
  token: string,
  client: ApplicationRecord,
  { secureUrl }: Store,
): Record<string, Record<string, string>> {
  const keys = { secureurl: secureUrl, privatekey: client.PrivateKey }
  const bearer = { authorization: `Bearer ${token}` }
  return {
    'Bearer alone': bearer,
    'Token alone': { token },
    'Bearer, SecureURL and PrivateKey': { ...bearer, ...keys },
    'Token, SecureURL and PrivateKey': { token, ...keys },
    'Bearer and all three headers': { ...bearer, token, ...keys },
  }
}

export async function statusesOf(
  server: TestServer,
  token: string,
  client: ApplicationRecord,
  store: Store,
): Promise<Record<string, number>> {
  const statuses: Record<string, number> = {}
  for (const [way, headers] of Object.entries(waysOf(token, client, store))) {
    statuses[way] = await callStatus(server, headers)
  }
  return statuses
}

export const everyWay = (status: number) => ({
  'Bearer alone': status,
  'Token alone': status,
  'Bearer, SecureURL and PrivateKey': status,
  'Token, SecureURL and PrivateKey': status,
  'Bearer and all three headers': status,
})

export const challenge = 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM'
/** RFC 7636, appendix B. */
export const verifier = 'dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk'
