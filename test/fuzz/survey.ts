import { productStockChanged } from '../../src/engine/definition/event-kinds.ts'
import type { Address, OpenApi, Part } from '../support/openapi.ts'
import { type Browser, crawl, openBrowser, signIn } from './browser.ts'
import type { HtmlForm } from './html-forms.ts'
import type { FuzzStore, Installation } from './installation.ts'
import { envelope } from './soap-envelope.ts'

export type Role = 'merchant' | 'developer' | 'operator' | 'customer' | 'nobody'

/** Somebody's pages, and the session that opens them. */
export interface Visited {
  readonly browser: Browser
  readonly pages: readonly string[]
  readonly forms: readonly HtmlForm[]
}

/** What the server holds just now, for requests that are to reach what lies behind the checks. */
export interface Survey {
  /** By address of the document with an identifier at its end: paths that name records. */
  readonly records: ReadonlyMap<string, readonly string[]>
  /** By the name of a parameter in lower case: identifiers of the home store. */
  readonly identifiers: ReadonlyMap<string, readonly (number | string)[]>
  /** Identifiers of the other store. */
  readonly foreign: readonly (number | string)[]
  readonly tags: readonly string[]
  readonly cursors: readonly string[]
  /** Texts and numbers of records, for filters and parameters of cartAPI. */
  readonly texts: readonly string[]
  readonly visited: Readonly<Record<Role, Visited>>
  /** An application that merchants can be asked for. */
  readonly client: OAuthClient
  /** What OAuth gave out since. */
  readonly codes: string[]
  readonly accessTokens: string[]
  /** Of people's own programs. */
  readonly personTokens: Readonly<Record<'merchant' | 'developer', string>>
}

interface OAuthClient {
  readonly publicKey: string
  readonly privateKey: string
  readonly redirectUri: string
}

const RECORDS = 60
const PARENTS = 8
const TEXTS_MAX = 400

/** Where the addresses of an OpenAPI document lie on the server. */
export function baseOf({ item }: Pick<Address, 'item'>, version = 'v1'): string {
  return 'servers' in item.value ? '' : `/StoreWebAPI/${version}`
}

export function restHeaders({ secureUrl, privateKey, token }: FuzzStore): Record<string, string> {
  return { SecureURL: secureUrl, PrivateKey: privateKey, Token: token }
}

export async function takeSurvey(installation: Installation, api: OpenApi): Promise<Survey> {
  await raiseEvents(installation)
  const { visited, client } = await visitAll(installation)
  const found = { records: new Map<string, string[]>(), identifiers: new Map<string, (number | string)[]>() }
  const seen = { tags: new Set<string>(), cursors: new Set<string>(), texts: new Set<string>() }
  const headers = (security: unknown) =>
    surveyHeaders(installation, installation.home, security, visited.developer.browser)
  const lists = api.addresses.filter((one) => one.path.endsWith('}')).toSorted((a, b) => a.path.length - b.path.length)
  for (const { path } of lists) {
    const { parent, parameter } = parentOf(path)
    const list = api.addresses.find((address) => address.path === parent)
    const get = list?.operations.get('GET')
    if (list === undefined || get === undefined) continue
    for (const concrete of concretePaths(parent, found.records).slice(0, PARENTS)) {
      const target = `${baseOf(list)}${concrete}?limit=${RECORDS}`
      const answer = await installation.send({
        method: 'GET',
        path: target,
        headers: headers(securityOf(get)),
        body: null,
      })
      if (answer.status !== 200) continue
      const records = [JSON.parse(answer.body.toString())].flat() as Record<string, unknown>[]
      const ids = records.flatMap((record) => identifierIn(record, parameter) ?? [])
      push(
        found.records,
        path,
        ids.map((id) => `${concrete}/${encodeURIComponent(String(id))}`),
      )
      if (parameter !== 'id') push(found.identifiers, parameter, ids)
      collect(answer.headers, records, seen)
    }
  }
  return {
    ...found,
    foreign: await foreignIds(installation),
    tags: [...seen.tags, ...(await tagsOf(installation, found.records))],
    cursors: [...seen.cursors],
    texts: [...seen.texts].slice(0, TEXTS_MAX),
    visited,
    client,
    codes: await codesOf(visited.merchant),
    accessTokens: [],
    personTokens: {
      merchant: await personToken(installation, visited.merchant, '/account/tokens'),
      developer: await personToken(installation, visited.developer, '/developers/account/tokens'),
    },
  }
}

/** A webhook, and a change that it is notified of, so that there are deliveries. */
async function raiseEvents({ json, home, receiver }: Installation): Promise<void> {
  const headers = restHeaders(home)
  const webhook = { Name: 'Surveyed', Url: `${receiver}/ok`, EventType: productStockChanged.type, Enabled: true }
  await json('POST', '/StoreWebAPI/v1/Webhooks', headers, webhook)
  const [product] = (await json('GET', '/StoreWebAPI/v1/Products?limit=1', headers)) as [{ SKUInfo: SkuInfo }]
  const { CatalogID, Stock } = product.SKUInfo
  await json('PUT', `/StoreWebAPI/v1/Products/${CatalogID}`, headers, { SKUInfo: { Stock: Stock + 1 } })
}

interface SkuInfo {
  readonly CatalogID: number
  readonly Stock: number
}

/** The path of the page of an order that an application placed; of none where the store lets it place none any more. */
async function orderPage({ json, send, home }: Installation): Promise<string> {
  const serial = String(process.hrtime.bigint())
  const headers = restHeaders(home)
  const product = { SKUInfo: { SKU: serial, Name: 'Surveyed', Price: 3, Stock: 3 } }
  await json('POST', '/StoreWebAPI/v1/Products', headers, product)
  const order = { BillingEmail: 'a@b.example', OrderItemList: [{ ItemID: serial, ItemQuantity: 1 }] }
  const { status, body } = await send({
    method: 'POST',
    path: '/StoreWebAPI/v1/Checkout',
    headers: Object.entries({ ...headers, 'content-type': 'application/json', 'idempotency-key': serial }),
    body: Buffer.from(JSON.stringify(order)),
  })
  return status === 201 ? new URL(JSON.parse(body.toString())[0].OrderPage).pathname : '/order/none'
}

/** A new token; one that never was where the account has as many as it may. */
async function personToken({ send }: Installation, { browser }: Visited, path: string): Promise<string> {
  const headers = { cookie: browser.cookie(), 'x-requested-with': 'fuzz', 'content-type': 'application/json' }
  const body = Buffer.from(JSON.stringify({ Name: 'Fuzzer', Days: 9 }))
  const answer = await send({ method: 'POST', path, headers: Object.entries(headers), body })
  return answer.status === 201 ? JSON.parse(answer.body.toString()).Token : 'spt_none'
}

const CODES = 4

/** Codes of OAuth that the merchant agrees to. */
async function codesOf({ browser, forms }: Visited): Promise<string[]> {
  const consent = forms.find(
    ({ action, fields }) => action.startsWith('/oauth/authorize') && fields.some(([, value]) => value === 'allow'),
  )
  const codes: string[] = []
  while (consent !== undefined && codes.length < CODES) {
    const { headers } = await browser.submit(consent, {})
    const [, code] = /[?&]code=([^&]+)/.exec(String(headers.location ?? '')) ?? []
    if (code === undefined) break
    codes.push(decodeURIComponent(code))
  }
  return codes
}

export function securityOf(operation: Part): readonly Record<string, unknown>[] {
  return (operation.value.security ?? [{ SecureURL: [] }]) as readonly Record<string, unknown>[]
}

function surveyHeaders({ operatorKey }: Installation, store: FuzzStore, security: unknown, developer: Browser) {
  const names = JSON.stringify(security)
  if (names.includes('OperatorKey')) return [['authorization', `Bearer ${operatorKey}`]] as const
  if (names.includes('DeveloperSession')) return [['cookie', developer.cookie()]] as const
  return Object.entries(restHeaders(store))
}

function parentOf(path: string): { parent: string; parameter: string } {
  const slash = path.lastIndexOf('/')
  return { parent: path.slice(0, slash), parameter: path.slice(slash + 2, -1).toLowerCase() }
}

/** The paths that an address can have with the records that are known; a record's own begins with its list's. */
export function concretePaths(path: string, records: Survey['records']): readonly string[] {
  if (!path.includes('{')) return [path]
  const end = path.lastIndexOf('}') + 1
  return (records.get(path.slice(0, end)) ?? []).map((record) => record + path.slice(end))
}

function identifierIn(record: Record<string, unknown>, parameter: string): number | string | undefined {
  const members = [
    record,
    ...Object.values(record).filter((value) => value !== null && typeof value === 'object' && !Array.isArray(value)),
  ]
  const pairs = members.flatMap((member) => Object.entries(member as object))
  const named =
    pairs.find(([name]) => name.toLowerCase() === parameter) ?? pairs.find(([name]) => /^(id|.*[a-z]id)$/i.test(name))
  const value = named?.[1]
  return typeof value === 'number' || (typeof value === 'string' && value !== '') ? value : undefined
}

function push<T>(into: Map<string, T[]>, key: string, values: readonly T[]): void {
  into.set(key, [...(into.get(key) ?? []), ...values])
}

interface Seen {
  readonly tags: Set<string>
  readonly cursors: Set<string>
  readonly texts: Set<string>
}

function collect(
  headers: Readonly<Record<string, unknown>>,
  records: readonly Record<string, unknown>[],
  { tags, cursors, texts }: Seen,
): void {
  if (typeof headers.etag === 'string') tags.add(headers.etag)
  const [, cursor] = /[?&]cursor=([^&>]+)/.exec(String(headers.link ?? '')) ?? []
  if (cursor !== undefined) cursors.add(decodeURIComponent(cursor))
  for (const value of records.slice(0, 10).flatMap((record) => Object.values(record)))
    if ((typeof value === 'string' && value !== '' && value.length < 100) || typeof value === 'number')
      texts.add(String(value))
}

async function foreignIds({ json, other }: Installation): Promise<(number | string)[]> {
  const services = ['Products', 'Customers', 'Category']
  const lists = await Promise.all(
    services.map((service) => json('GET', `/StoreWebAPI/v1/${service}`, restHeaders(other))),
  )
  return (lists.flat() as Record<string, unknown>[]).flatMap((record) => identifierIn(record, 'catalogid') ?? [])
}

async function tagsOf({ send, home }: Installation, records: Survey['records']): Promise<string[]> {
  const first = ['/Products/{catalogid}', '/Customers/{customerid}', '/Orders/{orderid}'].flatMap((path) =>
    (records.get(path) ?? []).slice(0, 3),
  )
  const answers = await Promise.all(
    first.map((path) =>
      send({ method: 'GET', path: `/StoreWebAPI/v1${path}`, headers: Object.entries(restHeaders(home)), body: null }),
    ),
  )
  return answers.flatMap(({ headers }) => (typeof headers.etag === 'string' ? [headers.etag] : []))
}

async function visitAll(installation: Installation): Promise<Pick<Survey, 'visited' | 'client'>> {
  const { home, developer } = installation
  const visit = async (
    signInPath: string,
    fields: Readonly<Record<string, string>>,
    starts: readonly [string, ...string[]],
  ) => {
    const browser = openBrowser(installation)
    await signIn(browser, signInPath, fields)
    return { browser, ...(await crawl(browser, starts[0], starts)) }
  }
  const tools = await visit('/developers/sign-in', developer, ['/developers'])
  const client = await oauthClient(installation, tools.browser)
  const stranger = openBrowser(installation)
  const authorize = `/oauth/authorize?response_type=code&client_id=${client.publicKey}&redirect_uri=${encodeURIComponent(redirectUri)}&state=s&store_url=${encodeURIComponent(home.secureUrl)}`
  const entrances = [
    '/admin/sign-in',
    '/developers/sign-in',
    '/developers/sign-up',
    '/account/sign-in?token=x',
    '/operator/sign-in',
    '/admin/reset',
    '/admin/reset?token=x',
    '/admin/invitations?token=x',
    await orderPage(installation),
  ] as const
  const visited = {
    merchant: await visit('/admin/sign-in', home.account, ['/admin', authorize]),
    developer: tools,
    operator: await visit('/operator/sign-in', await operatorAccount(installation), ['/operator']),
    customer: await visit(`/account/sign-in?token=${await customerToken(installation)}`, {}, ['/account']),
    nobody: { browser: stranger, ...(await crawl(stranger, '/', [...entrances, '/assets/app.css', '/assets/app.js'])) },
  }
  return { visited, client }
}

const redirectUri = 'http://127.0.0.1:9/oauth'

async function oauthClient({ json }: Installation, { cookie }: Browser): Promise<OAuthClient> {
  const application = { Name: 'Asks merchants', RedirectURIs: [redirectUri] }
  const made = await json('POST', '/developers/applications', { cookie: cookie() }, application)
  const { PublicKey: publicKey, PrivateKey: privateKey } = made as { PublicKey: string; PrivateKey: string }
  return { publicKey, privateKey, redirectUri }
}

/** An operator with a password, chosen by the link that the key gets. */
async function operatorAccount(installation: Installation) {
  const { json, operatorKey } = installation
  const account = { Email: `operator-${process.hrtime.bigint()}@server.example`, Password: 'correct horse battery' }
  const headers = { authorization: `Bearer ${operatorKey}` }
  const { Link } = (await json('POST', '/admin/operators', headers, { Email: account.Email })) as { Link: string }
  const { pathname, search } = new URL(Link)
  await signIn(openBrowser(installation), pathname + search, { Password: account.Password })
  return account
}

async function customerToken({ json, send, home }: Installation): Promise<string> {
  const Email = `visitor-${process.hrtime.bigint()}@customers.example`
  await json('POST', '/StoreWebAPI/v1/Customers', restHeaders(home), { Email, Password: 'secret' })
  const parameters = { storeUrl: home.secureUrl, userKey: home.userKey, customerEmail: Email, timeToLive: '60' }
  const { body } = await send({
    method: 'POST',
    path: '/cart.asmx',
    ...envelope('getCustomerLoginToken', Object.entries(parameters)),
  })
  const [, token] = /<Token>([\w-]+)<\/Token>/.exec(body.toString()) ?? []
  if (token === undefined) throw new Error(`No token of a customer: ${body}`)
  return token
}
