import type { LightMyRequestResponse } from 'fastify'
import { describe, expect, test } from 'vitest'
import { subscribe } from '../../../src/access/applications/subscriptions/subscriptions.ts'
import { openApiDocument } from '../../../src/app.ts'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import { readConfig } from '../../../src/foundation/process/settings.ts'
import { readModel } from '../../../src/http/soap/model.ts'
import { servedResources } from '../../../src/shop/registry.ts'
import { operator } from '../../support/actors.ts'
import { guardedRoutes } from '../../support/guarded-routes.ts'
import { readOpenApi } from '../../support/openapi.ts'
import type { TestPerson } from '../../support/person.ts'
import { type Method, sharedServer } from '../../support/store.ts'
import { idPath } from '../conformance/answers.ts'
import { valuesOf, withValue } from '../conformance/paths.ts'
import { nextSeed } from '../conformance/records.ts'
import { isReference } from '../conformance/samples.ts'
import { fixtureOf } from '../conformance/stage.ts'
import { callStatus, post } from '../http/oauth/fixture.ts'
import { defaultNamespace, envelope, post as postSoap, request } from '../http/soap/support.ts'
import { told } from './compared.ts'
import { type Id, identifiersAt, shared, UNKNOWN } from './identifiers.ts'
import { dumpOf, FIRST_AWAY_ID, openSide, type Side } from './two-stores.ts'

// What belongs to one store does not exist for another one: at every address the answer is the same as for something that there
// never was, and nothing of the other store changes.

const server = await sharedServer({ DEVELOPER_SIGNUP: 'open' }, undefined, { fill: async () => {} })
const home = await openSide(server)
const away = await openSide(server, FIRST_AWAY_ID)
let before = await dumpOf(server, away)

interface Operation {
  readonly method: Method
  /** With `:name` for identifiers. */
  readonly path: string
  readonly body: unknown
  readonly send: (method: Method, path: string, body: unknown) => Promise<LightMyRequestResponse>
}

const api = readOpenApi(openApiDocument(readConfig({})))

/** The operations of REST, with the bodies that the document shows. */
const rest = api.addresses
  .filter(({ item }) => !('servers' in item.value))
  .flatMap(({ path, operations }) =>
    [...operations].map(([method, operation]): Operation => {
      const json = api.member(operation, 'requestBody', 'content', 'application/json')
      return {
        method: method as Method,
        path: path.replace(/\{(\w+)\}/g, ':$1'),
        body: json?.value.example,
        // Examples name records of the sandbox, and answers are compared with each other here.
        send: (to, at, body) =>
          server.app.inject({
            method: to as 'GET',
            url: `/StoreWebAPI/v1${at}`,
            headers: { ...home.credentials, ...(body !== undefined && { 'content-type': 'application/json' }) },
            ...(body !== undefined && { payload: JSON.stringify(body) }),
          }),
      }
    }),
  )

/** The operations of pages, forms and the operator, each by everybody who may use it. */
const guardedAll = (await guardedRoutes()).filter(
  ({ url, allowed }) => !url.includes(':') && !allowed.includes('operator'),
)

/** What a form takes before it looks for what its address names. */
const formBodies: Readonly<Record<string, object>> = {
  'POST /admin/customers/:id/notes': { Note: 'Rings twice' },
  'POST /admin/people/:id': { Role: 'orders' },
  'POST /admin/modules/rest-api/:subscriptionId/bodies': { Keep: 'true' },
  'POST /admin/modules/rest-api/:subscriptionId/orders': { OrdersPerHour: '5' },
  'POST /admin/people/roles/:id': { Name: 'Packer', 'Privileges.Orders': 'read' },
}

const guarded = (await guardedRoutes()).flatMap(({ method, url, allowed }) =>
  allowed
    // Operators see every store, and no secret of any (test/app/http/pages/operator).
    .filter((role) => role !== 'anyone' && role !== 'operator')
    .map((role): Operation & { readonly role: string } => ({
      method,
      path: url,
      role,
      body: method === 'GET' ? undefined : exampleOf(method, url),
      send: (to, at, body) =>
        role === 'operator-key' ? server.operate(to, at, body) : personOf(role).call(to as 'GET', at, body),
    })),
)

/** What the document shows for a JSON route; of a form its required fields, as far as what it names is looked for after them. */
function exampleOf(method: string, url: string): unknown {
  const address = api.addresses.find(({ path }) => path === url.replace(/:(\w+)/g, '{$1}'))
  const json = api.member(address?.operations.get(method), 'requestBody', 'content', 'application/json')
  return json?.value.example ?? formBodies[`${method} ${url}`] ?? {}
}

function personOf(role: string): TestPerson {
  return { merchant: home.merchant, developer: home.developer, customer: home.customer }[role] as TestPerson
}

const naming = <T extends Operation>(operations: readonly T[]) =>
  operations.filter(
    ({ path }) => path.includes(':') && !shared.some((one) => path === one || path.startsWith(`${one}/`)),
  )

test('every address that names something has a row in the table', () => {
  const unlisted = naming([...rest, ...guarded]).filter(({ path }) => identifiersAt(path) === null)
  expect(unlisted.map(({ method, path }) => `${method} ${path}`)).toEqual([])
})

describe('what an address names in the other store is answered as what there never was', () => {
  test.each(naming(rest))('$method $path', async (operation) => {
    await expectUnknown(operation)
  })

  // The operator names every store, so that only what lies in another store than the one named is foreign.
  const foreign = naming(guarded).filter(({ role, path }) => role !== 'operator-key' || path.split(':').length > 2)
  test.each(foreign)('$method $path, by a $role', async (operation) => {
    await expectUnknown(operation)
  })

  test('and of the other store nothing has changed', expectUntouched)
})

/** Each identifier of the address in turn is the other store's; those before it are the home store's, and once the other's too. */
async function expectUnknown({ method, path, body, send }: Operation): Promise<void> {
  const names = [...path.matchAll(/:\w+/g)].map(({ 0: name, index }) => ({
    name,
    prefix: path.slice(0, index + name.length),
  }))
  const ids = (side: Side) => names.map(({ prefix }) => identifiersAt(prefix)?.(side)[0] ?? 0)
  const [own, others, none] = [ids(home), ids(away), names.map((): Id => UNKNOWN)]
  const last = names.length - 1
  const isOfOperator = path.startsWith('/admin/stores/:id') && names.length > 1
  // Some items are numbered within their record, so that the first of the one is not foreign to the other.
  const isForeign = !identifiersAt(path)?.(home).includes(others[last] as Id)
  const pairs = [
    ...(isOfOperator ? [] : [[others, none]]),
    ...(isForeign ? [[own.with(last, others[last] as Id), own.with(last, UNKNOWN)]] : []),
  ]
  for (const [theirs = [], unknown = []] of pairs) {
    const ask = async (given: readonly Id[]) => {
      const at = names.reduce(
        (rest, { name }, index) => rest.replace(name, encodeURIComponent(String(given[index]))),
        path,
      )
      return told(await send(method, at, body), given)
    }
    const answer = await ask(theirs)
    expect(answer).toEqual(await ask(unknown))
    expect(answer.status).toBe(404)
  }
}

async function expectUntouched(): Promise<void> {
  expect(await dumpOf(server, away)).toEqual(before)
}

describe('of the lists of REST', () => {
  const lists = rest.filter(({ method, path }) => method === 'GET' && !path.includes(':'))

  test.each(lists)('$path holds nothing of the other store, whatever is asked for', async ({ path, send }) => {
    const others = [...away.records.values()].map(({ id }) => id).filter((id) => id > FIRST_AWAY_ID)
    for (const query of ['', '?limit=500', '?offset=1', '?cursor=1', `?cursor=${FIRST_AWAY_ID - 1}`]) {
      const { statusCode, body, headers } = await send('GET', `${path}${query}`, undefined)
      expect([query, [200, 400].includes(statusCode)]).toEqual([query, true])
      // The log of calls repeats the identifiers that the caller itself asked for above.
      const said = body.replaceAll(/"(Path|Message)":"[^"]*"/g, '') + JSON.stringify(headers)
      expect(others.filter((id) => new RegExp(`\\b${id}\\b`).test(said))).toEqual([])
      expect(body).not.toContain(new URL(away.store.secureUrl).host)
    }
  })

  test.each(servedResources)(
    '$service is filtered by a value of the other store as by one that there never was',
    async (resource) => {
      const { service, idParam, filters } = resource
      const kinds = [[idParam, 'number'], ...Object.entries(filters).map(([name, { kind }]) => [name, kind])]
      const values = kinds.flatMap(([name = '', kind]) => valuesFor(service, name, kind === 'text'))
      for (const [filter, theirs, unknown] of values) {
        const ask = async (value: Id) => {
          const query = `?${filter}=${encodeURIComponent(value)}`
          return told(
            await server.app.inject({ url: `/StoreWebAPI/v1/${service}${query}`, headers: home.credentials }),
            [value],
          )
        }
        expect([filter, theirs, await ask(theirs)]).toEqual([filter, theirs, await ask(unknown)])
      }
    },
  )

  test.each(lists)('$path takes a cursor of the other store for one behind its own end', async ({ path, send }) => {
    // The log of calls is written in the background.
    await server.services.callLog.flush()
    const at = async (cursor: number) => told(await send('GET', `${path}?cursor=${cursor}`, undefined), [cursor])
    const cursor = Math.max(...[...away.records.values()].map(({ id }) => id))
    expect(await at(cursor)).toEqual(await at(cursor + 1_000))
  })
})

const TEXT_LENGTH_MAX = 60

/** Values of the other store's record that the home store's records do not have, each beside one that no store has. */
function valuesFor(
  service: string,
  filter: string,
  isOfTexts: boolean,
): (readonly [filter: string, theirs: Id, unknown: Id])[] {
  const { id = 0, record = {} } = away.records.get(service) ?? {}
  const own = JSON.stringify([...home.records.values()])
  const texts = Object.values(record).filter((value): value is string => typeof value === 'string' && value !== '')
  const foreign = texts.filter(
    (text) => isOfTexts && text.length <= TEXT_LENGTH_MAX && !own.includes(JSON.stringify(text)),
  )
  const ids = id > FIRST_AWAY_ID ? [[filter, id, UNKNOWN] as const] : []
  return [...ids, ...foreign.map((text) => [filter, text, [...text].reverse().join('')] as const)]
}

describe('headers that speak of the other store', () => {
  const records = servedResources.filter(({ service }) => service !== 'OrderStatus')

  test.each(records)('an entity tag of $service is one that the home store never had', async ({ service, methods }) => {
    const path = (side: Side) => `/StoreWebAPI/v1/${service}/${side.records.get(service)?.id}`
    const theirs = await server.app.inject({ url: path(away), headers: away.credentials })
    const tags = [String(theirs.headers.etag), '"0000"']
    const [given, invented] = await Promise.all(
      tags.map(async (tag) => {
        const read = await server.app.inject({
          url: path(home),
          headers: { ...home.credentials, 'if-none-match': tag },
        })
        const change = methods.includes('PUT')
          ? await server.app.inject({
              method: 'PUT',
              url: path(home),
              headers: { ...home.credentials, 'if-match': tag },
              payload: {},
            })
          : null
        return [told(read, [tag]), change && told(change, [tag])]
      }),
    )
    expect(given).toEqual(invented)
  })

  test.each(records.filter(({ methods }) => methods.includes('POST')))(
    'an Idempotency-Key that the other store used to add to $service is a new one, of the same application too',
    async ({ service }) => {
      const body = fixtureOf(servedResources.find((one) => one.service === service) as Resource).minimal(
        nextSeed('odd'),
      )
      const { token } = await subscribe(server.services, {
        storeId: home.store.id,
        publicKey: away.application.publicKey,
        actor: operator,
      })
      const sameApplication = { ...away.credentials, secureurl: home.credentials.secureurl, token }
      const headers = [away.credentials, home.credentials, sameApplication]
      const bodies = [
        body,
        body,
        fixtureOf(servedResources.find((one) => one.service === service) as Resource).minimal(nextSeed('odd')),
      ]
      const added: LightMyRequestResponse[] = []
      for (const [index, credentials] of headers.entries()) {
        const sent = { ...credentials, 'idempotency-key': `of the other store, ${service}`.replaceAll(' ', '-') }
        added.push(
          await server.app.inject({
            method: 'POST',
            url: `/StoreWebAPI/v1/${service}`,
            headers: sent,
            payload: bodies[index] ?? {},
          }),
        )
      }
      expect(added.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201])
      expect(added.map(({ headers: answered }) => answered['idempotency-replayed'])).toEqual([
        undefined,
        undefined,
        undefined,
      ])
      before = await dumpOf(server, away)
    },
  )

  test('credentials of two stores together are no credentials', async () => {
    const names = ['secureurl', 'privatekey', 'token'] as const
    const wrong = { secureurl: 'https://nobody.example', privatekey: 'f'.repeat(32), token: 'e'.repeat(32) }
    for (const name of names) {
      const ask = async (value: string) => {
        const headers = { ...home.credentials, [name]: value }
        return told(await server.app.inject({ url: '/StoreWebAPI/v1/Products', headers }), [value])
      }
      const answer = await ask(away.credentials[name])
      expect([name, answer]).toEqual([name, await ask(wrong[name])])
      expect(answer.status).toBe(401)
    }
    const bearer = async (given: Record<string, string>) => {
      const headers = { authorization: `Bearer ${away.accessToken}`, ...given }
      return (await server.app.inject({ url: '/StoreWebAPI/v1/Products', headers })).statusCode
    }
    expect(await bearer({})).toBe(200)
    expect(await bearer({ secureurl: home.store.secureUrl })).toBe(401)
    expect(await bearer({ privatekey: home.application.privateKey })).toBe(401)
  })

  test('and of the other store nothing has changed', expectUntouched)
})

describe('what a body names in the other store', () => {
  const changed = servedResources.filter(({ methods, service }) => methods.includes('PUT') && service !== 'OrderStatus')

  test.each(changed)('$service: as the record of a list of changes', async (resource) => {
    if (!resource.changesMany) return
    const [, record] = [resource, away.records.get(resource.service)]
    const put = async (id: number) => {
      const payload = JSON.stringify([withValue({}, idPath(resource), id)])
      const headers = { ...home.credentials, 'content-type': 'application/json' }
      return told(
        await server.app.inject({ method: 'PUT', url: `/StoreWebAPI/v1/${resource.service}`, headers, payload }),
        [id],
      )
    }
    expect(await put(record?.id ?? 0)).toEqual(await put(UNKNOWN))
  })

  test.each(changed)('$service: as the record that a field refers to', async (resource) => {
    const own = home.records.get(resource.service)?.id
    const references = valuesOf(resource.fields).filter(({ field }) => isReference(field))
    for (const { path, body } of references) {
      const put = async (id: number) => {
        const headers = { ...home.credentials, 'content-type': 'application/json' }
        const url = `/StoreWebAPI/v1/${resource.service}/${own}`
        return told(await server.app.inject({ method: 'PUT', url, headers, payload: JSON.stringify(body(id)) }), [id])
      }
      const answers = [...away.records.values()].map(({ id }) => id).filter((id) => id > FIRST_AWAY_ID)
      for (const id of answers) expect([path, await put(id)]).toEqual([path, await put(UNKNOWN)])
    }
  })

  test('and of the other store nothing has changed', expectUntouched)
})

/** What pages and routes without an identifier in their address take, if that can name something of a store. */
const fields: Readonly<Record<string, (side: Side | null) => Record<string, unknown>>> = {
  'POST /admin/change-store': (side) => ({ UserId: side?.userId ?? UNKNOWN }),
  'POST /admin/account/sessions': (side) => ({ Session: side?.merchantSession ?? UNKNOWN }),
  'POST /developers/account/sessions': (side) => ({ Session: side?.developerSession ?? UNKNOWN }),
  'POST /admin/account/end-token': (side) => ({ Token: side?.merchantToken ?? UNKNOWN }),
  'POST /developers/account/end-token': (side) => ({ Token: side?.developerToken ?? UNKNOWN }),
  'POST /admin/orders': (side) => ({
    CustomerID: idIn(side, 'Customers'),
    Lines: 1,
    'ItemID.1': skuIn(side),
    'ItemQuantity.1': 1,
  }),
  'POST /admin/products': (side) => ({
    'SKUInfo.SKU': 'NEW',
    'SKUInfo.Name': 'New',
    ManufacturerID: String(idIn(side, 'Manufacturers')),
    AllowAccessCustomerGroupID: String(idIn(side, 'CustomerGroups')),
  }),
  'POST /admin/customers': (side) => ({
    Email: 'new@customers.example',
    Password: 'secret',
    CustomerGroupID: String(idIn(side, 'CustomerGroups')),
  }),
  'POST /admin/category': (side) => ({ CategoryName: 'New', CategoryParent: String(idIn(side, 'Category')) }),
  'POST /admin/products/new': (side) => ({
    ManufacturerID: String(idIn(side, 'Manufacturers')),
    lookup: 'ManufacturerID',
  }),
  'POST /admin/customers/new': (side) => ({
    CustomerGroupID: String(idIn(side, 'CustomerGroups')),
    lookup: 'CustomerGroupID',
  }),
  'POST /admin/category/new': (side) => ({ CategoryParent: String(idIn(side, 'Category')), lookup: 'CategoryParent' }),
  'POST /admin/rma': (side) => ({ OrderID: String(idIn(side, 'Orders')) }),
  'POST /admin/orders/bulk/status': (side) => ({ ids: String(idIn(side, 'Orders')), OrderStatusID: '5' }),
  'POST /admin/products/bulk': (side) => ({ ids: String(idIn(side, 'Products')) }),
  'POST /admin/orders/bulk/slips': (side) => ({ ids: String(idIn(side, 'Orders')), kind: 'invoice' }),
  'POST /admin/orders/bulk/file': (side) => ({ ids: String(idIn(side, 'Orders')) }),
  'POST /admin/orders/new': (side) => ({ Lines: 1, 'ItemID.1': skuIn(side), 'ItemQuantity.1': 1 }),
}

/** Those that name nothing, or only what is everybody's, such as the public key of an application. */
const nameless = `
GET /  GET /llms.txt  GET /.well-known/security.txt  GET /docs  GET /docs/*  GET /docs/search  OPTIONS /docs  OPTIONS /docs/*  GET /account  GET /account/sign-in  POST /account/sign-in/link  GET /admin  GET /admin/account  GET /admin/applications  GET /admin/audit  GET /admin/change-store
GET /admin/developers  GET /admin/modules/cartapi  GET /admin/modules/rest-api  GET /admin/modules/rest-api/subscribe  GET /admin/orders
GET /admin/orders/lines.csv  GET /admin/orders/new  GET /admin/orders/products  GET /admin/orders/slips  GET /admin/products  GET /admin/closed  POST /admin/closed  GET /admin/settings/close  POST /admin/settings/close  GET /admin/settings  GET /admin/settings/carriers  POST /admin/settings/carriers  GET /admin/settings/documents  GET /admin/settings/mails  GET /admin/settings/mails/preview  POST /admin/settings/mails  POST /admin/settings/mails/preview  POST /admin/settings/mails/reply-to  GET /admin/settings/order-statuses  GET /admin/settings/payment-methods  GET /admin/settings/returns  GET /admin/settings/shipping  GET /admin/settings/taxes
GET /admin/category  GET /admin/category/new  GET /admin/customergroups  GET /admin/customergroups/new  GET /admin/customers
GET /admin/customers/new  GET /admin/distributors  GET /admin/distributors/new  GET /admin/giftregistries  GET /admin/giftregistries/new
GET /admin/history  GET /admin/outbox
GET /admin/people  POST /admin/people/invitations  GET /admin/people/roles/new  POST /admin/people/roles
GET /operator/reset  POST /operator/reset  POST /operator/reset/password  POST /admin/operators  POST /admin/account/alerts
POST /admin/account/language  POST /developers/account/language  POST /admin/account/name  POST /developers/account/name
GET /docs/client.tgz  GET /account/tokens  POST /account/tokens  GET /developers/account/tokens  POST /developers/account/tokens  POST /admin/account/new-token  POST /developers/account/new-token
GET /admin/invitations  POST /admin/invitations  POST /admin/invitations/accept  GET /admin/reset  POST /admin/reset  POST /admin/reset/password
GET /developers/reset  POST /developers/reset  POST /developers/reset/password
GET /admin/account/address  POST /admin/account/address  POST /admin/account/address/change  POST /admin/account/join
GET /developers/account/address  POST /developers/account/address  POST /developers/account/address/change
GET /admin/manufacturers  GET /admin/manufacturers/new  GET /admin/orderstatus  GET /admin/products/new  GET /admin/records  GET /admin/rma
GET /admin/rma/new
GET /admin/categories/tree  GET /admin/category/export  GET /admin/customergroups/export  GET /admin/customers/export  GET /admin/distributors/export
GET /admin/giftregistries/export  GET /admin/manufacturers/export  GET /admin/orders/export  GET /admin/orderstatus/export
GET /admin/products/export  GET /admin/rma/export
GET /admin/category/search  GET /admin/customergroups/search  GET /admin/customers/search  GET /admin/distributors/search
GET /admin/manufacturers/search  GET /admin/products/search
GET /admin/csv  GET /admin/category/csv  GET /admin/category/csv/template  POST /admin/category/csv
GET /admin/customergroups/csv  GET /admin/customergroups/csv/template  POST /admin/customergroups/csv
GET /admin/customers/csv  GET /admin/customers/csv/template  POST /admin/customers/csv  GET /admin/distributors/csv
GET /admin/distributors/csv/template  POST /admin/distributors/csv  GET /admin/giftregistries/csv
GET /admin/giftregistries/csv/template  POST /admin/giftregistries/csv  GET /admin/manufacturers/csv
GET /admin/manufacturers/csv/template  POST /admin/manufacturers/csv  GET /admin/orders/csv  GET /admin/orders/csv/template
POST /admin/orders/csv  GET /admin/products/csv  GET /admin/products/csv/template  POST /admin/products/csv
GET /admin/rma/csv  GET /admin/rma/csv/template  POST /admin/rma/csv
POST /admin/customergroups  POST /admin/distributors  POST /admin/giftregistries  POST /admin/manufacturers
POST /admin/manufacturers/new
GET /admin/payments  GET /admin/payments.csv  GET /admin/payments/closing  POST /admin/payments/closing
GET /admin/reports  GET /admin/reports.csv
GET /admin/search  GET /admin/search/suggestions
POST /admin/category/views  POST /admin/category/views/delete  POST /admin/customergroups/views  POST /admin/customergroups/views/delete
POST /admin/customers/views  POST /admin/customers/views/delete  POST /admin/distributors/views  POST /admin/distributors/views/delete
POST /admin/giftregistries/views  POST /admin/giftregistries/views/delete  POST /admin/manufacturers/views  POST /admin/manufacturers/views/delete
POST /admin/orders/views  POST /admin/orders/views/delete  POST /admin/orderstatus/views  POST /admin/orderstatus/views/delete
POST /admin/products/views  POST /admin/products/views/delete  POST /admin/rma/views  POST /admin/rma/views/delete
GET /admin/sign-in  GET /admin/stores  GET /admin/webhooks  GET /admin/webhooks/new  GET /developers  GET /developers/account
GET /developers/applications  GET /developers/applications/new  GET /developers/audit  GET /developers/sign-in  GET /developers/sign-up
GET /oauth/authorize  GET /account/*  GET /admin/*  GET /developers/*
POST /account/sign-in  POST /account/sign-out  POST /admin/account/password  POST /admin/applications  POST /admin/developers
POST /admin/modules/cartapi  POST /admin/modules/cartapi/user-key  POST /admin/modules/rest-api/subscribe  POST /admin/settings
POST /admin/settings/documents  POST /admin/settings/documents/logo  POST /admin/settings/order-statuses  POST /admin/settings/order-statuses/new  POST /admin/settings/payment-methods  POST /admin/settings/returns/methods  POST /admin/settings/returns/reasons  POST /admin/settings/returns/statuses  POST /admin/sign-in  POST /admin/sign-out  POST /admin/stores  POST /admin/settings/shipping  POST /admin/settings/taxes
POST /admin/webhooks  POST /developers/account/password  POST /developers/applications  POST /developers/sign-in  POST /developers/sign-out
POST /developers/sign-up  POST /oauth/authorize
GET /admin/account/factors  GET /admin/account/factors/authenticator  POST /admin/account/factors/authenticator  POST /admin/account/factors/authenticator/confirm
POST /admin/account/factors/authenticator/remove  POST /admin/account/factors/codes  POST /admin/account/factors/passkeys  POST /admin/account/factors/passkeys/options  POST /admin/account/factors/passkeys/remove
GET /admin/prove  POST /admin/prove  POST /admin/prove/passkey  POST /admin/prove/passkey/options
GET /admin/sign-in/factor  POST /admin/sign-in/factor  POST /admin/sign-in/factor/passkey  POST /admin/sign-in/factor/passkey/options  POST /admin/sign-in/passkey  POST /admin/sign-in/passkey/options
GET /developers/account/factors  GET /developers/account/factors/authenticator  POST /developers/account/factors/authenticator  POST /developers/account/factors/authenticator/confirm
POST /developers/account/factors/authenticator/remove  POST /developers/account/factors/codes  POST /developers/account/factors/passkeys  POST /developers/account/factors/passkeys/options  POST /developers/account/factors/passkeys/remove
GET /developers/prove  POST /developers/prove  POST /developers/prove/passkey  POST /developers/prove/passkey/options
GET /developers/sign-in/factor  POST /developers/sign-in/factor  POST /developers/sign-in/factor/passkey  POST /developers/sign-in/factor/passkey/options  POST /developers/sign-in/passkey  POST /developers/sign-in/passkey/options
GET /admin/people/security  POST /admin/people/security
GET /developers/test-stores  POST /developers/test-stores  GET /developers/inboxes  POST /developers/inboxes
GET /admin/settings/privacy  POST /admin/settings/privacy  GET /admin/settings/privacy/erase  POST /admin/settings/privacy/erase  GET /admin/settings/privacy/idle  POST /admin/settings/privacy/idle  GET /admin/settings/privacy/person
GET /admin/switches  PUT /admin/switches  GET /admin/mails
`
  .trim()
  .split(/\s{2,}|\n/)

function idIn(side: Side | null, service: string): number {
  return side?.records.get(service)?.id ?? UNKNOWN
}

/** Of the form of those that `openSide` gives. */
const NEVER_A_SKU = 'SKU-OF-STORE-999'

function skuIn(side: Side | null): string {
  return side === null ? NEVER_A_SKU : skuOf(side)
}

function skuOf({ records }: Side): string {
  const { SKUInfo } = records.get('Products')?.record ?? {}
  return (SKUInfo as { SKU: string }).SKU
}

describe('pages and routes whose address names nothing', () => {
  const routes = guarded.filter(({ path }) => !path.includes(':'))

  test('are all in the lists', () => {
    const known = [...Object.keys(fields), ...nameless]
    const all = [...new Set(guardedAll.map(({ method, url }) => `${method} ${url}`))]
    expect(all.toSorted()).toEqual(known.toSorted())
  })

  test.each(routes.filter(({ role, method }) => role !== 'operator-key' && method === 'GET'))(
    '$method $path shows a $role nothing of the other store',
    async ({ method, path, role }) => {
      for (const accept of ['text/html', 'application/json']) {
        const answer = await personOf(role).open(path.replace('*', 'nowhere'), { accept })
        const text = answer.body + JSON.stringify(answer.headers)
        const { store, application, token, client, accessToken } = away
        const host = new URL(store.secureUrl).host
        const secrets = [
          host,
          store.userKey,
          application.privateKey,
          application.own.PrivateKey,
          token,
          client.PrivateKey,
          accessToken,
        ]
        expect([method, path, secrets.filter((secret) => text.includes(secret))]).toEqual([method, path, []])
      }
    },
  )

  test.each(routes.filter(({ method, path }) => `${method} ${path}` in fields))(
    '$method $path takes what a field names in the other store for what there never was',
    async ({ method, path, send }) => {
      const bodyOf = fields[`${method} ${path}`] as (side: Side | null) => Record<string, unknown>
      const ask = async (side: Side | null) => {
        const body = bodyOf(side)
        return told(await send(method, path, body), Object.values(body).map(String))
      }
      expect(await ask(away)).toEqual(await ask(null))
    },
  )

  test('and of the other store nothing has changed', expectUntouched)
})

describe('OAuth', () => {
  test('takes the code and the token of another client for those that there never were', async () => {
    const { client } = home
    const ask = async (url: string, form: Record<string, string>, named: string) => {
      return told(await post(server, url, { ...form, client_id: client.PublicKey, client_secret: client.PrivateKey }), [
        named,
      ])
    }
    const exchange = (code: string) => ask('/oauth/token', { grant_type: 'authorization_code', code }, code)
    expect(await exchange(away.code)).toEqual(await exchange('f'.repeat(away.code.length)))
    const revoke = (token: string) => ask('/oauth/revoke', { token }, token)
    expect(await revoke(away.accessToken)).toEqual(await revoke('f'.repeat(32)))
    expect(await callStatus(server, { authorization: `Bearer ${away.accessToken}` })).toBe(200)
  })

  test('and of the other store nothing has changed', expectUntouched)
})

const model = await readModel({ namespaces: [defaultNamespace], address: 'http://server/cart.asmx' })

describe('cartAPI', () => {
  const operations = [...(model.operationsIn(defaultNamespace, '1.1')?.values() ?? [])]
  const common = ['storeUrl', 'userKey', 'callBackURL']

  test.each(operations)(
    '$name takes what a parameter names in the other store for what there never was',
    async ({ name, parameters }) => {
      const { record: customer } = away.records.get('Customers') ?? {}
      const theirs = {
        [skuOf(away)]: NEVER_A_SKU,
        [idIn(away, 'Customers')]: UNKNOWN,
        [idIn(away, 'Orders')]: UNKNOWN,
        [String(customer?.Email)]: 'nobody@there.example',
        [`email=${customer?.Email}`]: 'email=nobody@there.example',
        [`contactid===${idIn(away, 'Customers')}`]: `contactid===${UNKNOWN}`,
      }
      const whole = Object.fromEntries(
        parameters
          .filter(({ name: one }) => !common.includes(one))
          .map((one) => [one.name, plainValues[one.type] ?? '']),
      )
      for (const parameter of parameters.filter((one) => one.type === 'string' && !common.includes(one.name))) {
        for (const [given, unknown] of Object.entries(theirs)) {
          const ask = async (value: string) => {
            const body = request(home, name, { ...whole, ...actionFor(name), [parameter.name]: value })
            return told(await postSoap(server, envelope(body)), [value])
          }
          expect([parameter.name, given, await ask(given)]).toEqual([parameter.name, given, await ask(String(unknown))])
        }
      }
    },
  )

  test('a user key is that of its store alone', async () => {
    const ask = async (userKey: string) =>
      told(await postSoap(server, envelope(request(home, 'getProductCount', { userKey }))), [userKey])
    expect(await ask(away.store.userKey)).toEqual(await ask('f'.repeat(32)))
  })

  test('and of the other store nothing has changed', expectUntouched)
})

const plainValues: Readonly<Record<string, number | boolean>> = { int: 1, boolean: false }

/** What the operation does with the customer that is named: nothing but reading one could fit both. */
function actionFor(operation: string): Record<string, string> {
  return operation === 'editCustomer' ? { action: 'delete' } : {}
}
