import type { TransferLine } from '../../src/engine/transfer/import.ts'
import { makeCategories, makeCustomerGroups, makeDistributors, makeManufacturers } from './catalogue.ts'
import { seedChance } from './chance.ts'
import { makeCustomers } from './customers.ts'
import { makeGiftRegistries } from './gift-registries.ts'
import { makeOrders } from './orders.ts'
import { makeProducts } from './products.ts'
import { makeReturns } from './returns.ts'
import { makeStockMovements } from './stock.ts'

/**
 * The records of the sandbox store, references pointing backwards: 25 categories, 20 manufacturers, 8 distributors,
 * 4 customer groups, 600 products, 600 customers, 350 orders in all twelve statuses, 10 gift registries and 20 returns.
 * The same bytes on every machine and on every day; amounts of orders add up to the cent, and the stock ledger to what
 * is in stock. The order statuses are those that every store has.
 */
export function generateSandbox(): TransferLine[] {
  seedChance()
  const categories = makeCategories()
  const manufacturers = makeManufacturers()
  const distributors = makeDistributors()
  const products = makeProducts()
  const customers = makeCustomers()
  const orders = makeOrders(products, customers)
  const registries = makeGiftRegistries(products)
  const returns = makeReturns(orders)
  const movements = makeStockMovements(products, orders, returns)
  return [
    ...lines('Category', categories),
    ...lines('Manufacturers', manufacturers),
    ...lines('Distributors', distributors),
    ...lines('CustomerGroups', makeCustomerGroups()),
    ...products.map(({ id, record }) => productLine(record, movements.get(id))),
    ...linesWithHidden('Customers', customers),
    ...linesWithHidden('Orders', orders),
    ...lines('GiftRegistries', registries),
    ...linesWithHidden('RMA', returns),
  ]
}

/** The same as a transfer file. */
export function sandboxText(): string {
  return Array.from(generateSandbox(), (line) => `${JSON.stringify(line)}\n`).join('')
}

/** The first line of each service. */
export function samplesText(): string {
  const firsts = new Map(
    generateSandbox()
      .toReversed()
      .map((line) => [line.service, line]),
  )
  return Array.from(
    [...firsts.values()].toReversed(),
    ({ service, record }) => `${JSON.stringify({ service, record })}\n`,
  ).join('')
}

function lines(service: string, records: readonly Record<string, unknown>[]): TransferLine[] {
  return records.map((record) => ({ service, record }))
}

/** As an export writes it: a product whose stocks never moved says nothing of that. */
function productLine(record: Record<string, unknown>, movements: readonly object[] = []): TransferLine {
  return { service: 'Products', record, ...(movements.length > 0 && { private: { StockMovements: movements } }) }
}

interface Made {
  readonly record: Record<string, unknown>
  readonly private: Record<string, unknown>
}

function linesWithHidden(service: string, made: readonly Made[]): TransferLine[] {
  return made.map((one) => ({ service, record: one.record, private: one.private }))
}
