import { request } from 'undici'
import type { Server } from '../../src/cli/server.ts'
import { cloneDatabase } from '../../test/support/database.ts'
import { freePort, runServer } from '../../test/support/run-server.ts'

export interface ServerStore extends Server {
  /** A REST answer's status and JSON body (undefined: empty), as the store's application gets it. */
  get(path: string): Promise<{ status: number; body: unknown }>
  close(): Promise<void>
}

/** An empty store of a server process of its own, made by the operator's routes alone. */
export async function openServerStore(): Promise<ServerStore> {
  const database = await cloneDatabase()
  const port = await freePort()
  const baseUrl = `http://localhost:${port}`
  const operatorKey = 'operator-key-for-tests'
  const settings = { PORT: String(port), DATABASE_URL: database.url, OPERATOR_KEY: operatorKey }
  const run = runServer({ ...settings, SECRET_KEY: 'a secret key for tests alone, 32+', LOG_LEVEL: 'error' })
  await run.shows(baseUrl)

  const post = async (path: string, body: object) => {
    const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
    const answer = await request(`${baseUrl}${path}`, { method: 'POST', headers, body: JSON.stringify(body) })
    if (answer.statusCode >= 300) throw new Error(`${path} answered ${answer.statusCode}: ${await answer.body.text()}`)
    return (await answer.body.json()) as Record<string, string | number>
  }
  const secureUrl = 'https://retail.example'
  const store = await post('/admin/stores', {
    Name: 'Online Retail',
    SecureURL: secureUrl,
    Email: 'merchant@retail.example',
    Password: 'correct horse battery',
    Currency: 'GBP',
    TimeZone: 'Europe/London',
  })
  const storeId = Number(store.Id)
  const { PublicKey, PrivateKey } = await post('/admin/applications', {
    Name: 'Figures',
    // Reading everything is more than the contract's figures let through.
    Throttle: { Capacity: 1000, LeakPerSecond: 1000 },
  })
  const { Token } = await post(`/admin/stores/${storeId}/subscriptions`, { PublicKey })
  const headers = { SecureURL: secureUrl, PrivateKey: String(PrivateKey), Token: String(Token) }

  return {
    baseUrl,
    operatorKey,
    storeId,
    get: async (path) => {
      const answer = await request(`${baseUrl}/StoreWebAPI/v1/${path}`, { headers })
      const text = await answer.body.text()
      return { status: answer.statusCode, body: text === '' ? undefined : JSON.parse(text) }
    },
    close: async () => {
      run.process.kill('SIGTERM')
      await run.exited
      await database.drop()
    },
  }
}
