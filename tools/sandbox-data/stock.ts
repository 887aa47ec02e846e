import { holdsStock } from '../../src/shop/resources/orders/statuses.ts'
import { variantOf } from './order-lines.ts'
import type { Order } from './orders.ts'
import type { Product } from './products.ts'
import type { Return } from './returns.ts'

/** What an order or a return did to one stock. */
interface StockMove {
  readonly productId: number
  /** Empty: the product's own stock. */
  readonly optionCode: string
  /** Negative: taken off. */
  readonly quantity: number
  readonly cause: 'initial' | 'order' | 'return'
  readonly orderId: number
  readonly date: string
}

/**
 * How each product's stocks became what they are, by product id: what there was at first, less what orders hold, and
 * what came back. Orders that hold nothing, as a cancelled one, moved nothing.
 */
export function makeStockMovements(
  products: readonly Product[],
  orders: readonly Order[],
  returns: readonly Return[],
): Map<number, object[]> {
  const moves = [
    ...orders.filter(({ statusId }) => holdsStock(statusId)).flatMap(takenBy),
    ...returns.flatMap(putBackBy),
  ]
  const byProduct = Map.groupBy(moves, ({ productId }) => productId)
  return new Map(products.map((product) => [product.id, ledgerOf(product, byProduct.get(product.id) ?? [])]))
}

function takenBy({ id, placedAt, lines }: Order): StockMove[] {
  return lines.map((line) => ({
    productId: line.product.id,
    optionCode: variantOf(line)?.code ?? '',
    quantity: -line.quantity,
    cause: 'order',
    orderId: id,
    date: placedAt,
  }))
}

function putBackBy({ orderId, updatedAt, items }: Return): StockMove[] {
  return items
    .filter(({ restocked }) => restocked > 0)
    .map(({ line, restocked }) => ({
      productId: line.product.id,
      optionCode: variantOf(line)?.code ?? '',
      quantity: restocked,
      cause: 'return',
      orderId,
      date: updatedAt,
    }))
}

function ledgerOf(product: Product, moves: readonly StockMove[]): object[] {
  const stocks = [{ code: '', stock: product.stock }, ...product.variants]
  const sorted = inTime([...stocks.map(({ code, stock }) => opening(product, code, stock, moves)), ...moves])
  const stockOf = new Map<string, number>()
  return sorted
    .filter(({ quantity }) => quantity !== 0)
    .map(({ optionCode, quantity, cause, orderId, date }) => {
      const stockAfter = (stockOf.get(optionCode) ?? 0) + quantity
      stockOf.set(optionCode, stockAfter)
      return {
        AdvancedOptionCode: optionCode,
        Quantity: quantity,
        StockAfter: stockAfter,
        Cause: cause,
        OrderID: orderId,
        UserID: 'sandbox',
        Date: date,
      }
    })
}

/** Some products were sold before they had a page in the store. */
function opening({ id, createdAt }: Product, code: string, stock: number, moves: readonly StockMove[]): StockMove {
  const [first] = inTime(moves)
  const quantity = moves.reduce((left, move) => (move.optionCode === code ? left - move.quantity : left), stock)
  const date = first && first.date < createdAt ? first.date : createdAt
  return { productId: id, optionCode: code, quantity, cause: 'initial', orderId: 0, date }
}

/** Of the same time as they stand. */
function inTime(moves: readonly StockMove[]): StockMove[] {
  return moves.toSorted((one, other) => (one.date === other.date ? 0 : one.date < other.date ? -1 : 1))
}
