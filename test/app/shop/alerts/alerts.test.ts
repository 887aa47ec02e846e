import { beforeEach, describe, expect, test } from 'vitest'
import { operatorAlerts, storeAlerts } from '../../../../src/shop/alerts/kinds.ts'
import { createAlerts } from '../../../../src/shop/alerts/loop.ts'
import type { TestPerson } from '../../../support/person.ts'
import { merchantAccount, merchantIn, operatorIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'

let merchant: TestPerson

const server = await sharedServer()
const shop = await server.openStore()
beforeEach(async () => {
  // Days pass in some tests.
  merchant = await merchantIn(server, shop.store)
  await server.services.db.mail.deleteMany()
  await server.services.db.alert.deleteMany()
})

const MINUTE_MS = 60_000
const DAY_MS = 24 * 60 * MINUTE_MS

/** Looks once more, when what happened before is old enough to be told of. */
async function look(afterMs = MINUTE_MS): Promise<string[]> {
  server.clock.ms += afterMs
  await createAlerts(server.services).runDue()
  return subjects()
}

async function subjects(): Promise<string[]> {
  const { db, secrets } = server.services
  const mails = await db.mail.findMany({ where: { kind: 'alert' }, orderBy: { id: 'asc' } })
  return mails.map(({ contentSealed }) => JSON.parse(secrets.open(contentSealed ?? '')).text as string)
}

async function choose(...Alerts: string[]): Promise<void> {
  const { statusCode } = await merchant.submit('/admin/account', { Alerts }, { action: '/admin/account/alerts' })
  expect(statusCode).toBe(303)
  server.clock.ms += 1_000
}

async function pausedWebhook(name: string): Promise<void> {
  const { db, secrets } = server.services
  const at = server.services.now()
  const { _max } = await db.webhook.aggregate({ _max: { id: true } })
  await db.webhook.create({
    data: {
      ...{
        storeId: shop.store.id,
        id: (_max.id ?? 0) + 1,
        name,
        url: 'https://desk.example/',
        eventType: 1,
        format: 'JSON',
      },
      ...{ enabled: false, createdAt: at, updatedAt: at, updatedBy: '', secretSealed: secrets.seal('secret') },
      ...{ disabledAt: at, pauseReason: 'it did not answer for five days' },
    },
  })
}

describe('somebody of a store', () => {
  test('is told of nothing that was not switched on, nor of what was before', async () => {
    await pausedWebhook('Earlier')
    expect(await look()).toEqual([])
    await choose('webhook-paused')
    expect(await look()).toEqual([])
  })

  test('is told once that a webhook is paused, by several processes that look at once', async () => {
    await choose('webhook-paused')
    await pausedWebhook('<b>Desk</b>')
    server.clock.ms += MINUTE_MS
    await Promise.all([1, 2, 3].map(() => createAlerts(server.services).runDue()))
    const [told = '', ...others] = await subjects()
    expect(told).toContain('The webhook <b>Desk</b> is paused: it did not answer for five days.')
    expect(others).toEqual([])
    expect(await look(DAY_MS)).toHaveLength(1)
  })

  test('is told in the language that was chosen, of services by their names and with the reasons', async () => {
    const locale = async (tag: string | null) =>
      server.services.db.identity.updateMany({ where: { email: merchantAccount.Email }, data: { locale: tag } })
    await locale('de-DE')
    await choose('webhook-paused', 'import-ended')
    await pausedWebhook('Desk')
    const { db } = server.services
    await db.webhook.updateMany({ where: { name: 'Desk' }, data: { pauseReason: 'Every attempt of five days failed' } })
    const at = server.services.now()
    const ended = {
      storeId: shop.store.id,
      id: 911,
      service: 'RMA',
      fileName: 'r.csv',
      state: 'done',
      ignored: [],
      actor: 'a',
    }
    await db.csvImport.create({ data: { ...ended, changed: 1_204, added: 0, failed: 0, createdAt: at, endedAt: at } })
    const told = (await look()).join('\n')
    await locale(null)
    expect(told).toContain('Desk ist angehalten: Fünf Tage lang ist jeder Versuch fehlgeschlagen.')
    expect(told).toMatch(/r\.csv \(Retouren\)[^\n]*1\.204/)
  })

  test('is told of stock that ran out once a day, all of it together', async () => {
    await choose('stock-out')
    const body = (Name: string, SKU: string) => ({ SKUInfo: { Name, SKU, Stock: 3 } })
    const ids = await Promise.all(['A1', 'B1', 'C1'].map((sku) => shop.add('/Products', body(`Thing ${sku}`, sku))))
    const sellOut = (id: unknown) => shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Stock: 0 } } })
    await sellOut(ids[0])
    await sellOut(ids[1])
    const [told = ''] = await look()
    expect(told).toContain('Thing A1 (A1) has run out.')
    expect(told).toContain('Thing B1 (B1) has run out.')

    await sellOut(ids[2])
    expect(await look()).toHaveLength(1)
    const later = await look(DAY_MS)
    expect(later).toHaveLength(2)
    expect(later[1]).toContain('Thing C1 (C1) has run out.')
    expect(later[1]).not.toContain('Thing A1')
  })

  test('is told that an import has ended, and not of one whose service the role may not change', async () => {
    await choose('import-ended')
    const { db } = server.services
    const at = server.services.now()
    const ended = (id: number, service: string) => ({
      ...{ storeId: shop.store.id, id, service, fileName: `${service}.csv`, state: 'done', ignored: [], actor: 'a' },
      ...{ changed: 4, added: 2, failed: 1, createdAt: at, endedAt: at },
    })
    await db.csvImport.createMany({ data: [ended(901, 'Products'), ended(902, 'Customers')] })
    await db.storeUser.updateMany({ where: { storeId: shop.store.id }, data: { role: 'catalogue' } })
    const [told = ''] = await look()
    await db.storeUser.updateMany({ where: { storeId: shop.store.id }, data: { role: 'owner' } })
    expect(told).toContain('The import of Products.csv (Products) ended: 4 changed, 2 added, 1 failed.')
    expect(told).not.toContain('Customers.csv')
  })

  test('is told that an application fails, once a day', async () => {
    await choose('application-failing')
    const { db } = server.services
    const { id: subscriptionId } = await db.subscription.findFirstOrThrow({ where: { storeId: shop.store.id } })
    await db.apiCall.deleteMany()
    const call = () => ({
      ...{ subscriptionId, at: server.services.now(), method: 'PUT', path: '/StoreWebAPI/v1/Orders/1' },
      ...{ status: 400, message: 'OrderStatusID must be a status' },
    })
    await db.apiCall.createMany({ data: [call(), call(), call()] })
    expect((await look())[0]).toContain('PUT /StoreWebAPI/v1/Orders/1, OrderStatusID must be a status.')
    await db.apiCall.createMany({ data: [call(), call()] })
    expect(await look()).toHaveLength(1)
    expect(await look(DAY_MS)).toHaveLength(2)
  })

  test('who may no longer see what an alert is of is told no more, and is offered less', async () => {
    await choose('webhook-paused')
    await server.services.db.storeUser.updateMany({ where: { storeId: shop.store.id }, data: { role: 'orders' } })
    await pausedWebhook('Hidden')
    expect(await look()).toEqual([])
    const page = (await merchant.open('/admin/account')).body
    expect([page.includes('value="import-ended"'), page.includes('value="webhook-paused"')]).toEqual([true, false])
    await choose('webhook-paused', 'import-ended')
    expect(await server.services.db.alert.findMany({ select: { kind: true } })).toEqual([{ kind: 'import-ended' }])
    await server.services.db.storeUser.updateMany({ where: { storeId: shop.store.id }, data: { role: 'owner' } })
  })

  test('gets at most five mails an hour, and the rest in the next', async () => {
    await choose('webhook-paused')
    for (let count = 1; count <= 7; count++) {
      await pausedWebhook(`Desk ${count}`)
      await look()
    }
    expect(await subjects()).toHaveLength(5)
    const last = (await look(60 * MINUTE_MS)).at(-1)
    expect(last).toContain('Desk 6')
    expect(last).toContain('Desk 7')
  })

  test('names only alerts that there are', async () => {
    const refused = await merchant.call('POST', '/admin/account/alerts', { Alerts: ['everything'] })
    expect([refused.statusCode, refused.json()[0].Value]).toEqual([400, 'Alerts.0'])
    const set = await merchant.call('POST', '/admin/account/alerts', { Alerts: Object.keys(storeAlerts) })
    expect(set.statusCode).toBe(204)
    expect(await server.services.db.alert.count()).toBe(Object.keys(storeAlerts).length)
    await choose()
    expect(await server.services.db.alert.count()).toBe(0)
  })
})

describe('an operator', () => {
  test('is told of backups, deliveries and mails that do not go', async () => {
    const ann = await operatorIn(server)
    const Alerts = Object.keys(operatorAlerts)
    await ann.submit('/operator/account', { Alerts }, { action: '/operator/account/alerts' })
    const { db } = server.services
    server.clock.ms += 1_000
    await pausedWebhook('For the operator')
    const waiting = {
      kind: 'reset',
      recipient: merchantAccount.Email,
      messageId: '<stuck@here>',
      state: 'waiting',
      subject: '',
    }
    const createdAt = new Date(server.clock.ms - 2 * 60 * MINUTE_MS)
    await db.mail.create({ data: { ...waiting, createdAt, nextAttemptAt: createdAt } })

    const told = (await look()).join('\n')
    expect(told).toContain('There is no backup of this installation yet.')
    expect(told).toContain('0 webhooks fail, and 1 were paused.')
    expect(told).toContain('1 mails wait for more than an hour, and 0 were given up.')
    const count = (await subjects()).length
    expect(await look()).toHaveLength(count)
  })
})
