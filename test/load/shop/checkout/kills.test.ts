import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { cloneDatabase } from '../../../support/database.ts'
import { shared } from '../../../support/shared.ts'
import { type ServerProcess, serverProcess } from '../webhooks/server-process.ts'
import { openServerStore, type ServerStore } from '../webhooks/server-store.ts'

const SALES = 300
const KILLS = 10
const TILLS = 6
const STOCK = 1_000
const PRICE = 2.5
const payments = ['approved', 'authorised', null] as const

const sales = Array.from({ length: SALES }, (_, number) => ({
  key: `sale-${number}`,
  sku: `SKU-${number % 5}`,
  quantity: 1 + (number % 3),
  // Of each quantity some have each payment.
  payment: payments[Math.floor(number / 3) % 3] ?? null,
}))
type Sale = (typeof sales)[number]

interface Placed {
  readonly Value: string
  readonly InvoiceNumber: number
  readonly OrderAmount: number
}

const database = await shared(cloneDatabase())
let serving: Promise<ServerProcess>
let next: Promise<ServerProcess>
let baseUrl: string
let store: ServerStore

beforeAll(async () => {
  serving = openServer()
  next = openServer()
  baseUrl = (await serving).baseUrl
  const privileges = { Privileges: { Checkout: ['write'], Products: ['write'] } }
  store = await openServerStore(() => baseUrl, 'till', privileges)
  const body = [...new Set(sales.map(({ sku: SKU }) => SKU))].map((SKU) => ({
    SKUInfo: { SKU, Name: 'Cup', Price: PRICE, Stock: STOCK },
  }))
  expect((await store.call('POST', '/Products', { body })).status).toBe(201)
})
afterAll(async () => {
  for (const server of [serving, next]) await (await server)?.kill()
})

async function openServer(): Promise<ServerProcess> {
  // Answers have the address of the order's page.
  const server = await serverProcess(database.url, { PUBLIC_URL: 'http://localhost:1' })
  await server.start()
  return server
}

/** Kills the server; the next one, which runs already, takes its place. */
async function replaceServer(): Promise<void> {
  const former = await serving
  serving = next
  next = openServer()
  await former.kill()
}

/** Repeats the sale with its key until it is answered. */
async function sell({ key, sku, quantity, payment }: Sale) {
  const Payment = { Amount: PRICE * quantity, Method: 'Card', Reference: key, Status: payment }
  const body = {
    BillingPhoneNumber: '555 0100',
    OrderItemList: [{ ItemID: sku, ItemQuantity: quantity }],
    ...(payment !== null && { Payment }),
  }
  for (let tries = 1; ; tries++) {
    baseUrl = (await serving).baseUrl
    const answer = await store.call('POST', '/Checkout', { body, key }).catch(() => null)
    if (answer === null || answer.status >= 500) continue
    expect(answer.status, answer.text).toBe(201)
    return { tries, placed: JSON.parse(answer.text)[0] as Placed }
  }
}

/** Several tills sell everything; after a random number of answers the server is killed, while other tills wait for theirs. */
async function sellAll() {
  const answers = new Map<Sale, Placed>()
  let [kills, repeats] = [0, 0]
  const untilKill = () => randomInt(1, SALES / KILLS)
  let left = untilKill()
  const waiting = sales.values()
  const till = async () => {
    for (const sale of waiting) {
      const { tries, placed } = await sell(sale)
      answers.set(sale, placed)
      repeats += tries - 1
      if (kills === KILLS || --left > 0) continue
      kills += 1
      left = untilKill()
      await replaceServer()
    }
  }
  await Promise.all(Array.from({ length: TILLS }, till))
  return { answers, kills, repeats }
}

test('a till that repeats with its keys sells everything once, over ten kills: stock, payments and invoice numbers add up', async () => {
  const { answers, kills, repeats } = await sellAll()
  expect([answers.size, kills, repeats > 0]).toEqual([SALES, KILLS, true])
  for (const sale of sales.slice(0, 20)) expect((await sell(sale)).placed).toEqual(answers.get(sale))

  const where = { storeId: store.id }
  const orders = await database.db.order.findMany({ where, include: { items: true, transactions: true } })
  expect(orders).toHaveLength(SALES)
  const numbers = orders.map(({ invoiceNumber }) => invoiceNumber).toSorted((a, b) => a - b)
  expect(numbers).toEqual(numbers.map((_, index) => Number(numbers[0]) + index))
  for (const [{ sku, quantity, payment }, { Value, InvoiceNumber, OrderAmount }] of answers) {
    const order = orders.find(({ id }) => String(id) === Value)
    const amount = PRICE * quantity
    expect([InvoiceNumber, OrderAmount, Number(order?.orderAmount)]).toEqual([order?.invoiceNumber, amount, amount])
    expect(order?.items.map((item) => [item.sku, Number(item.quantity)])).toEqual([[sku, quantity]])
    const paid = payment === null ? [] : [[payment === 'approved' ? 'Sale' : 'Authorize', amount]]
    expect(order?.transactions.map((each) => [each.type, Number(each.amount)])).toEqual(paid)
    expect([order?.paidOnline, order?.statusId]).toEqual(payment === null ? [false, 11] : [true, 1])
  }
  for (const { sku, stock } of await database.db.product.findMany({ where })) {
    const sold = sales.filter((sale) => sale.sku === sku).reduce((total, { quantity }) => total + quantity, 0)
    expect([sku, Number(stock)]).toEqual([sku, STOCK - sold])
  }
}, 300_000)
