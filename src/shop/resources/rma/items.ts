import { decimal, type ListRows, LONG_TEXT, list, reference, text } from '../../../engine/definition/fields.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Row } from '../../../engine/definition/stored-row.ts'
import { exact, toNumber } from '../orders/amounts.ts'
import { goodsOf, sumByGoods } from '../orders/stock.ts'
import { plainSku, skuKey } from '../products/sku.ts'

/** `optionCode` is that of the order's line. */
export const rmaItemRows: ListRows = {
  table: 'RmaItem',
  parent: 'rmaId',
  position: 'position',
  hidden: { optionCode: null },
}

export const rmaItemList = list(
  'RMAItem',
  {
    CatalogID: reference(
      'productId',
      'The product that comes back: it names a line of the order, alone or with SKU. Left out, it is that of the line that SKU names.',
      'Product',
    ),
    SKU: text(150, {
      column: 'sku',
      normalise: plainSku,
      description:
        'The SKU of the line that comes back, which tells lines of one product with different options apart. Left out, it is that of the first line with CatalogID.',
    }),
    ItemName: text(LONG_TEXT, {
      column: 'name',
      label: 'Name',
      description: 'The name of the goods. Left out, it is the ItemDescription of the line.',
    }),
    // Documented as integers, but products may be sold in fractions.
    ReturnQuantity: decimal({
      column: 'returnQuantity',
      min: 0,
      label: 'Returned',
      description: 'The quantity that comes back: at most what the order sold.',
    }),
    ReceivedQuantity: decimal({
      column: 'receivedQuantity',
      min: 0,
      label: 'Received',
      description: 'The quantity that has arrived. Only a note: it does not move stock.',
    }),
    RestockQuantity: decimal({
      column: 'restockQuantity',
      min: 0,
      label: 'Back to stock',
      description:
        'The quantity that goes back to stock. A change moves the stock by the difference, unless the order is Cancel or Not Completed. All returns of an order together restock at most what it sold.',
    }),
  },
  {
    labels: ['Returned item', 'Returned items'],
    description:
      'The returned goods: lines of the order, or a part of each. Items have no keys: send all that are to stay.',
    rows: rmaItemRows,
  },
)

/**
 * Completes each item from its line of the order: omitted fields and the advanced option. Refuses (400) an item without
 * a line, more than the order sold, and restocking more than it sold less what its other returns (`restocked`)
 * restocked.
 */
export function completeItems(items: readonly Row[], lines: readonly Row[], restocked: readonly Row[]): void {
  const find = finderOf(lines)
  const sold = sumByGoods(lines, 'quantity')
  const back = sumByGoods(restocked, 'restockQuantity')
  items.forEach((item, index) => {
    const path = `RMAItemList[${index}]`
    const line = find(item) ?? refuse(item, lines, path)
    item.productId = line.productId as number | null
    item.optionCode = line.optionCode as string | null
    if (skuIn(item) === '') item.sku = plainSku(String(line.sku))
    if (item.name === '') item.name = line.description as string

    const goods = goodsOf(line)
    const quantity = sold.get(goods) as bigint
    const already = back.get(goods) ?? 0n
    const has = `the order has ${toNumber(quantity)} of ${line.sku}`
    refuseMore(item.returnQuantity, quantity, `${path}.ReturnQuantity`, has)
    const isBack = `${has}, of which ${toNumber(already)} went back to stock already`
    refuseMore(item.restockQuantity, quantity - already, `${path}.RestockQuantity`, already > 0n ? isBack : has)
    back.set(goods, already + exact(Number(item.restockQuantity)))
  })
}

/** Finds the line that an item names by product, SKU or both; the first of several. */
function finderOf(lines: readonly Row[]): (item: Row) => Row | undefined {
  const named = new Map<string, Row>()
  for (const line of lines) {
    const { productId } = line
    for (const name of [nameOf(productId, skuIn(line)), nameOf(productId, ''), nameOf(null, skuIn(line))]) {
      if (!named.has(name)) named.set(name, line)
    }
  }
  named.delete(nameOf(null, ''))
  return (item) => named.get(nameOf(item.productId, skuIn(item)))
}

function nameOf(productId: Row[string] | undefined, sku: string): string {
  return `${productId ?? ''} ${sku}`
}

function skuIn({ sku }: Row): string {
  return skuKey(sku)
}

/** Values listed in an error message. */
const NAMED_MAX = 10

function refuse(item: Row, lines: readonly Row[], path: string): never {
  const { productId } = item
  const ofProduct = productId === null ? lines : lines.filter((line) => line.productId === productId)
  const isBySku = skuIn(item) !== '' && ofProduct.length > 0
  const [name, known] = isBySku
    ? ['SKU', ofProduct.map(({ sku }) => sku)]
    : ['CatalogID', lines.map((line) => line.productId)]
  const different = [...new Set(known.filter((value) => value !== null && value !== ''))]
  const named = different.slice(0, NAMED_MAX).join(', ')
  const listed = different.length > NAMED_MAX ? `${named} and more` : named || 'none'
  throw wrongField(`${path}.${name}`, `must be that of a line of the order, one of ${listed}`, 'unknown-reference')
}

function refuseMore(given: unknown, limit: bigint, field: string, reason: string): void {
  const allowed = limit > 0n ? limit : 0n
  if (exact(Number(given)) > allowed)
    throw wrongField(field, `must be at most ${toNumber(allowed)}: ${reason}`, 'out-of-range')
}

/** Without an order, copies the advanced option of the stored item with the same product and SKU. */
export function keepOptions(items: readonly Row[], stored: readonly Row[]): void {
  const known = Map.groupBy(stored, (row) => nameOf(row.productId, skuIn(row)))
  for (const item of items) {
    const own = known.get(nameOf(item.productId, skuIn(item)))?.shift()
    item.optionCode = (own?.optionCode ?? null) as string | null
  }
}

const sentColumns = ['productId', 'sku', 'name', 'returnQuantity', 'receivedQuantity', 'restockQuantity']

/** Whether all fields that a caller can send are unchanged in all items. */
export function areSame(stored: readonly Row[], items: readonly Row[]): boolean {
  const isSame = (item: Row, index: number) => sentColumns.every((column) => item[column] === stored[index]?.[column])
  return stored.length === items.length && items.every(isSame)
}
