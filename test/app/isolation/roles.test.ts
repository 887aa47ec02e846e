import { beforeAll, describe, expect, test } from 'vitest'
import { guardedRoutes } from '../../support/guarded-routes.ts'
import { formsAt, linksAt, type TestPerson } from '../../support/person.ts'
import { memberIn } from '../../support/signed-in.ts'
import { sharedServer } from '../../support/store.ts'
import { filled, identifiersAt } from './identifiers.ts'
import { allRoles, mayUse, ownRoles, routeOf } from './roles.ts'
import { dumpOf, openSide } from './two-stores.ts'

// What a role of a store may not do is refused at every address, whatever a page shows, and changes nothing.

const server = await sharedServer()
const side = await openSide(server)
const people = new Map<string, TestPerson>()
for (const { role } of allRoles) {
  const own = ownRoles.find(({ Name }) => Name === role)
  people.set(role, await memberIn(server, side, own ?? (role as 'owner')))
}
const before = await dumpOf(server, side)

const all = await guardedRoutes()
/** Those that a session is needed for. */
const routes = all.filter(({ allowed }) => allowed.includes('merchant') && !allowed.includes('anyone'))
const addressOf = (path: string, isKnown = true) => filled(path.replace('*', 'nowhere'), isKnown ? side : null)

function personOf(role: string): TestPerson {
  return people.get(role) as TestPerson
}

test('the addresses of this test name what exists', async () => {
  const owner = personOf('owner')
  for (const { method, url } of routes) {
    // The return of `openSide` is of another order, and its import of a file; a guest is named by the query.
    const others = [':rmaId', 'credit-notes', '/admin/csv/:id/change', '/guests/data']
    const isOther = others.some((other) => url.includes(other))
    if (method !== 'GET' || identifiersAt(url) === null || isOther) continue
    expect([url, (await owner.open(addressOf(url))).statusCode]).toEqual([url, 200])
  }
})

describe('refused', () => {
  test.each(allRoles)('to $role, is what its privileges do not include', async ({ role, privileges }) => {
    const person = personOf(role)
    for (const route of routes.filter((each) => !mayUse(privileges, each, each.url))) {
      const { method, url } = route
      const { statusCode } = await person.call(method, addressOf(url), method === 'GET' ? undefined : {})
      expect([method, url, statusCode]).toEqual([method, url, 403])
    }
  })

  describe('is every form that an owner is shown, sent by those who may not', () => {
    let forms: ReadonlyMap<string, Record<string, string>>

    beforeAll(async () => {
      forms = await formsOf(personOf('owner'))
      expect(forms.size).toBeGreaterThan(60)
    })

    test.each(allRoles)('$role', async ({ role, privileges }) => {
      const person = personOf(role)
      const page = '/admin/records'
      const [{ fields: { _csrf = '' } = {} } = {}] = formsAt((await person.open(page)).body)
      for (const [address, fields] of forms) {
        const route = routeOf(all, 'POST', address)
        if (route === undefined) throw new Error(`No route takes the form that is sent to ${address}`)
        if (mayUse(privileges, route, address)) continue
        const sent = await person.submit(page, { ...fields, _csrf }, { action: '/admin/sign-out', to: address })
        expect([address, sent.statusCode]).toEqual([address, 403])
      }
    })
  })

  test('and it has changed nothing', async () => {
    const { AuditEntry = [], ...others } = await dumpOf(server, side)
    // That the owner has read a person's data is noted.
    const noted = AuditEntry.filter((row) => !row.includes('"customer.data-read"'))
    expect({ ...others, AuditEntry: noted }).toEqual(before)
  })
})

/** The forms of all pages whose address is known, by where they are sent, with what a browser sends. */
async function formsOf(owner: TestPerson): Promise<ReadonlyMap<string, Record<string, string>>> {
  const forms = new Map<string, Record<string, string>>()
  const known = routes.filter(({ method }) => method === 'GET').map(({ url }) => addressOf(url))
  const sections = [...side.records.keys()].map((service) => addressOf(`/admin/${service.toLowerCase()}/:id`))
  const more = await Promise.all(sections.map(async (address) => linksAt((await owner.open(address)).body)))
  for (const address of new Set([...known, ...more.flat().filter((link) => link.includes('?section='))])) {
    for (const { method, actions, fields } of formsAt((await owner.open(address)).body)) {
      if (method === 'post') for (const action of actions) forms.set(action, fields)
    }
  }
  return forms
}

// Of forms, what there never was is asked for: those whom the guard lets in find nothing that could be carried out.
test.each(allRoles)('let in is $role, wherever the privileges suffice', async ({ role, privileges }) => {
  const person = personOf(role)
  for (const route of routes.filter((each) => mayUse(privileges, each, each.url))) {
    const { method, url } = route
    if (url.endsWith('/sign-out')) continue
    const isRead = method === 'GET'
    const { statusCode } = await person.call(method, addressOf(url, isRead), isRead ? undefined : {})
    expect([method, url, statusCode === 403]).toEqual([method, url, false])
  }
})
