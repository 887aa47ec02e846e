import type { Caller } from '../../engine/caller.ts'
import { StoreFailure } from '../../values/failure.ts'
import { products } from '../products/products.ts'
import { moveStocks } from '../products/stock.ts'
import { exact, toNumber } from './amounts.ts'
import { difference } from './held-stock.ts'
import type { OrderLine } from './order-lines.ts'
import { type SoldProduct, type SoldVariant, skuOf } from './sold-products.ts'

/** What the product's InventoryControl says when it may be sold without stock. */
const BACK_ORDER = 2

/**
 * Writes into each line the stock that it found (ItemUnitStock) and what the product says of it (ItemAvailability).
 * With `takes`, a line leaves less to the next of the same product.
 */
export function noteStocks(lines: readonly OrderLine[], takes: boolean): void {
  const stocks = new Map<SoldProduct | SoldVariant, number>()
  for (const { product, variant, quantity, patch } of lines) {
    const place = variant ?? product
    const stock = stocks.get(place) ?? place.stock
    patch.columns.unitStock = stock
    patch.details.ItemAvailability = availabilityOf(product, stock >= quantity)
    if (takes) stocks.set(place, toNumber(exact(stock) - exact(quantity)))
  }
}

function availabilityOf({ details, inventoryControl }: SoldProduct, isInStock: boolean): string {
  if (isInStock) return String(details.InStockMessage ?? '')
  return String((inventoryControl === BACK_ORDER ? details.BackOrderMessage : details.OutOfStockMessage) ?? '')
}

/**
 * Takes the lines off the stock. Refuses (409) what is not in stock, unless the product takes back orders; the store's
 * default (InventoryControl −1) and all other choices are to refuse.
 */
export async function takeStock(caller: Caller, orderId: number, lines: readonly OrderLine[]): Promise<void> {
  const taken = lines.map(({ product, variant, quantity }) => ({
    productId: product.id,
    optionCode: variant?.code ?? null,
    quantity,
  }))
  for (const { productId, optionCode, quantity } of difference([], taken)) {
    const line = lines.find(
      ({ product, variant }) => product.id === productId && (variant?.code ?? null) === optionCode,
    ) as OrderLine
    const [moved] = await moveStocks(caller, products, [
      {
        productId,
        optionCode,
        quantity: -quantity,
        mode: 'add',
        cause: 'order',
        orderId,
        onlyIfEnough: line.product.inventoryControl !== BACK_ORDER,
      },
    ])
    if (!moved) throw outOfStock(line, quantity)
  }
}

function outOfStock({ product, variant, path }: OrderLine, quantity: number): StoreFailure {
  const stock = Math.max(0, (variant ?? product).stock)
  const message = `${path}.ItemQuantity is more than there is: ${skuOf(product, variant)} has ${stock} in stock, and ${quantity} are ordered`
  return new StoreFailure('conflict', message, { field: `${path}.ItemQuantity` })
}
