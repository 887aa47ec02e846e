import { createSender, type RetryOptions, refusalOf } from './send.ts'
import type {
  AnswerOf,
  Arguments,
  ChangeOptions,
  CountedPath,
  GetOptions,
  ListPath,
  Path,
  PathOf,
  RecordOf,
} from './types.ts'

/** The keys of an application in a store; or an OAuth access token, as it is or by a function that is asked before each request. */
export type Credentials =
  | { readonly secureUrl: string; readonly privateKey: string; readonly token: string }
  | { readonly accessToken: string | (() => string | Promise<string>) }

export type ClientOptions = RetryOptions &
  Credentials & {
    /** The address of the services, such as `https://api.shop.example/StoreWebAPI/v2`. */
    readonly url: string
    /** The header Prefer of requests that say no other, such as `handling=strict`. */
    readonly prefer?: string
  }

export interface Answer<T> {
  readonly status: number
  readonly data: T
  /** Of a single record: for `ifMatch` and `getIfChanged`. */
  readonly etag: string | null
  readonly headers: Headers
}

interface Request {
  readonly path?: Readonly<Record<string, unknown>> | undefined
  readonly query?: object | undefined
  readonly body?: unknown
  readonly ifMatch?: string | undefined
  readonly ifNoneMatch?: string
  readonly idempotencyKey?: string | undefined
  readonly prefer?: string | undefined
  readonly signal?: AbortSignal | undefined
}

export type StoreClient = ReturnType<typeof createClient>

/**
 * Returns a client of one store's REST services. Its functions throw `StoreError` for every refusal, and `NoAnswerError` when no
 * answer comes; both after the repetitions that may help. Changes get an Idempotency-Key each, so that they can be repeated too.
 */
export function createClient(options: ClientOptions) {
  const base = options.url.replace(/\/+$/, '')
  const send = createSender(options)

  async function request(method: string, path: Path, given: Request): Promise<Response> {
    const { query = {}, body, ifMatch, ifNoneMatch, signal, prefer = options.prefer } = given
    const isChange = method !== 'GET'
    const headers = {
      Accept: 'application/json',
      ...(await credentialHeaders(options)),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...(isChange && { 'Idempotency-Key': given.idempotencyKey ?? crypto.randomUUID() }),
      ...(prefer !== undefined && { Prefer: prefer }),
      ...(ifMatch !== undefined && { 'If-Match': ifMatch }),
      ...(ifNoneMatch !== undefined && { 'If-None-Match': ifNoneMatch }),
    }
    const url = `${base}${filledIn(path, given.path ?? {})}${queryText(query)}`
    return send({ method, url, headers, signal, ...(body !== undefined && { body: JSON.stringify(body) }) })
  }

  async function answered<T>(method: string, path: Path, given: Request): Promise<Answer<T>> {
    const answer = await request(method, path, given)
    if (!answer.ok) throw await refusalOf(answer)
    return answerOf<T>(answer)
  }

  /** Pages of a list; none where it is empty. */
  async function* pages<P extends ListPath>(
    path: P,
    ...[given]: Arguments<GetOptions<P>>
  ): AsyncGenerator<readonly RecordOf<P>[], void, undefined> {
    let next: Request | null = (given ?? {}) as Request
    while (next !== null) {
      const answer: Response = await request('GET', path, next)
      // No match, or the record above is gone: there is nothing to read on. A wrong address has a body.
      if (answer.status === 404 && (await answer.clone().text()) === '') return
      if (!answer.ok) throw await refusalOf(answer)
      yield (await answer.json()) as readonly RecordOf<P>[]
      next = nextPage(next, answer.headers)
    }
  }

  return {
    /** Reads a record or one page of a list. */
    get<P extends PathOf<'get'>>(path: P, ...[given]: Arguments<GetOptions<P>>) {
      return answered<AnswerOf<P, 'get'>>('GET', path, (given ?? {}) as Request)
    },

    /** Reads a record unless it still has the ETag; then null. */
    async getIfChanged<P extends PathOf<'get'>>(path: P, etag: string, ...[given]: Arguments<GetOptions<P>>) {
      const answer = await request('GET', path, { ...((given ?? {}) as Request), ifNoneMatch: etag })
      if (answer.status === 304) return null
      if (!answer.ok) throw await refusalOf(answer)
      return answerOf<AnswerOf<P, 'get'>>(answer)
    },

    /** Creates records, or does what the address is for. Status 206: some were refused, as the result items say. */
    post<P extends PathOf<'post'>>(path: P, ...[given]: Arguments<ChangeOptions<P, 'post'>>) {
      return answered<AnswerOf<P, 'post'>>('POST', path, (given ?? {}) as Request)
    },

    /** Changes one record or several. Status 206: some were refused, as the result items say. */
    put<P extends PathOf<'put'>>(path: P, ...[given]: Arguments<ChangeOptions<P, 'put'>>) {
      return answered<AnswerOf<P, 'put'>>('PUT', path, (given ?? {}) as Request)
    },

    delete<P extends PathOf<'delete'>>(path: P, ...[given]: Arguments<ChangeOptions<P, 'delete'>>) {
      return answered<AnswerOf<P, 'delete'>>('DELETE', path, (given ?? {}) as Request)
    },

    /** How many records of a list match the filters. */
    async count<P extends CountedPath>(path: P, ...[given]: Arguments<GetOptions<P>>): Promise<number> {
      const counted = `${path}/Count` as Path
      const { data } = await answered<{ readonly TotalCount: number }>('GET', counted, (given ?? {}) as Request)
      return data.TotalCount
    },

    pages,

    /** All records of a list, page by page: each that was there from the start comes exactly once. */
    async *list<P extends ListPath>(
      path: P,
      ...given: Arguments<GetOptions<P>>
    ): AsyncGenerator<RecordOf<P>, void, undefined> {
      for await (const page of pages(path, ...given)) yield* page
    },
  }
}

async function answerOf<T>(answer: Response): Promise<Answer<T>> {
  const { status, headers } = answer
  return { status, headers, etag: headers.get('ETag'), data: (await answer.json()) as T }
}

async function credentialHeaders(credentials: Credentials): Promise<Record<string, string>> {
  if ('accessToken' in credentials) {
    const { accessToken } = credentials
    return { Authorization: `Bearer ${typeof accessToken === 'string' ? accessToken : await accessToken()}` }
  }
  const { secureUrl, privateKey, token } = credentials
  return { SecureURL: secureUrl, PrivateKey: privateKey, Token: token }
}

/** `/Products/{catalogid}` → `/Products/12` */
function filledIn(path: string, values: Readonly<Record<string, unknown>>): string {
  return path.replace(/\{(\w+)\}/g, (_braces, name: string) => {
    if (values[name] === undefined) throw new TypeError(`${path} needs ${name}`)
    return encodeURIComponent(String(values[name]))
  })
}

/** A list is given by repeating its name. */
function queryText(query: object): string {
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => [name, one === undefined ? '' : String(one)] as [string, string]),
  )
  const text = new URLSearchParams(pairs.filter(([, value]) => value !== '')).toString()
  return text === '' ? '' : `?${text}`
}

/** Only the cursor of the next address is taken, so that no answer can lead the keys to another server. */
function nextPage(page: Request, headers: Headers): Request | null {
  const [, address] = /<([^>]+)>;\s*rel="next"/.exec(headers.get('Link') ?? '') ?? []
  const cursor = address === undefined ? null : new URL(address, 'http://server').searchParams.get('cursor')
  if (cursor === null) return null
  const { offset: _, ...query } = (page.query ?? {}) as { offset?: unknown }
  return { ...page, query: { ...query, cursor } }
}
