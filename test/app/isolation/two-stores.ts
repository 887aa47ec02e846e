import { writeMail } from '../../../src/access/mail/write.ts'
import { inTransaction } from '../../../src/foundation/database/client.ts'
import { servedResources } from '../../../src/shop/registry.ts'
import { invite } from '../../../src/shop/staff/invitations.ts'
import { saveRole } from '../../../src/shop/staff/store-roles.ts'
import { operator } from '../../support/actors.ts'
import { type TestPerson, testPerson } from '../../support/person.ts'
import { customerIn, developerIn } from '../../support/signed-in.ts'
import type { TestServer } from '../../support/store.ts'
import type { Fixture } from '../conformance/fixtures.ts'
import { newWholeRecord } from '../conformance/records.ts'
import type { Wire } from '../conformance/samples.ts'
import { fixtureOf, openShop, type Shop } from '../conformance/stage.ts'
import { codeOf, openClient, type TestClient, tokenOf } from '../http/oauth/fixture.ts'
import { type ApplicationRecord, registered } from '../http/pages/developers/fixture.ts'
import { delivery, numberedEvent } from '../http/rest/webhooks-fixture.ts'

/** A store with a record of every service, every field of it set, and everybody who works with it. */
export interface Side extends Shop {
  /** By service. */
  readonly records: ReadonlyMap<string, { readonly id: number; readonly record: Wire }>
  readonly deliveryId: number
  readonly subscriptionId: number
  /** Of a CSV file. */
  readonly importId: number
  /** A new order that the merchant has begun. */
  readonly draftId: number
  /** A note about the customer. */
  readonly noteId: number
  /** An entry of the history by the table of its record. */
  readonly historyIds: ReadonlyMap<string, number>
  readonly mailId: number
  readonly userId: number
  readonly invitationId: number
  /** A role of the store's own. */
  readonly roleId: number
  readonly merchant: TestPerson
  readonly merchantSession: number
  readonly merchantToken: number
  readonly developer: TestPerson
  readonly developerSession: number
  readonly developerToken: number
  /** Of the developer. */
  readonly application: Shop['application'] & { readonly own: ApplicationRecord }
  /** Of the developer. */
  readonly testStoreId: number
  readonly inbox: { readonly id: number; readonly name: string; readonly messageId: number }
  readonly customer: TestPerson
  readonly client: TestClient
  readonly accessToken: string
  readonly code: string
}

/** Ids of the second store's records begin here. The first store gives out smaller ones. */
export const FIRST_AWAY_ID = 500_000
const plain: Fixture = { minimal: () => ({}), required: [], computed: {}, a: {}, b: {}, filters: {} }

export async function openSide(server: TestServer, idsAbove = 0): Promise<Side> {
  const { services } = server
  const opened = await openShop(server, plain, idsAbove)
  const records = new Map<string, { id: number; record: Wire }>()
  for (const resource of servedResources) {
    const fixture: Fixture = fixtureOf(resource)
    const home: Shop = { ...opened, references: (await fixture.prepare?.(opened)) ?? {} }
    records.set(resource.service, await newWholeRecord({ server, resource, fixture, home } as never))
  }
  const shop = opened
  const storeId = shop.store.id
  await giveSku(shop, records)
  const webhookId = records.get('Webhooks')?.id ?? 0
  const eventId = await numberedEvent(server, shop, { sequence: 1 })
  const deliveryId = await delivery(server, shop, webhookId, eventId, { state: 'delivered', status: 200 })
  const { merchant, userId } = await merchantOf(server, storeId)
  const importId = await importOf(storeId, merchant)
  const draftId = await draftOf(merchant, storeId)
  const noteId = await noteOf(server, storeId, records.get('Customers')?.id ?? 0)
  const mailId = await mailOf(server, storeId)
  const { invitationId, roleId } = await peopleOf(server, { storeId, userId })
  const developer = await developerIn(server)
  const own = await registered(developer, { Name: `Tool of store ${storeId}` })
  const testStoreId = await testStoreOf(server, developer)
  const inbox = await inboxOf(server, developer)
  const client = await openClient(server)
  const { id: subscriptionId } = await services.db.subscription.findFirstOrThrow({ where: { storeId } })
  const newest = { orderBy: { id: 'desc' }, select: { id: true } } as const
  const merchantSession = await services.db.session.findFirstOrThrow({ where: { storeUserId: userId }, ...newest })
  const developerSession = await services.db.session.findFirstOrThrow({
    where: { developerId: { not: null } },
    ...newest,
  })
  return {
    ...shop,
    records,
    deliveryId,
    subscriptionId,
    importId,
    draftId,
    noteId,
    historyIds: await historyOf(server, storeId),
    mailId,
    userId,
    invitationId,
    roleId,
    merchant,
    merchantSession: Number(merchantSession.id),
    merchantToken: await madeToken(merchant, '/account/tokens'),
    developer,
    developerSession: Number(developerSession.id),
    developerToken: await madeToken(developer, '/developers/account/tokens'),
    application: { ...shop.application, own },
    testStoreId,
    inbox,
    customer: await customerIn(server, shop),
    client,
    accessToken: await tokenOf(server, { store: shop.store, merchant }, client),
    code: await codeOf({ store: shop.store, merchant }, client),
  }
}

/** A product's SKU that stands in headers as it is, and that the other store does not have. */
async function giveSku(
  shop: Shop,
  records: Map<string, { readonly id: number; readonly record: Wire }>,
): Promise<void> {
  const { id } = records.get('Products') ?? { id: 0 }
  await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { SKU: `SKU-OF-STORE-${shop.store.id}` } } })
  const [record] = (await shop.call('GET', `/Products/${id}`)).json()
  records.set('Products', { id, record })
}

/** A CSV file whose columns a person has assigned, that was read and not applied. */
async function importOf(storeId: number, merchant: TestPerson): Promise<number> {
  const { headers } = await merchant.upload('/admin/products/csv', `Article,Called\nCSV-OF-${storeId},Lamp\n`)
  const assigned = { 'column.0': 'SKUInfo.SKU', 'column.1': 'SKUInfo.Name' }
  const read = await merchant.submit(String(headers.location), assigned)
  return Number(read.headers.location?.toString().split('/').at(-1))
}

async function draftOf(merchant: TestPerson, storeId: number): Promise<number> {
  const typed = { 'ItemID.1': `SKU-OF-STORE-${storeId}`, 'ItemQuantity.1': '1' }
  const kept = await merchant.submit('/admin/orders/new', typed, { action: '/admin/orders', to: '/admin/orders/new' })
  return Number(/name="Draft" value="(\d+)"/.exec(kept.body)?.[1])
}

async function noteOf({ services: { db, now } }: TestServer, storeId: number, customerId: number): Promise<number> {
  const data = {
    storeId,
    customerId,
    text: `Note of store ${storeId}`,
    writtenBy: 'staff@shop.example',
    writtenAt: now(),
  }
  return (await db.customerNote.create({ data })).id
}

async function historyOf({ services: { db } }: TestServer, storeId: number): Promise<ReadonlyMap<string, number>> {
  const newest = await db.historyEntry.groupBy({ by: ['recordType'], where: { storeId }, _max: { id: true } })
  return new Map(newest.map(({ recordType, _max }) => [recordType, Number(_max.id)]))
}

async function mailOf({ services }: TestServer, storeId: number): Promise<number> {
  const expiresAt = services.now()
  const to = `customer-of-${storeId}@shop.example`
  const data = { storeName: `Store ${storeId}`, link: `/account/sign-in?token=${storeId}`, expiresAt } as const
  await inTransaction(services.db, (tx) =>
    writeMail(tx, services, { kind: 'customer-link', data, to, identityId: null, storeId, causedBy: null }),
  )
  return (await services.db.mail.findFirstOrThrow({ where: { storeId, kind: 'customer-link' } })).id
}

/** An account that opens this store alone, signed in. */
async function merchantOf({ app, operate }: TestServer, storeId: number) {
  const account = { Email: `owner-of-${storeId}@shop.example`, Password: 'correct horse battery' }
  const added = await operate('POST', `/admin/stores/${storeId}/users`, account)
  const merchant = testPerson(app)
  const { statusCode } = await merchant.submit('/admin/sign-in', account)
  if (statusCode !== 303) throw new Error(`The merchant could not sign in: ${statusCode} ${added.body}`)
  return { merchant, userId: Number(added.json().Id ?? added.json()[0].Value) }
}

async function testStoreOf({ services }: TestServer, developer: TestPerson): Promise<number> {
  const made = await developer.call('POST', '/developers/test-stores', { Name: 'Trial' })
  await services.testStores.settle()
  return made.json().Id
}

/** An inbox with a message. */
async function inboxOf({ app, services }: TestServer, developer: TestPerson) {
  const made = await developer.call('POST', '/developers/inboxes', { Name: 'Webhooks' })
  const { Id: id, Address } = made.json()
  const url = new URL(Address).pathname
  await app.inject({ method: 'POST', url, payload: `a message to ${id}` })
  const { id: messageId } = await services.db.inboxMessage.findFirstOrThrow({ where: { inboxId: id } })
  return { id, name: url.split('/').at(-1) ?? '', messageId: Number(messageId) }
}

/** A role of the store's own, and somebody who is invited to it. */
async function peopleOf({ services }: TestServer, { storeId, userId }: { storeId: number; userId: number }) {
  const by = { actor: operator, userId }
  const Name = `Packer of store ${storeId}`
  await saveRole(services, { storeId, id: null }, { Name, Privileges: { Orders: ['read'] } }, by)
  const given = { Email: `packer-of-${storeId}@shop.example`, Role: Name, HandOver: true }
  const { id: invitationId } = await invite(services, storeId, given, by)
  const { id: roleId } = await services.db.storeRole.findFirstOrThrow({ where: { storeId } })
  return { invitationId, roleId }
}

/** Every row that belongs to a store, or to the applications and accounts around it, by table. */
export async function dumpOf({ database: { db } }: TestServer, side: Side): Promise<Record<string, string[]>> {
  const tables = await db.$queryRawUnsafe<{ name: string }[]>(
    `SELECT DISTINCT c.table_name AS "name" FROM information_schema.columns c
     WHERE c.table_schema = 'public' AND c.column_name = 'storeId' ORDER BY 1`,
  )
  const owned = [
    { name: 'Store', where: `"id" = ${side.store.id}` },
    { name: 'Application', where: `"id" IN (${side.application.id}, ${side.application.own.Id}, ${side.client.Id})` },
    ...tables.map(({ name }) => ({ name, where: `"storeId" = ${side.store.id}` })),
  ]
  const dump: Record<string, string[]> = {}
  for (const { name, where } of owned) {
    const rows = await db.$queryRawUnsafe<{ row: string }[]>(
      // The log of calls writes it some time after the call.
      `SELECT (to_jsonb(t) - 'lastUsedAt')::text AS "row" FROM "${name}" t WHERE ${where} ORDER BY 1`,
    )
    dump[name] = rows.map(({ row }) => row)
  }
  return dump
}

async function madeToken(person: TestPerson, path: string): Promise<number> {
  return (await person.call('POST', path, { Name: 'A program', Days: 30 })).json().Id
}
