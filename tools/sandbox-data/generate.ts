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

/** The first line of each service, with one value of each member, of the first record that has one. */
export function samplesText(): string {
  const services = Map.groupBy(generateSandbox(), ({ service }) => service)
  return Array.from(services, ([service, all]) => {
    const [first] = all
    return `${JSON.stringify({ service, record: first?.record, values: valuesOf(all.map(({ record }) => record)) })}\n`
  }).join('')
}

/** Longer texts are no examples of a value. */
const VALUE_LENGTH_MAX = 60

function isRecord(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

/** Lists of records have one item, with what any of them has. */
function valuesOf(records: readonly Record<string, unknown>[]): Record<string, unknown> {
  const names = [...new Set(records.flatMap(Object.keys))]
  const values = names.map((name) => {
    const given = records.flatMap((record) => record[name] ?? [])
    const inner = given.filter(isRecord)
    if (inner.length > 0)
      return [name, Array.isArray(records[0]?.[name]) ? [valuesOf(inner)] : valuesOf(inner)] as const
    const isTelling = (value: unknown) => Boolean(value) && String(value).length <= VALUE_LENGTH_MAX
    return [name, given.find(isTelling) ?? given.find((value) => String(value).length <= VALUE_LENGTH_MAX)] as const
  })
  return Object.fromEntries(values.filter(([, value]) => value !== undefined))
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
