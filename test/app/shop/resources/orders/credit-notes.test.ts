import { afterAll, expect, test } from 'vitest'
import { createAuthenticator } from '../../../../../src/access/applications/authenticate.ts'
import { buildApp } from '../../../../../src/app.ts'
import { importRecords } from '../../../../../src/engine/transfer/import.ts'
import { numberLines } from '../../../../../src/engine/transfer/lines.ts'
import { connect } from '../../../../../src/foundation/database/client.ts'
import { resources } from '../../../../../src/shop/registry.ts'
import { openLine } from '../../../../support/line.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { exportOf, linesOf } from '../../../engine/transfer/fixture.ts'

// Every refund has a number, without gaps in its store (docs/decisions/orders.md).

const server = await sharedServer()
const line = await openLine(server.database.url)
/** Another process, with connections and a memory of its own. */
const db = connect(line.url, { poolMax: 10 })
const authenticator = createAuthenticator({ db, secrets: server.services.secrets, now: server.services.now })
const other = buildApp({ ...server.services, db, authenticator })
afterAll(async () => {
  await other.close()
  await db.$disconnect()
  line.close()
})

type Wire = Record<string, unknown>
const sale = { TransactionType: 'Sale', TransactionAmount: 60 }
const refund = { TransactionType: 'Refund', TransactionAmount: 5 }

async function openShop() {
  const shop = await server.openStore()
  await shop.add('/Products', { SKUInfo: { SKU: 'BAG', Name: 'Bag', Price: 20, Stock: 1_000 } })
  const place = (fields: Wire = {}) => shop.placeOrder([{ ItemID: 'BAG', ItemQuantity: 3 }], fields)
  return { shop, place }
}
/** The numbers of the refunds of an order, oldest first. */
async function numbersOf(shop: TestStore, id: number): Promise<unknown[]> {
  const answer = await shop.call('GET', `/Orders/${id}/Refunds`)
  if (answer.statusCode === 404) return []
  return answer
    .json()
    .map(({ CreditNotePrefix = '', CreditNoteNumber = null }: Wire) =>
      CreditNoteNumber === null ? null : `${CreditNotePrefix}${CreditNoteNumber}`,
    )
}

test('a transaction that becomes a refund gets the next number, once, whoever writes it and by whatever door', async () => {
  const { shop, place } = await openShop()
  const [one, two] = [await place({ TransactionList: [sale, refund] }), await place()]
  expect(await numbersOf(shop, one)).toEqual(['CN-1'])
  const bodies = [sale, { TransactionType: 'credit', TransactionAmount: -1 }, { ...sale, TransactionAmount: -2 }]
  for (const body of bodies) await shop.add(`/Orders/${two}/Transactions`, body)
  expect(await numbersOf(shop, two)).toEqual(['CN-2', 'CN-3'])

  // Several of several orders in one request, of which one is refused.
  const listed = await shop.call('PUT', '/Orders', {
    body: [one, two, 999_999].map((OrderID) => ({ OrderID, TransactionList: [sale, refund, refund] })),
  })
  expect(listed.json().map(({ Status }: Wire) => Status)).toEqual(['200', '200', '404'])
  const all = [...(await numbersOf(shop, one)), ...(await numbersOf(shop, two))]
  expect(all.toSorted()).toEqual(['CN-4', 'CN-5', 'CN-6', 'CN-7'])

  // What is refused uses no number up, and neither does a change, nor what is no refund.
  const { TransactionList: list } = (await shop.call('GET', `/Orders/${one}`)).json()[0]
  const [paid, first] = list.map(({ TransactionIndexID: id }: Wire) => `/Orders/${one}/Transactions/${id}`)
  const change = async (path: string, body: Wire) => (await shop.call('PUT', path, { body })).statusCode
  expect(await change(first, { RMAID: 77 })).toBe(400)
  expect(await change(first, { TransactionAmount: 6 })).toBe(200)
  expect(await change(paid, { TransactionType: 'Void' })).toBe(200)
  // One that is made void keeps its number.
  expect(await change(first, { TransactionType: 'Void' })).toBe(200)
  expect(await numbersOf(shop, one)).toEqual([all[1]])
  expect(await change(first, { TransactionType: 'Refund' })).toBe(200)
  expect(await numbersOf(shop, one)).toEqual(all.slice(0, 2))
  expect(await change(paid, { TransactionType: 'Refund' })).toBe(200)
  expect(await numbersOf(shop, one)).toEqual(['CN-8', ...all.slice(0, 2)])

  // A number is never given out again.
  expect(await change(`/Orders/${one}`, { TransactionList: [] })).toBe(200)
  await shop.add(`/Orders/${one}/Transactions`, refund)
  expect(await numbersOf(shop, one)).toEqual(['CN-9'])
})

test('refunds at once, of two processes and beside new orders, leave no gap and have no number twice', async () => {
  const { shop, place } = await openShop()
  const orders = [await place(), await place(), await place(), await place()]
  const refunding = Array.from({ length: 24 }, (_, n) =>
    (n % 2 === 0 ? server.app : other).inject({
      method: 'POST',
      url: `/StoreWebAPI/v1/Orders/${orders[n % 4]}/Transactions`,
      headers: shop.credentials,
      payload: n % 3 === 0 ? { ...refund, RMAID: 77 } : refund,
    }),
  )
  const placing = Array.from({ length: 4 }, (_, n) =>
    shop.placeOrder(
      [{ ItemID: 'BAG', ItemQuantity: 1 }],
      { TransactionList: [refund] },
      n % 2 === 0 ? other : server.app,
    ),
  )
  const answers = await Promise.all(refunding)
  const placed = await Promise.all(placing)
  expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([
    ...Array(16).fill(201),
    ...Array(8).fill(400),
  ])
  const numbers = await Promise.all([...orders, ...placed].map((id) => numbersOf(shop, id)))
  const expected = Array.from({ length: 20 }, (_, n) => `CN-${n + 1}`)
  expect(numbers.flat().toSorted()).toEqual(expected.toSorted())
})

test('an import numbers nothing, and keeps numbers that it brings and what refunds are for', async () => {
  const { shop, place } = await openShop()
  const id = await place({ TransactionList: [refund] })
  const [{ OrderItemList }] = (await shop.call('GET', `/Orders/${id}`)).json()
  const RefundItemList = [{ ItemIndexID: OrderItemList[0].ItemIndexID, RefundQuantity: 1, RefundAmount: 4 }]
  await shop.add(`/Orders/${id}/Transactions`, { ...refund, RefundItemList, RefundTaxAmount: 0.5 })
  const { db } = server.database
  // Of a version without credit notes.
  const [former] = await db.orderTransaction.findMany({ where: { storeId: shop.store.id }, orderBy: { id: 'asc' } })
  await db.order.update({
    where: { storeId_id: { storeId: shop.store.id, id } },
    data: {
      updatedBy: 'Former',
      transactions: {
        update: {
          where: { storeId_id: { storeId: shop.store.id, id: Number(former?.id) } },
          data: { creditNoteNumber: null, creditNotePrefix: null },
        },
      },
    },
  })
  expect(await numbersOf(shop, id)).toEqual([null, 'CN-2'])
  const copy = await server.openStore()
  const lines = linesOf(await exportOf(server, shop)).filter(
    ({ service }) => service === 'Products' || service === 'Orders',
  )
  const load = () => importRecords(copy.caller, resources, numberLines(lines), { refused: () => {} })
  expect(await load()).toMatchObject({ refused: 0 })
  expect(await load()).toMatchObject({ refused: 0 })
  const refunds = async (of: TestStore) => (await of.call('GET', `/Orders/${id}/Refunds`)).json()
  expect(await refunds(copy)).toEqual(await refunds(shop))
  expect(await refunds(copy)).toMatchObject([{ RefundTotal: 5 }, { CreditNoteNumber: 2, RefundItemList }])
  // Nor does a change of the former one.
  const body = { TransactionResponseText: 'seen' }
  expect((await copy.call('PUT', `/Orders/${id}/Transactions/${former?.id}`, { body })).statusCode).toBe(200)
  await copy.add(`/Orders/${id}/Transactions`, refund)
  expect(await numbersOf(copy, id)).toEqual([null, 'CN-2', 'CN-3'])
})
