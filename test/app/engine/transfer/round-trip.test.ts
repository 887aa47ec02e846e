import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Resource } from '../../../../src/engine/definition/resource.ts'
import { resources } from '../../../../src/shop/registry.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { openServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { fullBody, newRecord, nextSeed } from '../../conformance/records.ts'
import { fixtureOf } from '../../conformance/stage.ts'
import { exportOf, importInto, linesOf, openTwin, operator, rowsOf } from './fixture.ts'

/** More movements than one line carries. */
const MANY_MOVEMENTS = 2_500

let source: TestServer
let target: TestServer
let shop: TestStore
let twin: TestStore
let file: string

beforeAll(async () => {
  ;[source, target] = await Promise.all([openServer(), openServer({}, cloneDatabase)])
  shop = await source.openStore()
  for (const resource of resources) await fill(resource)
  await sellOptions()
  await importInto(source, shop, oddRecords)
  await moveManyTimes()
  file = await exportOf(source, shop)
  twin = await openTwin(target, shop)
  // Otherwise every stamp of the import would be the source's by chance.
  target.clock.ms += 86_400_000
  const { refused } = await importInto(target, twin, file)
  expect(refused).toEqual([])
})

afterAll(() => Promise.all([source?.close(), target?.close()]))

describe('an export that is imported into an empty store of the same address and time zone', () => {
  test('is exported again as the same bytes', async () => {
    expect(await exportOf(target, twin)).toBe(file)
  })

  test('stores the same rows, also those that no answer shows', async () => {
    const expected = (await rowsOf(source, shop)).map(essence)
    expect((await rowsOf(target, twin)).map(essence)).toEqual(expected)
  })

  test('keeps the second of two equal hours of the night in which the clocks go back', async () => {
    for (const path of ['/Orders?datestart=11/01/2026 01:45:00', '/Products?lastupdatestart=11/01/2026 01:45:00']) {
      const expected = await shop.call('GET', path)
      expect(expected.json()).toHaveLength(1)
      expect((await twin.call('GET', path)).body).toBe(expected.body)
    }
  })

  test('gives new records ids above all that came along', async () => {
    for (const resource of resources.filter(({ methods }) => methods.includes('POST'))) {
      const { rows } = highest(resource)
      const seed = nextSeed('even')
      const id = await twin.add(`/${resource.service}`, fixtureOf(resource).minimal(seed))
      expect(id, resource.service).toBeGreaterThan(rows)
    }
    const product = await twin.add('/Products', {
      SKUInfo: { SKU: 'later', Name: 'Later' },
      FeatureList: [{ FeatureTitle: 'New' }],
    })
    const [later] = JSON.parse((await twin.call('GET', `/Products/${product}`)).body)
    expect(later.FeatureList[0].FeatureID).toBeGreaterThan(highestNested())
  })
})

test('importing an export into its own store changes nothing', async () => {
  const before = await rowsOf(source, shop)
  source.clock.ms += 86_400_000
  const { counts } = await importInto(source, shop, file)
  expect(counts).toEqual({ lines: linesOf(file).length - 1, stored: linesOf(file).length - 1, refused: 0, passed: 0 })
  expect((await rowsOf(source, shop)).map(essence)).toEqual(before.map(essence))
  expect(await exportOf(source, shop)).toBe(file)
})

/** Three records of a service, of which two have every writable field set. */
async function fill(resource: Resource): Promise<void> {
  const fixture = fixtureOf(resource)
  const filled = { ...shop, references: (await fixture.prepare?.(shop)) ?? {} }
  const ground = { server: source, resource, fixture }
  for (const seed of [nextSeed('odd'), nextSeed('even')]) {
    await newRecord(ground, filled, fullBody(ground, filled, seed))
  }
  await newRecord(ground, filled, fixture.minimal(nextSeed('even')))
}

/** An order that took its items off the stock of an option, and its return: which option, no answer shows. */
async function sellOptions(): Promise<void> {
  const option = { AdvancedOptionCode: '4,9', AdvancedOptionStock: 10, AdvancedOptionPrice: 3 }
  const CatalogID = await shop.add('/Products', {
    SKUInfo: { SKU: 'OPT', Name: 'With options', Price: 2, Stock: 5 },
    AdvancedOptionList: [option],
  })
  for (const AdvancedOptionStock of [7, 8]) {
    const body = { AdvancedOptionList: [{ ...option, AdvancedOptionStock }] }
    expect((await shop.call('PUT', `/Products/${CatalogID}`, { body })).statusCode).toBe(200)
  }
  const placed = await source.app.inject({
    method: 'POST',
    url: `/admin/stores/${shop.store.id}/orders`,
    headers: operator(source),
    payload: {
      BillingEmail: 'guest@mail.example',
      BillingOnLinePayment: true,
      OrderItemList: [{ CatalogID, ItemQuantity: 2 }],
    },
  })
  expect(placed.statusCode, placed.body).toBe(201)
  await source.database.db.$executeRawUnsafe(
    `WITH changed AS (
       UPDATE "OrderItem" SET "optionCode" = '4,9' WHERE "storeId" = $1::int AND "productId" = $2::int RETURNING "orderId")
     UPDATE "Order" SET "updatedAt" = "updatedAt" FROM changed WHERE "storeId" = $1::int AND "id" = "orderId"`,
    shop.store.id,
    CatalogID,
  )
  const returned = { OrderID: Number(placed.json()[0].Value), RMAItemList: [{ CatalogID, RestockQuantity: 1 }] }
  expect((await shop.call('POST', '/RMA', { body: returned })).statusCode).toBe(201)
}

async function moveManyTimes(): Promise<void> {
  await source.database.db.$executeRawUnsafe(
    `INSERT INTO "StockMovement" ("storeId", "productId", "quantity", "stockAfter", "cause", "actor", "note", "createdAt")
     SELECT $1::int, $2::int, n, n * 2, 'set', 'mover ' || n, 'reason ' || n, timestamptz '2026-01-01' + n * interval '1 hour'
     FROM generate_series(1, $3::int) n`,
    shop.store.id,
    productOfAutumn.record.SKUInfo.CatalogID,
    MANY_MOVEMENTS,
  )
}

const productOfAutumn = {
  service: 'Products',
  record: { SKUInfo: { CatalogID: 7_000, SKU: 'AUTUMN', Name: 'Autumn' }, LastUpdate: '2026-11-01T01:30:00' },
  private: { Repeated: ['LastUpdate'] },
}

/** What only an import makes. */
const oddRecords = [
  productOfAutumn,
  {
    service: 'Orders',
    record: {
      OrderID: 9_000,
      OrderStatusID: 4,
      OrderDate: '2026-11-01T01:30:00',
      LastUpdate: '2026-10-30T00:00:00',
      ShipmentList: [{ ShipmentID: 8_800, ShipmentOrderStatus: 4 }],
    },
    private: { Repeated: ['OrderDate'], Rows: { ShipmentList: [{ id: 8_801 }] } },
  },
  { service: 'Customers', record: { CustomerID: 9_001, BillingFirstName: 'Nobody' } },
  {
    service: 'Customers',
    record: { CustomerID: 9_002, TotalStoreCredit: 12.5 },
    private: {
      PasswordHash: `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'B'.repeat(43)}`,
      DateCreated: '2001-02-03T04:05:06',
    },
  },
  {
    service: 'RMA',
    record: { RMAID: 9_003, RMAItemList: [{ CatalogID: 7_000, SKU: 'AUTUMN', RestockQuantity: 1.5 }, {}] },
    private: { Rows: { RMAItemList: [{}, { optionCode: '4,9' }] } },
  },
  {
    service: 'Orders',
    record: {
      OrderID: 9_004,
      OrderStatusID: 4,
      BillingPaymentMethodID: '40',
      ContinueURL: 'https://former.example/?k=1',
      BillingPaymentMethod: 'Cheque',
    },
    private: {
      AffiliateID: 12,
      GiftCertificatePurchased: [{ Code: 'G-1', Amount: 25, ToName: 'Ann' }],
      GiftCertificateUsed: [{ Code: 'G-2', Amount: 5.5 }],
    },
  },
  { service: 'Orders', record: { OrderID: 9_005, OrderStatusID: 4, BillingPaymentMethodID: '40' } },
  { service: 'PaymentMethods', record: { PaymentMethodID: 40, Name: 'Voucher', Visible: false } },
  { service: 'PaymentMethods', record: { PaymentMethodID: 2, Name: 'Wallet' } },
  { service: 'ReturnReasons', record: { ReturnReasonID: 7, Name: 'Recalled', Visible: false } },
  { service: 'ReturnMethods', record: { ReturnMethodID: 1, Name: 'Voucher' } },
  { service: 'ReturnStatuses', record: { ReturnStatusID: 90, Name: 'At the workshop' } },
  {
    service: 'OrderStatus',
    record: { OrderStatusID: 21, Sorting: 13, StatusDefinition: 'Quote', StatusText: 'Offer' },
  },
]

/**
 * A row without what makes no difference: an empty text in a document, which stands for its default, and the stamps of a
 * shipment, which shows the order's as long as it is the only one.
 */
function essence(row: string): string {
  const plain = row.replace(/"\w+": "", /g, '').replace(/, "\w+": ""(?=[,}])/g, '')
  return plain.startsWith('OrderShipment') ? plain.replace(/"updated(At|By)": "[^"]*", /g, '') : plain
}

function highest(resource: Resource): { rows: number } {
  const ids = linesOf(file)
    .filter(({ service }) => service === resource.service)
    .map(({ record }) =>
      Number((record[resource.resultKey] ?? Object.values(record).map(inner).find(Boolean)) as number),
    )
  return { rows: Math.max(...ids) }

  function inner(value: unknown): unknown {
    return typeof value === 'object' && value !== null
      ? (value as Record<string, unknown>)[resource.resultKey]
      : undefined
  }
}

function highestNested(): number {
  const [...ids] = file.matchAll(/"(?:FeatureID|ItemIndexID|ShipmentID|OptionID|TransactionIndexID)":(\d+)/g)
  return Math.max(...ids.map(([, id]) => Number(id)))
}
