import { Readable } from 'node:stream'
import type { FastifyInstance, LightMyRequestResponse } from 'fastify'

/** Somebody with a browser that keeps cookies and sends forms as they stand in the page. */
export interface TestPerson {
  readonly cookies: Map<string, string>
  /** A page. It is not followed when it leads elsewhere. */
  readonly open: (url: string, headers?: Record<string, string>) => Promise<LightMyRequestResponse>
  /** Fills in the form of the page at `url` whose action is `action` (default: `url` itself) and sends it, to `to` where its button names another address. */
  readonly submit: (
    url: string,
    fields: Record<string, string | string[]>,
    options?: { action?: string; to?: string; headers?: Record<string, string> },
  ) => Promise<LightMyRequestResponse>
  /** Chooses a file in the form of the page at `page` (default: `url` itself) whose action is `url`, and sends it. */
  readonly upload: (
    url: string,
    file: string | Uint8Array | Readable,
    name?: string,
    options?: {
      readonly page?: string
      readonly fields?: Record<string, string>
      readonly headers?: Record<string, string>
    },
  ) => Promise<LightMyRequestResponse>
  /** What a browser would send of the form of the page at `url`, the token aside. */
  readonly formOf: (url: string, action?: string) => Promise<Record<string, string>>
  /** A program's request with the same cookies. */
  readonly call: (
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    body?: unknown,
  ) => Promise<LightMyRequestResponse>
}

const HTML = 'text/html,application/xhtml+xml'

export function testPerson(app: FastifyInstance): TestPerson {
  const cookies = new Map<string, string>()

  const send: TestPerson['open'] = async (url, headers = {}) => request('GET', url, { accept: HTML, ...headers })

  async function request(
    method: 'GET' | 'POST' | 'PUT' | 'DELETE',
    url: string,
    headers: Record<string, string>,
    payload?: string | Readable,
  ) {
    const cookie = [...cookies].map(([name, value]) => `${name}=${value}`).join('; ')
    const answer = await app.inject({
      method,
      url,
      headers: { ...(cookie && { cookie }), ...headers },
      ...(payload !== undefined && { payload }),
    })
    for (const { name, value, expires } of answer.cookies) {
      if (value === '' || (expires !== undefined && expires.getTime() === 0)) cookies.delete(name)
      else cookies.set(name, value)
    }
    return answer
  }

  return {
    cookies,
    open: send,
    submit: async (url, fields, { action = url, to = action, headers = {} } = {}) => {
      const page = await send(url)
      const form = formAt(page.body, action)
      const body = new URLSearchParams(hiddenFields(form))
      for (const [name, value] of Object.entries(fields)) {
        body.delete(name)
        for (const each of [value].flat()) body.append(name, each)
      }
      return request(
        'POST',
        to,
        {
          accept: HTML,
          'content-type': 'application/x-www-form-urlencoded',
          'sec-fetch-site': 'same-origin',
          ...headers,
        },
        body.toString(),
      )
    },
    upload: async (url, file, name = 'file.csv', { page = url, fields = {}, headers = {} } = {}) => {
      const { _csrf = '' } = Object.fromEntries(hiddenFields(formAt((await send(page)).body, url)))
      const boundary = '----a-browser-s-boundary'
      const part = (header: string) => `--${boundary}\r\nContent-Disposition: form-data; ${header}\r\n`
      async function* body() {
        for (const [field, text] of Object.entries({ _csrf, ...fields })) {
          yield Buffer.from(`${part(`name="${field}"`)}\r\n${text}\r\n`)
        }
        yield Buffer.from(`${part(`name="file"; filename="${name}"`)}Content-Type: text/csv\r\n\r\n`)
        if (file instanceof Readable) yield* file
        else yield Buffer.from(file)
        yield Buffer.from(`\r\n--${boundary}--\r\n`)
      }
      const type = `multipart/form-data; boundary=${boundary}`
      return request('POST', url, { accept: HTML, 'content-type': type, ...headers }, Readable.from(body()))
    },
    formOf: async (url, action = url) => fieldsOf(formAt((await send(url)).body, action)),
    call: async (method, url, body) =>
      request(
        method,
        url,
        {
          accept: 'application/json',
          'x-requested-with': 'a program',
          ...(body !== undefined && { 'content-type': 'application/json' }),
        },
        body === undefined ? undefined : JSON.stringify(body),
      ),
  }
}

/** A form of a page: where its buttons send it, and what a browser would send, the token included. */
export interface ShownForm {
  readonly method: string
  readonly actions: readonly string[]
  readonly fields: Readonly<Record<string, string>>
}

export function formsAt(page: string): ShownForm[] {
  return (page.match(/<form\b[\s\S]*?<\/form>/g) ?? []).map((form) => {
    const others = [...form.matchAll(/\sformaction="([^"]*)"/g)].map(([, address = '']) => unescaped(address))
    const [, _csrf = ''] = hiddenFields(form).find(([name]) => name === '_csrf') ?? []
    return {
      method: attribute(form, 'method') || 'get',
      actions: [...new Set([attribute(form, 'action'), ...others].map(withoutFragment))],
      fields: { ...fieldsOf(form), ...(_csrf && { _csrf }) },
    }
  })
}

/** The addresses of the server's own that a page leads to: its links, and where its fields look records up. */
export function linksAt(page: string): string[] {
  const links = [...page.matchAll(/<a\b[^>]*?\shref="(\/[^"]*)"/g)].map(([, address = '']) => unescaped(address))
  const searches = [...page.matchAll(/\sdata-search="([^"]*)"/g)].map(([, address = '']) => `${unescaped(address)}?q=a`)
  return [...new Set([...links, ...searches].map(withoutFragment))]
}

function withoutFragment(address: string): string {
  return address.replace(/#.*$/, '')
}

/** The text of the form that posts to `action`. */
function formAt(page: string, action: string): string {
  const forms = page.match(/<form\b[\s\S]*?<\/form>/g) ?? []
  const found = forms.find((form) => attribute(form, 'action') === action)
  if (found === undefined) throw new Error(`The page has no form that posts to ${action}: ${page.slice(0, 2_000)}`)
  return found
}

function hiddenFields(form: string): [string, string][] {
  const inputs = form.match(/<input\b[^>]*>/g) ?? []
  return inputs
    .filter((input) => attribute(input, 'type') === 'hidden')
    .map((input) => [attribute(input, 'name'), attribute(input, 'value')])
}

/** The fields of the form in a page that posts to `action`, as a browser would send them, the token aside. */
export function fieldsAt(page: string, action: string): Record<string, string> {
  return fieldsOf(formAt(page, action))
}

function fieldsOf(form: string): Record<string, string> {
  const fields: Record<string, string> = {}
  for (const [input] of form.matchAll(/<input\b[^>]*>/g)) {
    const isTicked = !['checkbox', 'radio'].includes(attribute(input, 'type')) || /\schecked\b/.test(input)
    if (isTicked) fields[attribute(input, 'name')] = attribute(input, 'value')
  }
  for (const [, name = '', text = ''] of form.matchAll(
    /<textarea\b[^>]*?\sname="([^"]*)"[^>]*>([\s\S]*?)<\/textarea>/g,
  )) {
    // HTML leaves out a line break that a text begins with.
    fields[name] = unescaped(text).replace(/^\r?\n/, '')
  }
  for (const [, name = '', options = ''] of form.matchAll(
    /<select\b[^>]*?\sname="([^"]*)"[^>]*>([\s\S]*?)<\/select>/g,
  )) {
    const chosen = /<option\b[^>]*\sselected[^>]*>/.exec(options) ?? /<option\b[^>]*>/.exec(options)
    fields[name] = attribute(chosen?.[0] ?? '', 'value')
  }
  const { _csrf, ...others } = fields
  return others
}

function attribute(element: string, name: string): string {
  return unescaped(new RegExp(`\\s${name}="([^"]*)"`).exec(element)?.[1] ?? '')
}

/** The text that HTML writes so. */
export function unescaped(text: string): string {
  return text
    .replaceAll('&quot;', '"')
    .replaceAll('&#39;', "'")
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&')
}

/** What a page, or a part of it, says: its words without elements, on one line. */
export function textOf(html: string): string {
  return html
    .replaceAll(/<[^>]*>/g, ' ')
    .replaceAll(/\s+/g, ' ')
    .trim()
}
