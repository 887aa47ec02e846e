// node test-in-ci.ts
// SERVER: the address of the server. DEVELOPER_TOKEN: a token of your account there, which begins with spt_.
import { randomUUID } from 'node:crypto'
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

/** Sends a request as a program, and repeats what the server asks to be repeated. */
async function send<T>(headers: Record<string, string>, method: string, path: string, body?: object): Promise<T> {
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

type Shop = <T>(method: string, path: string, body?: object, headers?: Record<string, string>) => Promise<T>

/** Put your own tests here. `shop` sends what your program sends to a store. */
async function test(store: Store, shop: Shop): Promise<void> {
  const orders = () => shop<{ TotalCount: number }>('GET', '/Orders?countonly=1')
  const { TotalCount } = await orders()
  const { Message } = await developer<{ Message: string }>('POST', `/test-stores/${store.Id}/changes`, {
    Kind: 'order',
  })
  expect((await orders()).TotalCount === TotalCount + 1, `the store sells: ${Message}`)

  const products = await shop<Product[]>('GET', '/Products?limit=50')
  const { CatalogID = 0, Stock = 0 } = products.find(({ SKUInfo }) => SKUInfo.Stock > 0)?.SKUInfo ?? {}
  const order = { BillingEmail: 'somebody@shop.example', OrderItemList: [{ CatalogID, ItemQuantity: 1 }] }
  const key = { 'Idempotency-Key': randomUUID() }
  const place = () => shop<[{ Value: string }]>('POST', '/Checkout', order, key)
  const [[first], [again]] = [await place(), await place()]
  expect(first.Value === again.Value, 'an order that is sent twice is placed once')
  const [sold] = await shop<[Product]>('GET', `/Products/${CatalogID}`)
  expect(sold.SKUInfo.Stock === Stock - 1, 'its goods are taken from stock')
}

await clear()
try {
  const store = await ready(await developer<Store>('POST', '/test-stores', { Name: NAME, Currency: 'EUR' }))
  const settings = {
    Name: NAME,
    Kind: 'new',
    Privileges: { Checkout: ['write'], Orders: ['read'], Products: ['read'] },
  }
  const { Id: ApplicationId, PrivateKey } = await developer<Application>('POST', '/applications', settings)
  const { Token } = await developer<{ Token: string }>('POST', `/test-stores/${store.Id}/subscriptions`, {
    ApplicationId,
  })
  const keys = { SecureURL: store.SecureURL, PrivateKey, Token }
  const shop: Shop = (method, path, body, headers) =>
    send({ ...keys, ...headers }, method, `/StoreWebAPI/v1${path}`, body)
  await test(store, shop)
  // The same address, keys and application, with all records anew.
  const anew = await ready(await developer<Store>('POST', `/test-stores/${store.Id}/reset`))
  await test(anew, shop)
} finally {
  await clear()
}
