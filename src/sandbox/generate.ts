import type { TransferLine } from '../engine/transfer.ts'
import { makeCategories, makeCustomerGroups, makeDistributors, makeManufacturers } from './catalogue.ts'
import { seedChance } from './chance.ts'
import { makeCustomers } from './customers.ts'
import { makeOrders } from './orders.ts'
import { makeProducts } from './products.ts'

/**
 * The records of the sandbox store, references pointing backwards: 25 categories, 20 manufacturers, 8 distributors,
 * 4 customer groups, 600 products, 600 customers and 350 orders in all twelve statuses. The same bytes on every machine
 * and on every day; amounts of orders add up to the cent. The order statuses are those that every store has.
 */
export function generateSandbox(): Iterable<TransferLine> {
  seedChance()
  const categories = makeCategories()
  const manufacturers = makeManufacturers()
  const distributors = makeDistributors()
  const products = makeProducts()
  const customers = makeCustomers()
  const orders = makeOrders(products, customers)
  return [
    ...lines('Category', categories),
    ...lines('Manufacturers', manufacturers),
    ...lines('Distributors', distributors),
    ...lines('CustomerGroups', makeCustomerGroups()),
    ...lines(
      'Products',
      products.map(({ record }) => record),
    ),
    ...customers.map((customer) => ({ service: 'Customers', record: customer.record, private: customer.private })),
    ...orders.map((order) => ({ service: 'Orders', ...order })),
  ]
}

function lines(service: string, records: readonly Record<string, unknown>[]): TransferLine[] {
  return records.map((record) => ({ service, record }))
}
