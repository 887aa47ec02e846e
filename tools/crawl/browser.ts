import { Pool } from 'undici'
import { type Field, type Form, formsIn } from './html.ts'

export interface Answer {
  readonly status: number
  readonly headers: Readonly<Record<string, string | string[] | undefined>>
  readonly bytes: Buffer
  readonly text: string
}

export interface Sent {
  readonly method: string
  readonly path: string
  readonly headers?: Readonly<Record<string, string>>
  readonly body?: string | Buffer | undefined
}

/** One connection, so that the server has one request at a time. */
export interface Client {
  readonly send: (request: Sent) => Promise<Answer>
  readonly close: () => Promise<void>
}

export function openClient(baseUrl: string): Client {
  const pool = new Pool(baseUrl, { connections: 1, headersTimeout: 60_000, bodyTimeout: 60_000 })
  return {
    send: async ({ method, path, headers = {}, body }) => {
      const own = path.startsWith(baseUrl) ? path.slice(baseUrl.length) : path
      const target = own.replace(/[^!-~]/gu, encodeURIComponent)
      const answer = await pool.request({ method: method as 'GET', path: target, headers, body: body ?? null })
      const bytes = Buffer.from(await answer.body.arrayBuffer())
      return { status: answer.statusCode, headers: answer.headers, bytes, text: bytes.toString() }
    },
    close: () => pool.destroy(),
  }
}

export type Pairs = readonly (readonly [name: string, value: string])[]

/** Somebody with a browser that keeps cookies. */
export interface Session {
  readonly open: (path: string, language?: Language) => Promise<Answer>
  readonly submit: (form: Form, fields: Pairs, language?: Language) => Promise<Answer>
  /** Any request with the same cookies. */
  readonly raw: (
    method: string,
    path: string,
    headers: Record<string, string>,
    body?: string | Buffer,
  ) => Promise<Answer>
  /** A program's request with the same cookies. */
  readonly call: (method: string, path: string, body?: unknown) => Promise<Answer>
}

export type Language = 'en' | 'de'

let networks = 0

/** A browser in a network of its own, as far as limits of refused requests count networks. */
export function openSession(client: Client): Session {
  const cookies = new Map<string, string>()
  const network = `198.51.100.${++networks}`
  const send = async (method: string, path: string, headers: Record<string, string>, body?: string | Buffer) => {
    const cookie = [...cookies].map((pair) => pair.join('=')).join('; ')
    const all = { ...(cookie && { cookie }), 'x-forwarded-for': network, ...headers }
    const answer = await client.send({ method, path, headers: all, body })
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      if (value === '' || /expires=Thu, 01 Jan 1970/i.test(line)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }
  const browser = (language: Language = 'en') => ({
    accept: 'text/html,application/xhtml+xml',
    'accept-language': language,
    'sec-fetch-site': 'same-origin',
  })
  return {
    raw: send,
    open: (path, language) => send('GET', path, browser(language)),
    submit: (form, fields, language) => {
      if (form.method === 'GET') return send('GET', withQuery(form.action, fields), browser(language))
      const { type, body } = form.isUpload ? multipart(fields) : urlencoded(fields)
      return send(form.method, form.action, { ...browser(language), 'content-type': type }, body)
    },
    call: (method, path, body) => {
      const headers = { accept: 'application/json', 'x-requested-with': 'crawl' }
      if (body === undefined) return send(method, path, headers)
      return send(method, path, { ...headers, 'content-type': 'application/json' }, JSON.stringify(body))
    },
  }
}

function withQuery(action: string, fields: Pairs): string {
  return `${action.replace(/\?.*/, '')}?${urlencoded(fields).body}`
}

function urlencoded(fields: Pairs) {
  const body = new URLSearchParams(fields.map(([name, value]): [string, string] => [name, value])).toString()
  return { type: 'application/x-www-form-urlencoded', body }
}

/** The field `file` is sent as a file of CSV with this content. */
function multipart(fields: Pairs) {
  const boundary = '----boundary-of-the-crawl'
  const parts = fields.map(([name, value]) => {
    const isFile = name === 'file'
    const file = isFile ? '; filename="file.csv"\r\nContent-Type: text/csv' : ''
    return `--${boundary}\r\nContent-Disposition: form-data; name="${name}"${file}\r\n\r\n${value}\r\n`
  })
  return { type: `multipart/form-data; boundary=${boundary}`, body: `${parts.join('')}--${boundary}--\r\n` }
}

/** What a browser sends of a form that nobody touched, with these values in place of its own. */
export function filledIn({ fields }: Form, own: Readonly<Record<string, string>> = {}): Pairs {
  const shown = fields.filter((field) => field.isSent && !(field.name in own))
  return [...shown.map(({ name, value }: Field) => [name, value] as const), ...Object.entries(own)]
}

/** Sends the first form of the page that posts to an address which ends so. Throws where there is none. */
export async function fillIn(
  session: Session,
  page: string,
  own: Readonly<Record<string, string>>,
  action = '',
): Promise<Answer> {
  const { text, status } = await session.open(page)
  const form = formsIn(text, page).find(
    (one) => one.method === 'POST' && one.action.includes(action || page.replace(/\?.*/, '')),
  )
  if (form === undefined) throw new Error(`${page} (${status}) has no form for ${action}: ${text.slice(0, 500)}`)
  return session.submit(form, filledIn(form, own))
}

/** Signs in, or throws. */
export async function signIn(session: Session, page: string, email: string, password: string): Promise<void> {
  const { status, text } = await fillIn(session, page, { Email: email, Password: password })
  if (status !== 303) throw new Error(`${email} could not sign in at ${page}: ${status} ${text.slice(0, 2_000)}`)
}
