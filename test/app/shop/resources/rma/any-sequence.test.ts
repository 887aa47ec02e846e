import fc from 'fast-check'
import { expect, test } from 'vitest'
import { shared } from '../../../../support/shared.ts'
import { openReturns, type Wire } from './fixture.ts'

const returns = await shared(openReturns())

const statuses = { New: 1, Cancelled: 5, 'Not Completed': 7 } as const
/** The product itself, and its two options. */
const stocks = [null, '801', '802'] as const

const index = fc.nat({ max: 1 })
const quantity = fc.nat({ max: 8 }).map((halves) => halves / 2)
const items = fc.array(fc.record({ stock: fc.nat({ max: 2 }), quantity }), { maxLength: 3 })

const step = fc.oneof(
  fc.record({ kind: fc.constant('create' as const), order: index, items }),
  fc.record({ kind: fc.constant('change' as const), rma: index, items }),
  fc.record({ kind: fc.constant('move' as const), rma: index, order: index, items: fc.option(items) }),
  fc.record({ kind: fc.constant('delete' as const), rma: index }),
  fc.record({ kind: fc.constant('edit' as const), order: index, stock: fc.nat({ max: 2 }), quantity }),
  fc.record({ kind: fc.constant('remove' as const), order: index, stock: fc.nat({ max: 2 }) }),
  fc.record({
    kind: fc.constant('status' as const),
    order: index,
    status: fc.constantFrom(...Object.values(statuses)),
  }),
)
type Step = typeof step extends fc.Arbitrary<infer S> ? S : never

/** Steps of one round are taken at once. */
const rounds = fc.array(fc.array(step, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })

test('whatever is done to orders and their returns, also at once, a stock is what was there less what orders hold', async () => {
  await fc.assert(
    fc.asyncProperty(rounds, async (steps) => {
      const ground = await openGround()
      for (const round of steps) {
        const answers = await Promise.all(round.map((each) => take(ground, each)))
        for (const answer of answers) expect([200, 201, 400, 404], answer?.body).toContain(answer?.statusCode ?? 200)
        await expectSettled(ground)
      }
    }),
    { numRuns: 25 },
  )
})

interface Ground {
  productId: number
  sku: string
  orders: readonly number[]
  rmas: number[]
}

/** Two orders of a product and its options, and two returns. */
async function openGround(): Promise<Ground> {
  const { id: productId, sku } = await returns.product(['801', '802'])
  const lines = stocks.map((code) => ({ CatalogID: productId, ItemID: skuOf(sku, code), ItemQuantity: 2 }))
  const orders = [await returns.order(lines), await returns.order(lines)]
  const rmas = [await returns.rma({ OrderID: orders[0] }), await returns.rma({ OrderID: orders[1] })]
  return { productId, sku, orders, rmas }
}

function skuOf(sku: string, code: string | null | undefined): string {
  return code ? `${sku}-${code}` : sku
}

async function take(ground: Ground, step: Step) {
  const { sku, orders, rmas } = ground
  const itemsOf = (given: typeof items extends fc.Arbitrary<infer I> ? I : never) =>
    given.map(({ stock, quantity }) => ({ SKU: skuOf(sku, stocks[stock]), RestockQuantity: quantity }))
  if (step.kind === 'create') {
    const body = { OrderID: orders[step.order], RMAItemList: itemsOf(step.items) }
    const answer = await returns.shop.call('POST', '/RMA', { body })
    if (answer.statusCode === 201) rmas.unshift(Number(answer.json()[0].Value))
    return answer
  }
  if (step.kind === 'status') {
    await returns.setStatus(orders[step.order] as number, step.status)
    return null
  }
  if (step.kind === 'edit' || step.kind === 'remove') {
    const id = orders[step.order] as number
    const lines: Wire[] = (await returns.read('Orders', id)).OrderItemList
    const isMeant = ({ ItemID }: Wire) => ItemID === skuOf(sku, stocks[step.stock])
    const OrderItemList = lines.flatMap((line) => {
      if (!isMeant(line)) return [line]
      return step.kind === 'remove' ? [] : [{ ...line, ItemQuantity: step.quantity }]
    })
    return returns.shop.call('PUT', `/Orders/${id}`, { body: { OrderItemList } })
  }
  const rma = rmas[step.rma] as number
  if (step.kind === 'delete') return returns.shop.call('DELETE', `/RMA/${rma}`)
  const RMAItemList = step.items && { RMAItemList: itemsOf(step.items) }
  return returns.put(rma, { ...RMAItemList, ...(step.kind === 'move' && { OrderID: orders[step.order] }) })
}

/** The stocks, against the orders and returns that there are, and against their ledger. */
async function expectSettled({ productId, orders }: Ground): Promise<void> {
  const held = new Map<string | null, number>()
  for (const id of orders) {
    const of = { storeId: returns.shop.store.id, productId }
    const order = await returns.db.order.findFirst({ where: { storeId: of.storeId, id } })
    const lines = await returns.db.orderItem.findMany({ where: { ...of, orderId: id } })
    const restocked = await returns.db.rmaItem.findMany({ where: { ...of, rma: { orderId: id } } })
    const isHolding = order?.statusId !== statuses.Cancelled && order?.statusId !== statuses['Not Completed']
    for (const code of stocks) {
      const sold = sumOf(lines, code, ({ quantity }) => quantity)
      const back = sumOf(restocked, code, ({ restockQuantity }) => restockQuantity)
      expect({ code, back, isLess: back <= sold }).toMatchObject({ isLess: true })
      held.set(code, (held.get(code) ?? 0) + (isHolding ? sold - back : 0))
    }
  }
  for (const code of stocks) {
    const stock = await returns.stockOf(productId, code ?? undefined)
    const moved = (await returns.movements(productId, code)).reduce((sum, { quantity }) => sum + quantity, 0)
    expect({ code, stock, moved }).toEqual({ code, stock: 10 - (held.get(code) ?? 0), moved: stock - 10 })
  }
}

function sumOf<Row extends { optionCode: string | null }>(
  rows: readonly Row[],
  code: string | null,
  quantityOf: (row: Row) => unknown,
): number {
  return rows.filter(({ optionCode }) => optionCode === code).reduce((sum, row) => sum + Number(quantityOf(row)), 0)
}
