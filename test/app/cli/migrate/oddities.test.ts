import { beforeAll, expect, test } from 'vitest'
import { allOddities, type Faults, type Oddities } from '../../../support/odd-source.ts'
import { shared } from '../../../support/shared.ts'
import type { TestStore } from '../../../support/store.ts'
import { importInto } from '../../engine/transfer/fixture.ts'
import { differencesBetween, expectEnd, openStage } from './fixture.ts'

const stage = await shared(openStage())
let shop: TestStore

beforeAll(async () => {
  shop = await stage.openSource()
  expect((await importInto(stage.server, shop, [...oneOfEach, numbersAlone])).refused).toEqual([])
})

const oneOfEach = [
  { service: 'Products', record: { SKUInfo: { CatalogID: 4_711, SKU: '4711', Name: '12', Price: 5 } } },
  { service: 'Customers', record: { CustomerID: 4_712, Email: 'one-of-each@mail.example', BillingZipCode: '10115' } },
  {
    service: 'Orders',
    record: {
      OrderID: 4_713,
      OrderStatusID: 4,
      CustomerID: 4_712,
      BillingPhoneNumber: '5550100',
      OrderItemList: [{ CatalogID: 4_711, ItemID: '4711', ItemQuantity: 2 }],
    },
  },
]
const numbersAlone = { service: 'Manufacturers', record: { ManufacturerID: 4_714, ManufacturerName: '1871' } }

interface Wanted {
  readonly oddities?: Oddities
  readonly faults?: Faults
  readonly args?: string[]
  readonly from?: TestStore
  /** Runs --compare too, which takes a process more. */
  readonly compares?: boolean
}

async function expectCopied({ oddities, faults, args = [], from = shop, compares = false }: Wanted) {
  const move = await stage.openMove(from, { ...(oddities && { oddities }), ...(faults && { faults }) })
  const copied = await move.run(args)
  expectEnd(copied, 0)
  if (compares) {
    const compared = await move.run(['--compare', ...args])
    expect(expectEnd(compared, 0), move.text()).toMatch(/^[\d,]+ equal, 0 different, 0 only there, 0 only here$/m)
  }
  expect(await differencesBetween(stage.server, from, move.here)).toEqual([])
  return { move, copied }
}

test('a store is copied as it is', async () => {
  await expectCopied({ compares: true })
})

const alone: Oddities[] = [
  ...Object.entries(allOddities).map(([name, value]) => ({ [name]: value })),
  { end: '400' },
  { end: '404' },
  { xmlOnly: true },
]

test.each(alone)('a source with %j is copied, and equal', async (oddities) => {
  await expectCopied({ oddities })
})

test.each<Oddities>([{ singleRecord: true, singleItems: true }, { xmlOnly: true }, allOddities])(
  'a store with one record of a service and %j is copied, and equal',
  async (oddities) => {
    const from = await stage.openSource(async (store) => {
      expect((await importInto(stage.server, store, oneOfEach)).refused).toEqual([])
    })
    await expectCopied({ oddities, from })
  },
)

test('v2 is copied, and equal', async () => {
  await expectCopied({ args: ['--version', 'v2'], compares: true })
})

test('all oddities at once are copied, and equal, and what has no place is named', async () => {
  const { copied } = await expectCopied({ oddities: allOddities, compares: true })
  expect(copied.output).toMatch(/Members that have no place here: .*Orders\.CheckAccount/)
})

test.each<Faults>([
  { tooManyWithRetryAfter: 0.2 },
  { tooMany: 0.05 },
  { status500: 0.05 },
  { status503: 0.05 },
  { cut: 0.05 },
  { cutWithoutLength: 0.05 },
  { slow: 0.2 },
  { shortList: 0.7 },
])('a source that fails by %j is copied, and equal', async (faults) => {
  const { move } = await expectCopied({ faults })
  expect([...move.source.failed.keys()]).toEqual(Object.keys(faults))
})
