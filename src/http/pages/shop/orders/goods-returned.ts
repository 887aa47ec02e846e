import { exact } from '../../../../shop/resources/orders/amounts.ts'
import type { OrderRecord } from '../../../../shop/resources/orders/orders.ts'
import type { ReturnedLine } from '../../../../shop/resources/orders/stock.ts'
import { changed, isGone, lineField, type StoredItem, type TypedGoods } from './goods-record.ts'

/** The field of the first line whose goods would be fewer than returns put back. */
export function takenBackField(
  record: OrderRecord,
  typed: TypedGoods,
  returned: readonly ReturnedLine[],
): string | undefined {
  const { form } = typed
  const left = new Map<string, bigint>()
  const quantityOf = (item: StoredItem) =>
    isGone(form, item)
      ? 0
      : Number(changed(typed, lineField(item, 'ItemQuantity'), item.ItemQuantity, 'number') ?? item.ItemQuantity)
  const known = record.OrderItemList.flatMap((item) => {
    const found = returned.find(({ row, restockedGoods }) => row.id === item.ItemIndexID && restockedGoods > 0n)
    return found === undefined ? [] : [{ item, goods: found.goods, quantity: found.restockedGoods }]
  })
  for (const { item, goods } of known) left.set(goods, (left.get(goods) ?? 0n) + exact(quantityOf(item)))
  const short = known.find(
    ({ item, goods, quantity }) => quantityOf(item) < item.ItemQuantity && (left.get(goods) ?? 0n) < quantity,
  )
  return short && lineField(short.item, isGone(form, short.item) ? 'gone' : 'ItemQuantity')
}
