import * as oauth from 'oauth4webapi'
import { beforeAll, describe, expect, test } from 'vitest'
import { openListeningServer } from '../../../load/browser/browser.ts'
import { testPerson } from '../../../support/person.ts'
import { shared } from '../../../support/shared.ts'
import { merchantAccount } from '../../../support/signed-in.ts'
import { callStatus, openClient, page, redirectUri } from './fixture.ts'

const insecure = { [oauth.allowInsecureRequests]: true }

let as: oauth.AuthorizationServer
const server = await shared(openListeningServer())
const application = await openClient(server)
const shop = await server.openStore()

beforeAll(async () => {
  const issuer = new URL(server.origin)
  const discovery = await oauth.discoveryRequest(issuer, { algorithm: 'oauth2', ...insecure })
  as = await oauth.processDiscoveryResponse(issuer, discovery)
})

interface Dance {
  readonly storeUrl: string | null
  readonly verifier: string | typeof oauth.nopkce
  readonly authentication: oauth.ClientAuth
}

/** Every step of oauth4webapi, with all that it checks. The merchant signs in on the way. */
async function dance({ storeUrl, verifier, authentication }: Dance): Promise<oauth.TokenEndpointResponse> {
  const client = { client_id: application.PublicKey }
  const state = `https://app.example/?next=${oauth.generateRandomState()}&x='"+`
  const address = new URL(as.authorization_endpoint ?? '')
  address.searchParams.set('client_id', client.client_id)
  address.searchParams.set('redirect_uri', redirectUri)
  address.searchParams.set('response_type', 'code')
  address.searchParams.set('state', state)
  if (storeUrl !== null) address.searchParams.set('store_url', storeUrl)
  if (typeof verifier === 'string') {
    address.searchParams.set('code_challenge', await oauth.calculatePKCECodeChallenge(verifier))
    address.searchParams.set('code_challenge_method', 'S256')
  }
  const callback = await agree(address)
  const parameters = oauth.validateAuthResponse(as, client, callback, state)
  const answer = await oauth.authorizationCodeGrantRequest(
    as,
    client,
    authentication,
    parameters,
    redirectUri,
    verifier,
    insecure,
  )
  return oauth.processAuthorizationCodeResponse(as, client, answer)
}

/** A merchant with a browser: says which store where that is asked, signs in, allows. Where the browser is sent then. */
async function agree(address: URL): Promise<URL> {
  const merchant = testPerson(server.app)
  let answer = await merchant.open(address.pathname + address.search)
  if (answer.statusCode === 200) {
    const carried =
      /name="authorization_request" value="([^"]*)"/.exec(answer.body)?.[1]?.replaceAll('&amp;', '&') ?? ''
    const fields = new URLSearchParams({ authorization_request: carried, store_url: shop.store.secureUrl })
    answer = await merchant.open(`${page}?${fields}`)
  }
  const signIn = String(answer.headers.location)
  const next = String((await merchant.submit(signIn, merchantAccount, { action: '/admin/sign-in' })).headers.location)
  return new URL(String((await merchant.submit(next, { decision: 'allow' })).headers.location))
}

describe('oauth4webapi completes the dance', () => {
  const pkce = { 'with PKCE': true, 'without PKCE': false }
  const authentications = { 'by Basic': oauth.ClientSecretBasic, 'in the form': oauth.ClientSecretPost }
  const stores = { 'with store_url': true, 'without store_url': false }
  const all = Object.keys(pkce).flatMap((proof) =>
    Object.keys(authentications).flatMap((keys) => Object.keys(stores).map((store) => ({ proof, keys, store }))),
  ) as { proof: keyof typeof pkce; keys: keyof typeof authentications; store: keyof typeof stores }[]

  test.each(all)('$proof, keys $keys, $store', async ({ proof, keys, store }) => {
    const answer = await dance({
      storeUrl: stores[store] ? shop.store.secureUrl : null,
      verifier: pkce[proof] ? oauth.generateRandomCodeVerifier() : oauth.nopkce,
      authentication: authentications[keys](application.PrivateKey),
    })
    expect(answer).toEqual({ access_token: expect.any(String), token_type: 'bearer', user_id: expect.any(Number) })
    const bearer = { authorization: `Bearer ${answer.access_token}` }
    expect(await callStatus(server, bearer)).toBe(200)
    const revocation = await oauth.revocationRequest(
      as,
      { client_id: application.PublicKey },
      authentications[keys](application.PrivateKey),
      answer.access_token,
      insecure,
    )
    await oauth.processRevocationResponse(revocation)
    expect(await callStatus(server, bearer)).toBe(401)
  })
})

test('over the network, a state with a quote comes back byte for byte too', async () => {
  const query = `client_id=${application.PublicKey}&redirect_uri=${encodeURIComponent(redirectUri)}&response_type=id`
  const { request } = await import('node:http')
  const location = await new Promise<string | undefined>((resolve, reject) => {
    const sent = request(`${server.origin}/`, { path: `${page}?${query}&state=it's"<%FF>\\^{}|` }, (answer) => {
      answer.resume()
      resolve(answer.headers.location)
    })
    sent.once('error', reject).end()
  })
  expect(location).toContain(`&state=it's"<%FF>\\^{}|&iss=`)
})
