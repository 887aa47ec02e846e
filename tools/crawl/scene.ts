import { type Answer, type Client, filledIn, fillIn, openSession, type Session, signIn } from './browser.ts'
import { formsIn } from './html.ts'
import { type Message, OPERATOR_KEY, type Server } from './server.ts'
import { soapCall } from './soap.ts'

export const roles = ['owner', 'manager', 'reader', 'developer', 'operator', 'customer', 'nobody'] as const
export type Role = (typeof roles)[number]

/** Everybody who uses the server, and what programs need to call it. */
export interface Scene {
  readonly server: Server
  readonly client: Client
  readonly sessions: Readonly<Record<Role, Session>>
  /** Addresses from which each role's pages can be reached. */
  readonly starts: Readonly<Record<Role, readonly string[]>>
  readonly keys: Readonly<Record<string, string>>
  readonly callback: { readonly publicKey: string; readonly privateKey: string; readonly redirectUri: string }
  /** A request with the operator's key. */
  readonly operate: (method: string, path: string, body?: unknown) => Promise<Answer>
  /** A request of REST with the store's keys. */
  readonly rest: (method: string, path: string, body?: unknown) => Promise<Answer>
  /** Resolves when background work has done what it was given. */
  readonly settled: () => Promise<void>
}

const BUYER = 'buyer@customers.example'
const PASSWORD = 'correct horse battery'
const roomy = { Capacity: 1_000_000, LeakPerSecond: 10_000 }
export const REST = '/StoreWebAPI/v1'

interface Receiver {
  readonly url: string
  readonly messages: readonly Message[]
}

/** Opens accounts and records by the front door. Throws where something of it is refused. */
export async function setScene(server: Server, client: Client, receiver: Receiver): Promise<Scene> {
  const { store, application, developer } = server.sandbox
  const operate = caller(client, { authorization: `Bearer ${OPERATOR_KEY}` })
  const keys = { SecureURL: store.secureUrl, PrivateKey: application.privateKey, Token: application.token }
  const rest = caller(client, keys)
  await made(operate('PUT', `/admin/stores/${store.id}`, { Throttle: roomy }))
  await made(operate('PUT', '/admin/applications/1', { Throttle: roomy }))
  const sessions = {
    owner: openSession(client),
    manager: await member(client, operate, store.id, 'manager'),
    reader: await member(client, operate, store.id, 'reader'),
    developer: openSession(client),
    operator: await operatorIn(client, operate),
    customer: openSession(client),
    nobody: openSession(client),
  }
  await signIn(sessions.owner, '/admin/sign-in', store.email, store.password)
  await signIn(sessions.developer, '/developers/sign-in', developer.email, developer.password)
  const settled = () => untilQuiet(receiver)
  await records(rest, operate, store.id, receiver.url)
  await customerIn(sessions.customer, client, server)
  await imports(sessions.owner)
  const callback = await developerThings(sessions.developer, client, receiver.url)
  await settled()
  const starts = startsOf(store.secureUrl, callback)
  return { server, client, sessions, starts, keys, callback, operate, rest, settled }
}

function startsOf(secureUrl: string, { publicKey, redirectUri }: Scene['callback']): Scene['starts'] {
  const query = new URLSearchParams({
    client_id: publicKey,
    redirect_uri: redirectUri,
    response_type: 'code',
    state: 'xyz',
    store_url: secureUrl,
  })
  const entrances = ['/admin', '/developers', '/operator'].flatMap((area) => [
    `${area}/sign-in`,
    `${area}/reset`,
    `${area}/reset?token=x`,
  ])
  const others = [
    '/developers/sign-up',
    '/account/sign-in',
    '/account/sign-in?token=x',
    '/admin/invitations?token=x',
    '/nowhere',
  ]
  return {
    owner: ['/admin', `/oauth/authorize?${query}`],
    manager: ['/admin'],
    reader: ['/admin'],
    developer: ['/developers'],
    operator: ['/operator'],
    customer: ['/account'],
    nobody: ['/', '/docs', ...entrances, ...others],
  }
}

function caller(client: Client, given: Readonly<Record<string, string>>): Scene['rest'] {
  return (method, path, body) => {
    const headers = {
      accept: 'application/json',
      ...given,
      ...(body !== undefined && { 'content-type': 'application/json' }),
    }
    return client.send({ method, path, headers, body: body === undefined ? undefined : JSON.stringify(body) })
  }
}

/** The JSON of an answer; throws when it is a refusal. */
async function made<T = Record<string, never>>(answer: Promise<Answer>): Promise<T> {
  const { status, text } = await answer
  if (status >= 400) throw new Error(`The scene could not be set: ${status} ${text.slice(0, 2_000)}`)
  return (text === '' ? null : JSON.parse(text)) as T
}

async function member(client: Client, operate: Scene['operate'], storeId: number, Role: string): Promise<Session> {
  const Email = `${Role}@staff.example`
  await made(operate('POST', `/admin/stores/${storeId}/users`, { Email, Password: PASSWORD, Role }))
  const session = openSession(client)
  await signIn(session, '/admin/sign-in', Email, PASSWORD)
  return session
}

async function operatorIn(client: Client, operate: Scene['operate']): Promise<Session> {
  const Email = 'operator@server.example'
  const { Link } = await made<{ Link: string }>(operate('POST', '/admin/operators', { Email }))
  const session = openSession(client)
  const { pathname, search } = new URL(Link)
  await fillIn(session, pathname + search, { Password: PASSWORD })
  await signIn(session, '/operator/sign-in', Email, PASSWORD)
  return session
}

/** Signs the customer of `records` in by the link that cartAPI gives out. */
async function customerIn(session: Session, client: Client, { sandbox: { store } }: Server): Promise<void> {
  const { secureUrl: storeUrl, userKey } = store
  const parameters = { storeUrl, userKey, customerEmail: BUYER, timeToLive: '60' }
  const { text } = await client.send(soapCall('getCustomerLoginToken', parameters))
  const [, token] = /<Token>([\w-]+)<\/Token>/.exec(text) ?? []
  const { status } = await fillIn(session, `/account/sign-in?token=${token}`, {}, '/account/sign-in')
  if (status !== 303) throw new Error(`The customer could not sign in: ${status} ${text}`)
}

async function records(rest: Scene['rest'], operate: Scene['operate'], storeId: number, url: string): Promise<void> {
  for (const [Name, EventType, Format] of [
    ['Orders', 1, 'json'],
    ['Stock', 3, 'json'],
  ] as const) {
    await made(rest('POST', `${REST}/Webhooks`, { Name, Url: `${url}/${Name}`, EventType, Format, Enabled: true }))
  }
  const [customer] = await made<{ Value: string }[]>(
    rest('POST', `${REST}/Customers`, { Email: BUYER, Password: 'secret', BillingLastName: 'Buyer' }),
  )
  for (const ItemQuantity of [1, 2]) {
    await made(
      operate('POST', `/admin/stores/${storeId}/orders`, {
        CustomerID: Number(customer?.Value),
        BillingEmail: BUYER,
        ShipmentList: [{ ShipmentFirstName: 'Ann', ShipmentMethodName: 'Ground', ShipmentCost: 6.5 }],
        OrderItemList: [{ CatalogID: 1, ItemQuantity }],
      }),
    )
  }
  await made(rest('PUT', `${REST}/Products/1`, { SKUInfo: { Stock: 41 } }))
}

/** A file that was read and not applied. */
async function imports(owner: Session): Promise<void> {
  const page = '/admin/products/csv'
  const [form] = formsIn((await owner.open(page)).text, page).filter((one) => one.isUpload)
  if (form === undefined) throw new Error('No form takes a file')
  const sent = await owner.submit(form, filledIn(form, { file: 'Article,Called\nCSV-1,Lamp\n' }))
  await fillIn(
    owner,
    String(sent.headers.location),
    { 'column.0': 'SKUInfo.SKU', 'column.1': 'SKUInfo.Name' },
    '/columns',
  )
}

/** An application that merchants can be asked for, a test store and an inbox with a message. */
async function developerThings(developer: Session, client: Client, url: string): Promise<Scene['callback']> {
  const redirectUri = 'https://app.example/oauth/callback'
  const application = { Name: 'Order sync', RedirectURIs: [redirectUri], CallBackURL: `${url}/callback` }
  const app = await made<{ PublicKey: string; PrivateKey: string }>(
    developer.call('POST', '/developers/applications', application),
  )
  const inbox = await made<{ Address: string }>(developer.call('POST', '/developers/inboxes', { Name: 'Webhooks' }))
  await client.send({ method: 'POST', path: new URL(inbox.Address).pathname, body: 'a message' })
  const { Id } = await made<{ Id: number }>(developer.call('POST', '/developers/test-stores', { Name: 'Trial' }))
  await until(async () => (await developer.call('GET', `/developers/test-stores/${Id}`)).text.includes('"ready"'))
  return { publicKey: app.PublicKey, privateKey: app.PrivateKey, redirectUri }
}

/** Resolves when a second has passed without a message, and longer than the server keeps calls before it writes them. */
async function untilQuiet({ messages }: Receiver): Promise<void> {
  await delay(1_600)
  let count = -1
  await until(async () => {
    const before = count
    count = messages.length
    await delay(800)
    return before === messages.length
  })
}

const WAIT_MS = 60_000

export async function until(happened: () => Promise<boolean>): Promise<void> {
  const end = Date.now() + WAIT_MS
  while (!(await happened())) {
    if (Date.now() > end) throw new Error(`What was waited for did not happen: ${happened}`)
    await delay(100)
  }
}

export function delay(ms: number): Promise<void> {
  return new Promise((later) => setTimeout(later, ms))
}
