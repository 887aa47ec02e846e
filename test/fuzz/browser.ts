import { formsIn, type HtmlForm, linksIn } from './html-forms.ts'
import type { Installation } from './installation.ts'
import type { FuzzAnswer } from './requests.ts'

/** Somebody signed in, as pages and forms know them. */
export interface Browser {
  readonly cookie: () => string
  readonly open: (path: string) => Promise<FuzzAnswer>
  readonly submit: (form: HtmlForm, fields: Readonly<Record<string, string>>) => Promise<FuzzAnswer>
}

export function openBrowser({ send }: Installation): Browser {
  const cookies = new Map<string, string>()
  const cookie = () => [...cookies].map((pair) => pair.join('=')).join('; ')
  const request = async (method: string, path: string, body: string | null): Promise<FuzzAnswer> => {
    const type = body === null ? [] : ([['content-type', 'application/x-www-form-urlencoded']] as const)
    const headers = [['accept', 'text/html'], ['cookie', cookie()], ...type] as const
    const answer = await send({ method, path, headers, body: body === null ? null : Buffer.from(body) })
    for (const line of [answer.headers['set-cookie'] ?? []].flat()) {
      const [, name = '', value = ''] = /^([^=]+)=([^;]*)/.exec(line) ?? []
      cookies.set(name, value)
    }
    return answer
  }
  return {
    cookie,
    open: (path) => request('GET', path, null),
    submit: (form, fields) => {
      const all = new URLSearchParams(form.fields.map(([name, value]): [string, string] => [name, value]))
      for (const [name, value] of Object.entries(fields)) all.set(name, value)
      return request('POST', form.action, all.toString())
    },
  }
}

/** Throws when the sign-in is refused. */
export async function signIn(browser: Browser, path: string, fields: Readonly<Record<string, string>>): Promise<void> {
  const [form] = formsIn((await browser.open(path)).body.toString(), path)
  if (form === undefined) throw new Error(`${path} has no form`)
  const { status, body } = await browser.submit(form, fields)
  if (status !== 303) throw new Error(`${path} answered ${status}: ${body}`)
}

const PAGES_MAX = 80
/** Of addresses that differ in numbers and queries alone. */
const ALIKE_MAX = 3

/** The pages that lead on from `start` by links below it, and their forms. */
export async function crawl(
  browser: Browser,
  start: string,
  first: readonly string[],
): Promise<{ pages: string[]; forms: HtmlForm[] }> {
  const waiting = [...first]
  const alike = new Map<string, number>()
  const pages: string[] = []
  const forms = new Map<string, HtmlForm>()
  for (let path = waiting.shift(); path !== undefined && pages.length < PAGES_MAX; path = waiting.shift()) {
    const kind = path.replace(/\d+/g, '0').replace(/\?.*/, '?')
    const seen = alike.get(kind) ?? 0
    alike.set(kind, seen + 1)
    if (seen >= ALIKE_MAX || pages.includes(path)) continue
    const { status, headers, body } = await browser.open(path)
    if (status >= 400 || !/html|css|javascript/.test(String(headers['content-type']))) continue
    pages.push(path)
    const html = body.toString()
    for (const form of formsIn(html, path)) {
      const names = form.fields.map(([name, value]) => (name === 'decision' ? `${name}=${value}` : name))
      forms.set(`${form.action.replace(/\d+/g, '0')} ${names.join()}`, form)
    }
    waiting.push(...linksIn(html).filter((link) => link.startsWith(start)))
  }
  return { pages, forms: [...forms.values()] }
}
