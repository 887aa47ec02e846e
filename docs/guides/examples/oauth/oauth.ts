// node oauth.ts: opens nothing by itself; open the address that it prints
import { createHash, randomBytes } from 'node:crypto'
import { createServer } from 'node:http'

const { SERVER = '', API = '', PUBLIC_KEY = '', PRIVATE_KEY = '', REDIRECT_URI = '' } = process.env
const verifier = randomBytes(32).toString('base64url')
const state = randomBytes(16).toString('base64url')

const query = new URLSearchParams({
  response_type: 'code',
  client_id: PUBLIC_KEY,
  redirect_uri: REDIRECT_URI,
  state,
  code_challenge: createHash('sha256').update(verifier).digest('base64url'),
  code_challenge_method: 'S256',
})

/** Exchanges the code for a token and makes a call with it. */
async function connect(code: string): Promise<void> {
  const answer = await fetch(`${SERVER}/oauth/token`, {
    method: 'POST',
    body: new URLSearchParams({
      grant_type: 'authorization_code',
      code,
      code_verifier: verifier,
      redirect_uri: REDIRECT_URI,
      client_id: PUBLIC_KEY,
      client_secret: PRIVATE_KEY,
    }),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  const { access_token } = (await answer.json()) as { access_token: string } // a secret: keep it, and refresh_token
  const products = await fetch(`${API}/Products?limit=3`, { headers: { Authorization: `Bearer ${access_token}` } })
  for (const { SKUInfo } of (await products.json()) as { SKUInfo: { SKU: string } }[]) console.log(SKUInfo.SKU)
}

const server = createServer(async (request, response) => {
  const { searchParams } = new URL(request.url ?? '/', REDIRECT_URI)
  // Somebody else's code must not be taken for this merchant's.
  if (searchParams.get('state') !== state) {
    response.writeHead(400).end('This is not the answer to what was asked.')
    return
  }
  response.end(
    searchParams.has('code') ? 'Connected. Close this window.' : `Not connected: ${searchParams.get('error')}`,
  )
  server.close()
  const code = searchParams.get('code')
  if (code) await connect(code)
})
server.listen(Number(new URL(REDIRECT_URI).port), '127.0.0.1', () => console.log(`${SERVER}/oauth/authorize?${query}`))
