// node test-in-ci.ts
// SERVER: the address of the server. DEVELOPER_TOKEN: a token of your account there, which begins with spt_.
import { setTimeout } from 'node:timers/promises'

const { SERVER = '', DEVELOPER_TOKEN = '', RUN = 'by hand' } = process.env
const NAME = `Tests (${RUN})`

interface Store {
  readonly Id: number
  readonly Name: string
  readonly SecureURL: string
  readonly State: string
  readonly Problem: string
}

interface Application {
  readonly Id: number
  readonly Name: string
  readonly PrivateKey: string
}

type Headers = Readonly<Record<string, string>>

/** Sends a request as a program, and repeats what the server asks to be repeated. */
async function send<T>(headers: Headers, method: string, path: string, body?: object): Promise<T> {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(SERVER + path, {
      method,
      headers: { ...headers, ...(body && { 'Content-Type': 'application/json' }) },
      ...(body && { body: JSON.stringify(body) }),
    })
    const text = await answer.text()
    if (answer.ok) return JSON.parse(text) as T
    // Only an empty 404 is an empty list.
    if (method === 'GET' && answer.status === 404 && text === '') return [] as T
    const wait = Number(answer.headers.get('retry-after'))
    if (wait === 0 || wait > 60 || tries === 8) throw new Error(`${method} ${path}: ${answer.status} ${text}`)
    await setTimeout(1_000 * wait)
  }
}

const developer = <T>(method: string, path: string, body?: object) =>
  send<T>({ Authorization: `Bearer ${DEVELOPER_TOKEN}` }, method, `/developers${path}`, body)

/** Waits until the records of a test store are made. */
async function ready({ Id }: Store): Promise<Store> {
  for (let seconds = 0; seconds < 120; seconds++) {
    const store = await developer<Store>('GET', `/test-stores/${Id}`)
    if (store.Problem !== '') throw new Error(store.Problem)
    if (store.State === 'ready') return store
    await setTimeout(1_000)
  }
  throw new Error('The test store was not ready after two minutes')
}

function expect(isAsExpected: boolean, what: string): void {
  if (!isAsExpected) throw new Error(`Not as expected: ${what}`)
  console.log(`ok ${what}`)
}

/** Throws away what a run of this name has made, also one that was killed. */
async function clear(): Promise<void> {
  for (const { Id, Name } of await developer<Application[]>('GET', '/applications')) {
    if (Name === NAME) await developer('DELETE', `/applications/${Id}`)
  }
  for (const store of await developer<Store[]>('GET', '/test-stores')) {
    if (store.Name !== NAME) continue
    await ready(store).catch(() => undefined)
    await developer('DELETE', `/test-stores/${store.Id}`)
  }
}

interface Product {
  readonly SKUInfo: { readonly CatalogID: number; readonly Stock: number }
}

/** Put your own tests here. `shop` sends what your program sends to a store. */
async function test(store: Store, shop: <T>(method: string, path: string, body?: object) => Promise<T>): Promise<void> {
  const orders = () => shop<{ TotalCount: number }>('GET', '/Orders?countonly=1')
  const { TotalCount } = await orders()
  const { Message } = await developer<{ Message: string }>('POST', `/test-stores/${store.Id}/changes`, {
    Kind: 'order',
  })
  expect((await orders()).TotalCount === TotalCount + 1, `the store sells: ${Message}`)

  const [{ SKUInfo: info }] = await shop<[Product]>('GET', '/Products?limit=1')
  await shop('PUT', `/Products/${info.CatalogID}`, { SKUInfo: { Stock: info.Stock + 3 } })
  const [changed] = await shop<[Product]>('GET', `/Products/${info.CatalogID}`)
  expect(changed.SKUInfo.Stock === info.Stock + 3, 'a stock is changed')
}

await clear()
try {
  const store = await ready(await developer<Store>('POST', '/test-stores', { Name: NAME, Currency: 'EUR' }))
  const settings = { Name: NAME, Kind: 'new', Privileges: { Orders: ['read'], Products: ['read', 'write'] } }
  const { Id: ApplicationId, PrivateKey } = await developer<Application>('POST', '/applications', settings)
  const { Token } = await developer<{ Token: string }>('POST', `/test-stores/${store.Id}/subscriptions`, {
    ApplicationId,
  })
  const keys = { SecureURL: store.SecureURL, PrivateKey, Token }
  const shop = <T>(method: string, path: string, body?: object) => send<T>(keys, method, `/StoreWebAPI/v1${path}`, body)
  await test(store, shop)
  // The same address, keys and application, with all records anew.
  const anew = await ready(await developer<Store>('POST', `/test-stores/${store.Id}/reset`))
  await test(anew, shop)
} finally {
  await clear()
}
