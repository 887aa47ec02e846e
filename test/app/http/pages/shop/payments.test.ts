import { parse } from 'csv-parse/sync'
import fc from 'fast-check'
import { afterAll, describe, expect, test } from 'vitest'
import type { Log } from '../../../../../src/foundation/process/log.ts'
import { createUpgrades } from '../../../../../src/operations/installation/upgrades.ts'
import { LEDGER_MIGRATION } from '../../../../../src/shop/resources/orders/closed-months.ts'
import { openClient } from '../../../../support/client.ts'
import { cloneDatabase } from '../../../../support/database.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { memberIn, merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { dropVersionGuards } from '../../../../support/version-guard.ts'
import { alertIn } from './order-fixture.ts'

// The ledger of payments. What is recorded late counts on the database's day, so these tests are about the month before the present one.

const server = await sharedServer({}, cloneDatabase)
const [client, other] = [await openClient(server.database.url), await openClient(server.database.url)]
afterAll(() => Promise.all([client.end(), other.end()]))
// Statements of these tests stand for imports and other programs.
await dropVersionGuards(server.database.url)
server.clock.ms = Date.now()
const run = async (sql: string, ...values: unknown[]) => (await client.query(sql, values)).rows

const monthOf = (back: number) => {
  const now = new Date()
  return new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - back)).toISOString().slice(0, 'yyyy-mm'.length)
}
const [present, last, before] = [monthOf(0), monthOf(1), monthOf(2)]
/** The days in which these tests pay. */
const ofLast = `from=${last}-01&to=${last}-28`
/** All that there can be. */
const always = `from=${before}-01&to=${new Date(Date.now() + 172_800_000).toISOString().slice(0, 10)}`

async function openShop(currency = 'EUR') {
  const shop = await server.openStore({ currency, timeZone: 'UTC' })
  const merchant = await merchantIn(server, shop.store)
  await shop.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 50, Stock: 100 } })
  const fields = { BillingLastName: 'Byron', ShipmentList: [{ ShipmentCountry: 'AT' }] }
  const order = () => shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 1 }], fields)
  return { shop, merchant, order, storeId: shop.store.id }
}

function pay(shop: TestStore, order: number, type: string, amount: number, day: string, TransactionMethod = '') {
  const transaction = { TransactionType: type, TransactionAmount: amount, TransactionMethod }
  return shop.add(`/Orders/${order}/Transactions`, { ...transaction, TransactionDateTime: `${day} 23:30` })
}
const change = (shop: TestStore, order: number, transaction: number, body: object) =>
  shop.call('PUT', `/Orders/${order}/Transactions/${transaction}`, { body })
const closing = '/admin/payments/closing'
const close = (merchant: TestPerson, Month: string) => merchant.submit(closing, { Month })
const reopen = (merchant: TestPerson, Month: string) => merchant.submit(closing, { Month, Reopen: 'yes' })
const csv = async (merchant: TestPerson, query: string) =>
  (await merchant.open(`/admin/payments.csv?headings=names&${query}`)).body
const rowsOf = (text: string) => parse(text, { bom: true, columns: true }) as Record<string, string>[]
const exact = (amount: unknown) => Math.round(Number(amount) * 10_000)
const sum = (rows: readonly object[], column: string) =>
  rows.reduce((total, row) => total + exact(Object(row)[column]), 0) / 10_000
/** In, out and the rest, as a page has them first. */
async function figuresOf(merchant: TestPerson, path: string) {
  const { body } = await merchant.open(path)
  const money = /<dt>In<\/dt><dd><strong>([^<]*)[\s\S]*?<dt>Out<\/dt><dd><strong>([^<]*)[\s\S]*?<strong>([^<]*)/
  return (money.exec(body) ?? []).slice(1).map((text) => Number(text.replaceAll(/[^\d.-]/g, '')))
}
const faults = () => run('SELECT * FROM "PaymentLedgerFaults"')

test('payments of before an upgrade are added up while the store is open, and no month is closed before', async () => {
  const { shop, merchant, order } = await openShop()
  await pay(shop, await order(), 'Sale', 50, `${last}-10`)
  await run('DELETE FROM "PaymentEntry"')
  for (const page of ['payments', 'reports', 'payments/closing']) {
    expect((await merchant.open(`/admin/${page}`)).body).toContain('still being added up')
  }
  expect((await merchant.open(closing)).body).not.toContain('name="Month"')
  const upgrades = createUpgrades({ db: server.database.db, log: server.services.log as Log })
  upgrades.wake()
  const isDone = `SELECT FROM "Upgrade" WHERE "name" = '${LEDGER_MIGRATION}' AND "doneAt" IS NOT NULL`
  await expect.poll(async () => (await run(isDone)).length).toBe(1)
  await upgrades.stop()
  expect((await merchant.open('/admin/payments')).body).not.toContain('still being added up')
  expect(rowsOf(await csv(merchant, ofLast))).toMatchObject([{ InAmount: '50.00', OccurredOn: `${last}-10` }])
})

test.each([
  ['EUR', 100.1, 30.05, 12.345, 7.5],
  ['JPY', 1001, 305, 123, 75],
])(
  'a month in %s agrees with its orders, stays byte for byte when it is closed, and opens again',
  async (...shopOf) => {
    const [currency, sale, refund, authorized, late] = shopOf
    const { shop, merchant, order, storeId } = await openShop(currency)
    const [one, two, three] = [await order(), await order(), await order()]
    const pages = (query: string) =>
      Promise.all(['payments', 'reports'].map((page) => figuresOf(merchant, `/admin/${page}?${query}`)))
    /** What orders, the file, the page and the reports say of all times is the same. */
    const expectAgreement = async () => {
      const sums = (await shop.call('GET', '/Orders/Sums')).json()
      const rows = rowsOf(await csv(merchant, always))
      const [all, out] = [sum(rows, 'InAmount'), sum(rows, 'OutAmount')]
      expect(exact(all - out)).toBe(exact(sum(sums, 'NetAmount')))
      for (const shown of await pages(always)) expect(shown).toEqual([all, out, exact(all - out) / 10_000])
      expect(await faults()).toEqual([])
      return { rows, isGross: all === sum(sums, 'PaidAmount') && out === sum(sums, 'RefundedAmount') }
    }
    const told = (rows: readonly Record<string, string>[]) =>
      rows.map(
        (row) => `${row.OccurredOn?.slice(-2)}: ${Number(row.InAmount) - Number(row.OutAmount)} ${row.BillingName}`,
      )

    const saleId = await pay(shop, one, 'Sale', sale, `${last}-05`, 'Card')
    const refundId = await pay(shop, one, 'Refund', refund, `${last}-06`, 'Card')
    const creditId = await pay(shop, one, 'Credit', -late, `${last}-07`)
    const authorizedId = await pay(shop, two, 'Authorize', authorized, `${last}-08`)
    const wrong = await pay(shop, two, 'Sale', 1, `${last}-08`)
    await pay(shop, three, 'Sale', sale, `${last}-09`)
    await change(shop, two, authorizedId, { TransactionCaptured: 1 })
    await merchant.submit(`/admin/orders/${two}/payments/${wrong}/void`, { Reason: 'Wrong order' })
    const amounts = [sale, authorized, -late, -refund, sale].map((amount, at) => `0${9 - at}: ${amount} Byron`)
    expect(told(rowsOf(await csv(merchant, ofLast)))).toEqual(amounts)
    expect(await expectAgreement()).toMatchObject({ isGross: true })

    expect((await close(merchant, last)).statusCode).toBe(303)
    const closed = [await csv(merchant, ofLast), await pages(ofLast)]
    await merchant.submit(`/admin/orders/${one}/payments/${saleId}/void`, { Reason: 'Charged back' })
    await change(shop, one, refundId, { TransactionAmount: refund + late })
    await change(shop, one, creditId, { TransactionMethod: 'Bank' })
    const moved = { TransactionDateTime: `${present}-01 00:00`, TransactionType: 'Refund' }
    await change(shop, two, authorizedId, moved)
    const added = await pay(shop, two, 'Sale', late, `${last}-20`)
    await run('UPDATE "OrderTransaction" SET "occurredAt" = NULL WHERE "id" = $1 AND "storeId" = $2', added, storeId)
    const renamed = { BillingLastName: 'Lovelace', InvoiceNumber: 99, OrderDate: `${last}-21 12:00` }
    expect((await shop.call('PUT', `/Orders/${two}`, { body: renamed })).statusCode).toBe(200)
    await run('DELETE FROM "Order" WHERE "storeId" = $1 AND "id" = $2', storeId, three)
    expect([await csv(merchant, ofLast), await pages(ofLast)]).toEqual(closed)
    const marked = (await expectAgreement()).rows.filter(({ LateOf }) => LateOf === last)
    expect(marked.every(({ BookedOn = '' }) => BookedOn > `${last}-31`)).toBe(true)
    const missing = [
      `05: ${-sale} Byron`,
      `06: ${-late} Byron`,
      `08: ${-2 * authorized} Lovelace`,
      `09: ${-sale} Byron`,
    ]
    expect(told(marked).toSorted()).toEqual([...missing, `21: ${late} Lovelace`])
    expect((await merchant.open('/admin/payments')).body).toMatch(/<span class="badge warn">of \w+ \d{4}<\/span>/)

    expect((await reopen(merchant, last)).statusCode).toBe(303)
    const { rows, isGross } = await expectAgreement()
    expect([isGross, rows.filter(({ LateOf }) => LateOf !== '')]).toEqual([true, []])
    const [undated, credit] = ['21', '07'].map((day) => rows.find(({ OccurredOn }) => OccurredOn === `${last}-${day}`))
    expect(undated).toMatchObject({ InvoiceNumber: 'AB-99', BillingName: 'Lovelace' })
    expect(credit).toMatchObject({ TransactionMethod: 'Bank' })
    expect((await merchant.open('/admin/audit')).body).toMatch(/month opened again[\s\S]*month closed/)
  },
)

describe('closing a month', () => {
  test('is refused for one that is not over or closed, and opening for one that is not the last', async () => {
    const { merchant } = await openShop()
    const refused = async (Month: string) => alertIn((await close(merchant, Month)).body)
    for (const Month of [present, 'March']) expect(await refused(Month)).toContain('must be a month that is over')
    await close(merchant, before)
    expect(await refused(before)).toContain('must be a month that is over and not closed yet')
    await close(merchant, last)
    expect((await merchant.open(closing)).body).toContain('All months that are over are closed')
    expect((await reopen(merchant, before)).statusCode).toBe(409)
  })

  test('waits for payments that are being written, and those that come meanwhile wait for it', async () => {
    const { shop, merchant, storeId, order } = await openShop()
    const id = await order()
    const waits = `SELECT FROM pg_locks WHERE "locktype" = 'advisory' AND "classid" = 7301423 AND NOT "granted"`
    const waiting = () => expect.poll(async () => (await other.query(waits)).rowCount).toBe(1)
    await run('BEGIN')
    await transact(storeId, { id: 1, order: id, type: 'Sale', amount: 7, captured: 0, at: new Date(`${last}-10`) })
    const closed = close(merchant, last)
    await waiting()
    await run('COMMIT')
    expect((await closed).statusCode).toBe(303)
    expect(rowsOf(await csv(merchant, ofLast))).toMatchObject([{ InAmount: '7.00', LateOf: '' }])

    await reopen(merchant, last)
    await run('BEGIN')
    await run('SELECT pg_advisory_xact_lock(7301423, $1)', storeId)
    await run(`INSERT INTO "ClosedPeriod" VALUES ($1, $2, $3, now(), '')`, storeId, last, `${present}-01`)
    const paid = pay(shop, id, 'Sale', 8, `${last}-11`)
    await waiting()
    await run('COMMIT')
    const lateId = await paid
    await run(
      `UPDATE "PaymentEntry" SET "bookedAt" = now() - interval '1 s' WHERE "isLate" AND "storeId" = $1`,
      storeId,
    )
    const days = () => run('SELECT "bookedAt" FROM "PaymentEntry" WHERE "isLate" AND "storeId" = $1', storeId)
    const recorded = await days()
    await change(shop, id, lateId, { TransactionAmount: 9 })
    expect(await days()).toEqual(recorded)
    const rows = rowsOf(await csv(merchant, always))
    expect(rows.map(({ InAmount, LateOf }) => `${InAmount} ${LateOf}`)).toEqual([`9.00 ${last}`, '7.00 '])
  })
})

/** Writes a transaction as an import does. */
function transact(storeId: number, { id, order, type, amount, captured, at }: Record<string, unknown>) {
  const sql = `INSERT INTO "OrderTransaction" ("storeId", "id", "orderId", "type", "amount", "captured", "occurredAt", "details")
    VALUES ($1, $2, $3, $4, $5, $6, $7, '{}') ON CONFLICT ("storeId", "id") DO UPDATE
    SET "type" = $4, "amount" = $5, "captured" = $6, "occurredAt" = $7`
  return run(sql, storeId, id, order, type, amount, captured, at)
}

test('the entries of a transaction are what it has moved, whatever was changed and closed', async () => {
  const { order: place, storeId } = await openShop()
  const order = fc.constant(await place())
  const at = fc.integer({ min: 1, max: 200 }).map((back) => new Date(Date.now() - back * 86_400_000))
  const type = fc.constantFrom('Sale', ' capture', 'Refund', 'CREDIT', 'Authorize', 'Void', 'Gift')
  const [amount, captured] = [fc.integer({ min: -3, max: 3 }), fc.integer({ min: 0, max: 1 })]
  const id = fc.integer({ min: 1, max: 4 })
  const written = fc.record({ id, order, type, amount, captured, at: fc.option(at) })
  const step = fc.oneof(written, written, written, fc.record({ gone: id }), fc.record({ until: at }))
  const shown = `SELECT * FROM "PaymentShown" WHERE "storeId" = $1 AND "bookedAt" < $2 ORDER BY "id"`
  const drop = (table: string) => run(`DELETE FROM "${table}" WHERE "storeId" = $1`, storeId)
  const property = fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
    for (const table of ['ClosedPeriod', 'OrderTransaction']) await drop(table)
    let until = new Date(0)
    for (const [serial, each] of steps.entries()) {
      const closed = await run(shown, storeId, until)
      if ('id' in each) await transact(storeId, each)
      if ('gone' in each)
        await run('DELETE FROM "OrderTransaction" WHERE ("storeId", "id") = ($1, $2)', storeId, each.gone)
      expect(await run(shown, storeId, until)).toEqual(closed)
      if (!('until' in each)) continue
      until = new Date(Math.max(until.getTime(), each.until.getTime()))
      await run(`INSERT INTO "ClosedPeriod" VALUES ($1, $2, $3, now(), '')`, storeId, serial, until)
    }
    expect(await faults()).toEqual([])
  })
  await fc.assert(property, { numRuns: 40 })
})

test('payments are found by reference, number, method and direction, in the days of the store, page by page', async () => {
  const { shop, merchant, order, storeId } = await openShop()
  const [one, two] = [await order(), await order()]
  const each = { TransactionType: 'Sale', TransactionAmount: 1, TransactionMethod: 'PayPal' }
  const more = (at: number) => ({ ...each, TransactionReference: `50%_${at}`, TransactionDateTime: `${last}-02 00:00` })
  await shop.call('POST', `/Orders/${one}/Transactions`, { body: Array.from({ length: 51 }, (_, at) => more(at)) })
  await pay(shop, two, 'Refund', 3, `${last}-01`)
  const shown = async (query: string, path = `/admin/payments?${ofLast}&${query}`) => {
    const { body } = await merchant.open(path)
    const next = /<a href="([^"]*)" rel="next"/.exec(body)?.[1]?.replaceAll('&amp;', '&')
    const count = body.split('scope="row"><a href="/admin/orders').length - 1
    return { figures: [count, ...(await figuresOf(merchant, path))], next }
  }
  const first = await shown('')
  const second = await shown('', first.next)
  expect(`${first.figures} ${second.figures}`).toBe('50,51,3,48 2,51,3,48')
  expect((await shown('find=50%25_7')).figures).toEqual([1, 1, 0, 1])
  expect((await shown(`find=${two}`)).figures).toEqual([15, 14, 3, 11])
  const ofRefund = ['find=ab-1001', 'method=-', 'direction=out'].map(async (query) => (await shown(query)).figures)
  for (const figures of await Promise.all(ofRefund)) expect(figures).toEqual([1, 0, 3, -3])
  expect((await shown('method=PayPal&direction=out')).figures).toEqual([0])
  const refused = ['cursor=x', 'direction=up', 'from=never'].map((query) => merchant.open(`/admin/payments?${query}`))
  for (const { statusCode } of await Promise.all(refused)) expect(statusCode).toBe(400)
  const reader = await memberIn(server, shop, { Name: 'Books', Privileges: { Orders: ['read'] } })
  expect((await reader.open(`/admin/payments?${ofLast}`)).body).not.toMatch(/Byron|Customer<|closing/)
  expect(await csv(reader, ofLast)).not.toMatch(/Byron|BillingName/)
  const german = await merchant.open(`/admin/payments?${ofLast}`, { 'accept-language': 'de' })
  expect(german.body).toMatch(/Zahlungsart[\s\S]*Saldo/)
  await run(`UPDATE "Store" SET "timeZone" = 'Asia/Kathmandu' WHERE "id" = $1`, storeId)
  const ofDay = await shown('', `/admin/payments?from=${last}-02&to=${last}-02`)
  expect([ofDay.figures, await faults()]).toEqual([[50, 51, 3, 48], []])
})

test('taxes are reported by country and stated rate, and those of refunds in the time of the refund', async () => {
  const { shop, merchant, order, storeId } = await openShop()
  const state =
    'UPDATE "Order" SET "taxRate" = $3, "taxIncluded" = coalesce($3 = 20, false), "salesTax" = 2 WHERE "storeId" = $1 AND "id" = $2'
  for (const rate of [20, 20, 7.7, null]) await run(state.replaceAll('$3', '$3::numeric'), storeId, await order(), rate)
  await pay(shop, 1, 'Refund', 10, `${last}-03`)
  await run(`UPDATE "OrderTransaction" SET "details" = '{"RefundTaxAmount": 1.67}' WHERE "storeId" = $1`, storeId)
  const names = ['ShipmentCountry', 'TaxRate', 'TaxIncluded', 'Orders', 'TaxTotal', 'RefundTaxAmount']
  const report = async (query: string) => {
    const rows = rowsOf((await merchant.open(`/admin/reports.csv?headings=names&${query}`)).body)
    return rows.map((row) => names.map((name) => row[name] ?? '').join(' '))
  }
  // Each order of 50 at 20 % contains 8.33 beside the 2 that it adds.
  const ofRates = ['AT 20 Yes 2 20.66 0.00', 'AT Not stated  1 2.00 0.00', 'AT 7.7 No 1 2.00 0.00']
  expect((await report('by=rate')).toSorted()).toEqual(ofRates.toSorted())
  expect(await report(`by=rate&${ofLast}`)).toEqual(['AT 20 Yes 0 0.00 1.67'])
  expect(await report(`by=tax&${ofLast}`)).toEqual(['AT   0 0.00 1.67'])
  expect((await merchant.open(`/admin/reports?by=rate&${ofLast}`)).body).toMatch(/Austria[\s\S]*20[\s\S]*€1\.67/)
})
