import { type Answer, type Client, fillIn, type Sent } from './browser.ts'
import type { Report } from './report.ts'
import { REST, type Scene } from './scene.ts'
import { OPERATOR_KEY } from './server.ts'

interface Parameter {
  readonly name: string
  readonly in: string
  readonly $ref?: string
  readonly example?: unknown
  readonly schema?: {
    readonly examples?: readonly unknown[]
    readonly default?: unknown
    readonly enum?: readonly unknown[]
  }
}

interface Described {
  readonly parameters?: readonly Parameter[]
  readonly requestBody?: { readonly content: Readonly<Record<string, Content>> }
  readonly security?: readonly object[]
}

interface Content {
  readonly example?: unknown
  readonly examples?: Readonly<Record<string, { readonly value: unknown }>>
}

type Path = Readonly<Record<string, Described | undefined>> & {
  readonly servers?: unknown
  readonly parameters?: readonly Parameter[]
}

interface Document {
  readonly paths: Readonly<Record<string, Path>>
  readonly components: { readonly parameters: Readonly<Record<string, Parameter>> }
}

/** An operation of the document. */
interface Operation {
  readonly method: string
  readonly path: string
  readonly base: string
  readonly parameters: readonly Parameter[]
  readonly content: Readonly<Record<string, Content>>
  readonly security: string
}

const methods = ['get', 'post', 'put', 'patch', 'delete'] as const
/** What would end what the other requests need, or goes on in the background by chance. */
const leftOut: readonly (readonly [operation: RegExp, reason: string])[] = [
  [/^GET \/metrics/, 'figures of the process: their names alone are written'],
  [/^POST .*test-stores\/\{id\}\/(rate|changes|due-now)/, 'makes changes by chance'],
  [/^(POST|DELETE) .*test-stores(\/\{id\}(\/reset)?)?$/, 'fills and empties stores in the background'],
  [/^PUT \/admin\/switches/, 'takes test stores from the developers'],
]

/** Sends what the document describes, right and wrong, and writes the answers; returns the number of requests. */
export async function crawlRest(scene: Scene, report: Report, receiverUrl: string): Promise<number> {
  const document = JSON.parse((await scene.client.send({ method: 'GET', path: '/openapi.json' })).text) as Document
  const crawl = new RestCrawl(scene, report, receiverUrl)
  const all = operationsOf(document).filter(
    ({ method, path }) => !leftOut.some(([one]) => one.test(`${method} ${path}`)),
  )
  const isLate = ({ method }: Operation) => method === 'DELETE'
  for (const operation of [...all.filter((one) => !isLate(one)), ...all.filter(isLate)]) await crawl.ask(operation)
  return crawl.count
}

function operationsOf({ paths, components }: Document): Operation[] {
  const resolved = (given: Parameter) =>
    given.$ref ? (components.parameters[given.$ref.split('/').at(-1) ?? ''] ?? given) : given
  return Object.entries(paths).flatMap(([path, item]) =>
    methods.flatMap((method): Operation[] => {
      const described = item[method]
      if (described === undefined) return []
      const parameters = [...(item.parameters ?? []), ...(described.parameters ?? [])].map(resolved)
      const security = JSON.stringify(described.security ?? 'keys')
      const base = item.servers ? '' : REST
      return [
        {
          method: method.toUpperCase(),
          path,
          base,
          parameters,
          content: described.requestBody?.content ?? {},
          security,
        },
      ]
    }),
  )
}

class RestCrawl {
  readonly #scene: Scene
  readonly #report: Report
  readonly #receiverUrl: string
  /** By list: the id of the record that was made in it last. */
  readonly #made = new Map<string, string>()
  count = 0

  constructor(scene: Scene, report: Report, receiverUrl: string) {
    this.#scene = scene
    this.#report = report
    this.#receiverUrl = receiverUrl
  }

  async ask(operation: Operation): Promise<void> {
    if (/Deliveries|id\}\/Status|\/Events$|\/messages/.test(operation.path)) await this.#scene.settled()
    const address = this.#address(operation)
    await this.#send(operation, { method: 'OPTIONS', path: address })
    if (operation.method === 'GET') await this.#read(operation, address)
    else await this.#change(operation, address)
  }

  /** The address with the ids of records that were made here, or of the document's examples. */
  #address({ base, path, parameters }: Operation): string {
    return path.split('/').reduce((address, part) => {
      const name = /^\{(.*)\}$/.exec(part)?.[1]
      if (name === undefined) return `${address}/${part}`.replace('//', '/')
      const example = exampleOf(parameters.find((one) => one.name === name))
      return `${address}/${this.#made.get(address) ?? example ?? 1}`
    }, base)
  }

  async #read(operation: Operation, address: string): Promise<void> {
    const get = (path: string, headers = {}) => this.#send(operation, { method: 'GET', path, headers })
    const shown =
      operation.parameters.some(({ name }) => name === 'limit') && operation.base !== ''
        ? `${address}?limit=3`
        : address
    await get(shown)
    await get(shown, { accept: 'application/xml' })
    await get(shown.replace('/v1/', '/v2/'))
    await this.#send(operation, { method: 'HEAD', path: shown })
    for (const { name, ...given } of operation.parameters.filter((one) => one.in === 'query')) {
      const values = [exampleOf({ name, ...given }), ...(given.schema?.enum ?? [])].filter(
        (value) => value !== undefined,
      )
      for (const value of new Set([...values.map(String), 'nonsense!', '-5', ''])) {
        const others = name === 'limit' ? '' : 'limit=2&'
        await get(
          `${address}?${shown === address ? '' : others}${encodeURIComponent(name)}=${encodeURIComponent(value)}`,
        )
      }
    }
    await get(`${address}?limit=2&offset=2`)
    await get(`${address}?limit=2&offset=100000`)
    await get(`${address}?nonsense=1`)
    await get(`${address}?nonsense=1&limit=0`, { prefer: 'handling=strict' })
    await this.#refusals(operation, { method: 'GET', path: address })
  }

  async #change(operation: Operation, address: string): Promise<void> {
    const { method } = operation
    await this.#refusals(operation, { method, path: address, ...this.#bodies(operation)[0] })
    for (const body of this.#wrongBodies(operation)) await this.#send(operation, { method, path: address, ...body })
    for (const body of this.#bodies(operation)) {
      const key = { 'idempotency-key': `key-of-request-${this.count}` }
      const outdated = { ...body.headers, 'if-match': '"other"' }
      if (method !== 'POST') await this.#send(operation, { method, path: address, headers: outdated, body: body.body })
      const once = { method, path: address, headers: { ...body.headers, ...key }, body: body.body }
      const answer = await this.#send(operation, once)
      if (method === 'POST') this.#remember(address, answer)
      await this.#send(operation, once)
    }
    if (Object.keys(operation.content).length === 0) {
      const answer = await this.#send(operation, { method, path: address })
      if (method === 'POST') this.#remember(address, answer)
      await this.#send(operation, { method, path: address })
    }
    await this.#send(operation, { method: 'GET', path: operation.base === '' ? address : `${address}?limit=5` })
  }

  /** Without keys, with wrong ones, and for records that there are not. */
  async #refusals(operation: Operation, sent: Sent): Promise<void> {
    const { headers, ...others } = sent
    await this.#sendBare(others, headers)
    await this.#sendBare(others, {
      ...headers,
      ...this.#scene.keys,
      Token: 'f'.repeat(32),
      authorization: 'Bearer wrong-key-of-nobody',
    })
    for (const id of ['999999', 'abc', '0']) {
      const path = sent.path.replace(/\/\d+(?=\/|$)(?!.*\/\d+(?=\/|$))/, `/${id}`)
      if (path !== sent.path) await this.#send(operation, { ...sent, path })
    }
  }

  #bodies({ content }: Operation): { headers: Record<string, string>; body: string }[] {
    return Object.entries(content).flatMap(([type, { example, examples = {} }]) => {
      const values = [...(example === undefined ? [] : [example]), ...Object.values(examples).map(({ value }) => value)]
      return values.map((value) => ({
        headers: { 'content-type': type },
        body: this.#local(typeof value === 'string' ? value : asBody(type, value)),
      }))
    })
  }

  /** The same body, with the crawl's receiver in place of addresses that the server would call. */
  #local(body: string): string {
    const json = body.replace(/("(?:Url|CallBackURL)":\s*")[^"]*/g, `$1${this.#receiverUrl}/made`)
    return json.replace(/<(Url|CallBackURL)>[^<]*/g, `<$1>${this.#receiverUrl}/made`)
  }

  #wrongBodies(operation: Operation): { headers: Record<string, string>; body: string }[] {
    const json = { 'content-type': 'application/json' }
    const [first] = this.#bodies(operation)
    if (first === undefined) return []
    const object = /json/.test(first.headers['content-type'] ?? '') ? (JSON.parse(first.body) as object) : {}
    const wrong = [
      '',
      '{}',
      '[]',
      'not JSON',
      '"text"',
      'null',
      JSON.stringify(withWrongTypes(object)),
      JSON.stringify({ ...object, Nonsense: 1 }),
    ]
    const others = [
      { headers: { 'content-type': 'application/xml' }, body: '<Nonsense><A>1</A></Nonsense>' },
      { headers: { 'content-type': 'application/xml' }, body: '<Broken><A>' },
      { headers: { 'content-type': 'text/plain' }, body: 'text' },
      { headers: { ...json, prefer: 'handling=strict' }, body: JSON.stringify({ ...object, Nonsense: 1 }) },
    ]
    return [...wrong.map((body) => ({ headers: json, body })), ...others]
  }

  #remember(list: string, { status, text }: Answer): void {
    const [, id] = status < 300 ? (/"Value":\s*"(\d+)"|"Id":\s*(\d+)/.exec(text)?.filter(Boolean) ?? []) : []
    if (id !== undefined) this.#made.set(list, id)
  }

  /** With what the operation's security asks for. */
  async #send(operation: Operation, sent: Sent): Promise<Answer> {
    const { security } = operation
    if (security.includes('DeveloperSession')) return this.#write(sent, await this.#asDeveloper(sent))
    const keys = security.includes('OperatorKey') ? { authorization: `Bearer ${OPERATOR_KEY}` } : this.#scene.keys
    return this.#sendBare(sent, { ...(security === '[]' ? {} : keys), ...sent.headers })
  }

  #asDeveloper({ method, path, body, headers = {} }: Sent): Promise<Answer> {
    return this.#scene.sessions.developer.raw(
      method,
      path,
      { accept: 'application/json', 'x-requested-with': 'crawl', ...headers },
      body,
    )
  }

  async #sendBare(sent: Sent, headers: Sent['headers'] = {}): Promise<Answer> {
    const answer = await this.#scene.client.send({
      ...sent,
      headers: { accept: 'application/json', 'x-forwarded-for': network(this.count), ...headers },
    })
    return this.#write({ ...sent, headers }, answer)
  }

  #write({ method, path, headers = {}, body }: Sent, answer: Answer): Answer {
    this.count++
    const told = Object.entries(headers).filter(
      ([name]) => !/^(securl|secureurl|privatekey|token|authorization|idempotency-key)$/i.test(name),
    )
    const has = 'Token' in headers || 'authorization' in headers || 'SecureURL' in headers ? '' : ' (no keys)'
    const service = path.split(/[/?]/).slice(path.startsWith(REST.slice(0, 12)) ? 3 : 1)[0] ?? ''
    const content = typeof body === 'string' && body !== '' ? ` ${body.replaceAll('\n', ' ').slice(0, 300)}` : ''
    const name = `${method} ${path}${has}${told.map(([header, value]) => ` [${header}: ${value}]`).join('')}${content}`
    const isLog = /\/calls\b/i.test(path) && answer.status === 200
    this.#report.add(
      `rest/${service || 'root'}.txt`,
      name,
      isLog ? { ...answer, text: membersIn(answer.text) } : answer,
    )
    return answer
  }
}

/** The names of members alone: the server writes the log of calls some time after them, so that it differs in what it has. */
function membersIn(text: string): string {
  return [...new Set(text.match(/"\w+"(?=:)|<\w+>/g))].sort().join('\n')
}

/** Refusals count for each network, and no answer is to be one of too many. */
function network(count: number): string {
  return `203.0.${Math.floor(count / 10) % 250}.${count % 250}`
}

function exampleOf(parameter: Parameter | undefined): unknown {
  return parameter?.example ?? parameter?.schema?.examples?.[0] ?? parameter?.schema?.default
}

function asBody(type: string, value: unknown): string {
  return type.includes('urlencoded')
    ? new URLSearchParams(value as Record<string, string>).toString()
    : JSON.stringify(value)
}

/** Texts where numbers belong, and the other way round. */
function withWrongTypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withWrongTypes)
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, withWrongTypes(one)]))
  if (typeof value === 'number') return 'abc'
  return typeof value === 'string' ? { Wrong: true } : 12.345
}

/** OAuth from consent to revocation, the routes that the document does not have, and the names of the figures. */
export async function crawlRoutes(scene: Scene, report: Report): Promise<void> {
  const { client } = scene
  for (const path of [
    '/healthz',
    '/readyz',
    '/openapi.json',
    '/records.xsd',
    '/.well-known/oauth-authorization-server',
    '/cart.asmx',
    '/cart.asmx?WSDL',
    '/nowhere',
    '/StoreWebAPI',
    '/StoreWebAPI/v3/Products',
    '/storewebapi/v1/products',
  ]) {
    for (const accept of ['application/json', 'application/xml', 'text/html']) {
      report.add(
        'rest/routes.txt',
        `GET ${path} [accept: ${accept}]`,
        await client.send({ method: 'GET', path, headers: { accept } }),
      )
    }
    for (const method of ['HEAD', 'OPTIONS', 'POST', 'DELETE'])
      report.add('rest/routes.txt', `${method} ${path}`, await client.send({ method, path }))
  }
  await grantAndRevoke(scene, report)
  await nameFigures(client, report)
}

async function nameFigures(client: Client, report: Report): Promise<void> {
  const { text } = await client.send({
    method: 'GET',
    path: '/metrics',
    headers: { authorization: `Bearer ${OPERATOR_KEY}` },
  })
  report.note(
    'rest/routes.txt',
    `=== names of /metrics\n${text
      .split('\n')
      .filter((line) => line.startsWith('# '))
      .join('\n')}`,
  )
}

async function grantAndRevoke({ client, sessions, starts, callback }: Scene, report: Report): Promise<void> {
  const consent = starts.owner.at(-1) ?? ''
  const ask = async (path: string, fields: Readonly<Record<string, string>>) => {
    const headers = { 'content-type': 'application/x-www-form-urlencoded' }
    const body = new URLSearchParams(fields).toString()
    const answer = await client.send({ method: 'POST', path, headers, body })
    report.add('rest/oauth.txt', `POST ${path} ${body}`, answer)
    return answer
  }
  // A code that came with a wrong address is used up.
  const other = 'https://other.example'
  const tries = [['deny'], ['allow', other], ['allow']] as const
  for (const [decision, redirect_uri = callback.redirectUri] of tries) {
    const decided = await fillIn(sessions.owner, consent, { decision }, '/oauth/authorize')
    report.add('rest/oauth.txt', `${decision} at ${consent}`, decided)
    const [, code = 'none'] = /[?&]code=([^&]+)/.exec(String(decided.headers.location)) ?? []
    const keys = { client_id: callback.publicKey, client_secret: callback.privateKey }
    const right = { grant_type: 'authorization_code', code, ...keys, redirect_uri }
    await ask('/oauth/token', { ...right, grant_type: 'nonsense' })
    await ask('/oauth/token', { ...right, client_secret: 'wrong' })
    const { text } = await ask('/oauth/token', { ...right, code: decodeURIComponent(code) })
    const token = /"access_token":\s*"([^"]+)"/.exec(text)?.[1] ?? 'none'
    const read = { method: 'GET', path: `${REST}/Products?limit=1`, headers: { authorization: `Bearer ${token}` } }
    report.add('rest/oauth.txt', 'GET with the token', await client.send(read))
    await ask('/oauth/revoke', { token, ...keys })
    report.add('rest/oauth.txt', 'GET with the revoked token', await client.send(read))
    await ask('/oauth/revoke', { token: 'nonsense', client_id: 'nobody' })
  }
}
