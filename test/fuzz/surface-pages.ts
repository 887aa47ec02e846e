import { guardedRoutes } from '../support/guarded-routes.ts'
import type { Draw } from './draw.ts'
import type { HtmlForm } from './html-forms.ts'
import type { FuzzRequest } from './requests.ts'
import { type FuzzOperation, type Ground, nastyHeader, wellFormed } from './surface-openapi.ts'
import type { Role, Survey } from './survey.ts'
import { nastyNumber, nastyText } from './values.ts'

const roles = ['merchant', 'developer', 'operator', 'customer', 'nobody'] as const satisfies readonly Role[]

/** Every route of pages and forms that the application has, by the session that opens it. */
export async function pageOperations(): Promise<FuzzOperation[]> {
  const routes = (await guardedRoutes()).filter(({ allowed }) => !allowed.includes('operator-key'))
  return routes.map(({ method, url, allowed }) => {
    const visitors = roles.filter((role) => (role === 'nobody' ? allowed.includes('anyone') : allowed.includes(role)))
    const name = `${method} ${url}`
    return {
      name,
      kind: method === 'GET' ? 'page' : 'form',
      make: (draw, ground) => {
        const role = draw.oneOf(visitors)
        return method === 'GET'
          ? makePage(draw, ground, url, role, name)
          : makeForm(draw, ground, { method, url, role, name })
      },
    }
  })
}

function makePage(draw: Draw, { survey }: Ground, url: string, role: Role, operation: string): FuzzRequest {
  const mutations: string[] = []
  const known = survey.visited[role].pages.filter((page) => isAt(page, url))
  const path = known.length > 0 && draw.happens(75) ? draw.oneOf(known) : withIds(draw, url)
  const query = draw.happens(12) ? queryText(draw) : ''
  if (query !== '') mutations.push('query')
  return {
    operation,
    method: 'GET',
    path: `${path}${query}`,
    headers: browserHeaders(draw, survey, role, mutations),
    body: null,
    mutations,
  }
}

interface FormRoute {
  readonly method: string
  readonly url: string
  readonly role: Role
  readonly name: string
}

function makeForm(draw: Draw, ground: Ground, { method, url, role, name }: FormRoute): FuzzRequest {
  const { survey } = ground
  const mutations: string[] = []
  const forms = survey.visited[role].forms.filter(({ action }) => isAt(action, url))
  const form =
    forms.length > 0 ? draw.oneOf(forms) : { page: url, action: withIds(draw, url), fields: [['_csrf', 'x']] as const }
  const fields = alteredFields(draw, filledIn(draw, form, ground), mutations)
  // What ends the session that the other requests need is sent without it.
  const isEnding = /sign-out|\/sessions$|change-store|\/account\/password$|\/remove$/.test(url)
  if (isEnding) mutations.push('no session')
  const headers = browserHeaders(draw, survey, isEnding ? 'nobody' : role, mutations)
  const body = Buffer.from(new URLSearchParams(fields).toString())
  return {
    operation: name,
    method,
    path: form.action,
    headers: [...headers, ['content-type', 'application/x-www-form-urlencoded']],
    body,
    mutations,
  }
}

/** What nobody has filled in yet: names, a product, addresses that the server calls, and an account. */
function filledIn(draw: Draw, { fields }: Pick<HtmlForm, 'fields'>, ground: Ground): [string, string][] {
  const { installation, survey } = ground
  const { home, receiver } = installation
  const own: Readonly<Record<string, string>> = {
    Name: 'Filled in',
    Url: `${receiver}/ok`,
    'ItemID.1': String(draw.oneOf(survey.identifiers.get('catalogid') ?? [1])),
    'ItemQuantity.1': '1',
    BillingEmail: 'guest@fuzz.example',
    ...(draw.happens(50) ? home.account : { Email: 'a@b.example' }),
  }
  // A form places one order.
  const key = `${draw.int(1, 10_000_000)}`.padStart(8, '0')
  return fields.map(([name, value]) => [
    name,
    name === 'OneTimeKey' ? value.replace(/^.{8}/, key) : value === '' ? (own[name] ?? '') : value,
  ])
}

function alteredFields(draw: Draw, filled: [string, string][], mutations: string[]): [string, string][] {
  if (draw.happens(60) || filled.length === 0) return filled
  const [name, value] = draw.oneOf(filled)
  const kind = draw.int(0, 5)
  mutations.push(`field ${name}`)
  if (kind === 0) return filled.filter(([one]) => one !== name)
  if (kind === 1) return [...filled, [name, wellFormed(nastyText(draw))]]
  if (kind === 2) return [...filled, [wellFormed(nastyText(draw)).slice(0, 300), value]]
  const other = wellFormed(draw.happens(30) ? nastyNumber(draw) : nastyText(draw))
  return filled.map(([one, own]) => [one, one === name ? other : own])
}

function browserHeaders(draw: Draw, { visited }: Survey, role: Role, mutations: string[]): [string, string][] {
  const how = draw.int(1, 100)
  const accept: [string, string] = ['accept', how > 80 ? 'application/json' : 'text/html,application/xhtml+xml']
  if (how > 94) {
    mutations.push('session')
    return [accept, ['cookie', how > 97 ? visited[draw.oneOf(roles)].browser.cookie() : `${role}=${nastyHeader(draw)}`]]
  }
  return [accept, ['cookie', visited[role].browser.cookie()]]
}

/** Whether an address is one of a route, such as `/admin/orders/12?x=1` of `/admin/orders/:id`. */
function isAt(address: string, url: string): boolean {
  const pattern = url.replace(/[.*+?^$()|[\]\\]/g, '\\$&').replace(/:\w+/g, '[^/?]+')
  return new RegExp(`^${pattern}(\\?|$)`).test(address)
}

function withIds(draw: Draw, url: string): string {
  const id = () => (draw.happens(80) ? String(draw.int(1, 40)) : encodeURIComponent(wellFormed(nastyNumber(draw))))
  return url.replace(/:\w+/g, id).replace('*', 'nowhere')
}

function queryText(draw: Draw): string {
  const names = [
    'store',
    'next',
    'before',
    'page',
    'q',
    'limit',
    'status',
    'token',
    'code',
    'state',
    nastyText(draw).slice(0, 100),
  ]
  const pairs = Array.from({ length: draw.int(1, 3) }, () => [
    wellFormed(draw.oneOf(names)),
    wellFormed(nastyText(draw)).slice(0, 2_000),
  ])
  return `?${new URLSearchParams(pairs as [string, string][])}`
}
