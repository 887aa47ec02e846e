import { afterAll, expect, test } from 'vitest'
import { openServer, type TestServer } from '../../../support/store.ts'

const servers: TestServer[] = []
afterAll(() => Promise.all(servers.map((server) => server.close())))

async function open(settings: Record<string, string>) {
  const server = await openServer({ TRUST_PROXY: '127.0.0.1', ...settings })
  servers.push(server)
  const proxied = { 'x-forwarded-proto': 'https' }
  return { get: (url: string, headers: Record<string, string> = proxied) => server.app.inject({ url, headers }) }
}

test('the metadata of RFC 8414 name every address under PUBLIC_URL, and only clients that have a secret', async () => {
  const { get } = await open({ PUBLIC_URL: 'https://api.shop.example/' })
  const answer = await get('/.well-known/oauth-authorization-server')
  expect(answer.json()).toEqual({
    issuer: 'https://api.shop.example',
    authorization_endpoint: 'https://api.shop.example/oauth/authorize',
    token_endpoint: 'https://api.shop.example/oauth/token',
    revocation_endpoint: 'https://api.shop.example/oauth/revoke',
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code', 'refresh_token'],
    code_challenge_methods_supported: ['S256', 'plain'],
    token_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    revocation_endpoint_auth_methods_supported: ['client_secret_basic', 'client_secret_post'],
    authorization_response_iss_parameter_supported: true,
    service_documentation: 'https://api.shop.example/docs',
  })
  expect((await get('/.well-known/oauth-authorization-server', {})).statusCode).toBe(403)
})

test('an issuer with a path has them behind the path of the document too', async () => {
  const { get } = await open({ PUBLIC_URL: 'https://shop.example/api/v:1' })
  for (const url of ['/.well-known/oauth-authorization-server/api/v:1', '/.well-known/oauth-authorization-server']) {
    const answer = await get(url)
    expect(answer.json()).toMatchObject({
      issuer: 'https://shop.example/api/v:1',
      token_endpoint: 'https://shop.example/api/v:1/oauth/token',
    })
  }
  expect((await get('/.well-known/oauth-authorization-server/api/v2')).statusCode).toBe(404)
})
