import type { Caller } from '../../../../engine/caller.ts'
import { readRows } from '../../../../engine/changing/write.ts'
import type { Row } from '../../../../engine/definition/stored-row.ts'
import { exact } from '../../../../shop/resources/orders/amounts.ts'
import { orderItemList } from '../../../../shop/resources/orders/lists.ts'
import { goodsOf, restockedItems, sharedOut, sumByGoods } from '../../../../shop/resources/orders/stock.ts'
import { changed, type GoodsRecord, isGone, lineField, type StoredItem, type TypedGoods } from './goods-record.ts'

/** What returns put back of a line, in ten-thousandths. */
export interface Restocked {
  readonly row: Row
  readonly quantity: bigint
  /** Of all lines of the same goods. */
  readonly together: bigint
}

/** The stored lines whose goods returns put back in stock, by ItemIndexID. */
export async function restockedByLine(caller: Caller, { OrderID }: GoodsRecord): Promise<Map<number, Restocked>> {
  const restocked = sumByGoods(await restockedItems(caller, OrderID), 'restockQuantity')
  if (restocked.size === 0) return new Map()
  const rows = await readRows(caller, orderItemList, OrderID)
  const shares = sharedOut(rows, restocked)
  return new Map(
    rows.flatMap((row, at) => {
      const together = restocked.get(goodsOf(row)) ?? 0n
      return together > 0n ? [[Number(row.id), { row, quantity: shares[at] ?? 0n, together }]] : []
    }),
  )
}

/** The field of the first line whose goods would be fewer than returns put back. */
export function takenBackField(
  record: GoodsRecord,
  typed: TypedGoods,
  restocked: ReadonlyMap<number, Restocked>,
): string | undefined {
  const { form } = typed
  const left = new Map<string, bigint>()
  const quantityOf = (item: StoredItem) =>
    isGone(form, item)
      ? 0
      : Number(changed(typed, lineField(item, 'ItemQuantity'), item.ItemQuantity, 'number') ?? item.ItemQuantity)
  const known = record.OrderItemList.flatMap((item) => {
    const found = restocked.get(item.ItemIndexID)
    return found === undefined ? [] : [{ item, goods: goodsOf(found.row), quantity: found.together }]
  })
  for (const { item, goods } of known) left.set(goods, (left.get(goods) ?? 0n) + exact(quantityOf(item)))
  const short = known.find(
    ({ item, goods, quantity }) => quantityOf(item) < item.ItemQuantity && (left.get(goods) ?? 0n) < quantity,
  )
  return short && lineField(short.item, isGone(form, short.item) ? 'gone' : 'ItemQuantity')
}
