import type { Caller } from '../../../engine/caller.ts'
import { allOrRefused } from '../../../engine/changing/ignored.ts'
import type { Scalar } from '../../../engine/definition/fields.ts'
import type { Patch } from '../../../engine/definition/input.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Document, Row } from '../../../engine/definition/stored-row.ts'
import type { StoreFailure } from '../../../foundation/values/failure.ts'
import { skuKey } from '../products/sku.ts'
import { lockProducts } from '../products/stock.ts'
import { amountOf, exact, toNumber } from './amounts.ts'
import { chooseOptions, readOptionIds } from './choose-options.ts'
import { type DescribedLine, descriptionOf, optionPriceOf } from './line-description.ts'
import { priceOf } from './price.ts'
import {
  findProducts,
  type NamedProduct,
  optionIdsIn,
  readSoldProducts,
  type SoldProduct,
  type SoldVariant,
  skuOf,
  variantOf,
} from './sold-products.ts'

/** A line of a new order. */
export interface OrderLine {
  readonly product: SoldProduct
  /** The advanced option whose stock the line takes; null: the product's own. */
  readonly variant: SoldVariant | null
  readonly quantity: number
  /** The price of all units with options, in ten-thousandths, rounded to the decimals of the store's currency. */
  readonly amount: bigint
  /** The path in the body, for error messages. */
  readonly path: string
  /** All stored fields. */
  readonly patch: Patch
}

export interface Selling {
  /** Of the buyer's group, 1 to 10; 0: none. */
  readonly priceLevel: number
  /** Whether products that the shop hides may not be sold. */
  readonly isShopFront?: boolean
  /** Whether nothing is taken of their stock, so that they are not locked. */
  readonly isQuote?: boolean
  /** Where lines that are refused are added and left out. Omitted: they are thrown. */
  readonly refused?: StoreFailure[]
}

/**
 * Makes the lines of a new order: finds the products, locks them by ascending id, checks options and quantities,
 * computes prices. Refuses (400) what is unknown, not for sale, or outside the product's bounds, all of it at once.
 */
export async function makeLines(
  caller: Caller,
  items: readonly Patch[],
  { priceLevel, isShopFront = false, isQuote = false, refused }: Selling,
): Promise<OrderLine[]> {
  const named = await findProducts(caller, items)
  const ids = named.map((found) => found?.productId ?? 0)
  if (!isQuote) await lockProducts(caller, ids)
  const products = await readSoldProducts(caller, ids)
  const ordered = new Map<number, bigint>()
  for (const [index, id] of ids.entries()) {
    ordered.set(id, (ordered.get(id) ?? 0n) + exact(Number(items[index]?.columns.quantity)))
  }
  const { currency } = caller.store
  const make = (item: Patch, index: number) => {
    const path = `OrderItemList[${index}]`
    const name = named[index]
    if (!name) throw wrongField(`${path}.ItemID`, 'is not the SKU of a product in this store', 'unknown-reference')
    const product = products.get(name.productId)
    if (!product || (isShopFront && product.hide)) {
      throw wrongField(`${path}.CatalogID`, 'refers to a product that does not exist', 'unknown-reference')
    }
    const orderedQuantity = toNumber(ordered.get(name.productId) as bigint)
    return makeLine(item, name, product, { priceLevel, orderedQuantity, path, currency })
  }
  return allOrRefused(items, make, refused)
}

interface LineContext {
  readonly priceLevel: number
  /** Of the product, in all lines of the order. */
  readonly orderedQuantity: number
  readonly path: string
  readonly currency: string
}

function makeLine(
  item: Patch,
  { productId, optionCode }: NamedProduct,
  product: SoldProduct,
  { priceLevel, orderedQuantity, path, currency }: LineContext,
): OrderLine {
  const { details } = product
  if (product.notForSale)
    throw wrongField(`${path}.CatalogID`, `names ${product.sku}, which is not for sale`, 'not-for-sale')
  const quantity = Number(item.columns.quantity)
  refuseQuantity(product, quantity, `${path}.ItemQuantity`)

  const named = namedVariant(item, optionCode, product)
  const optionIds = optionIdsOf(item, product, named, `${path}.ItemOptions`)
  const choices = chooseOptions(product, optionIds, `${path}.ItemOptions`)
  const variant = named ?? variantOf(product, optionIds)
  refuseOtherSku(item, [product.sku, skuOf(product, variant)], `${path}.ItemID`)

  const { unitPrice: ownPrice } = item.columns
  const counted = details.GroupOptionsForQuantityPricing === true ? orderedQuantity : quantity
  const purchase = { priceLevel, quantity: counted, optionPrice: optionPriceOf(choices, variant), currency }
  const own = { unitPrice: exact(Number(ownPrice ?? 0)), optionPrice: 0n }
  const { unitPrice, optionPrice } = ownPrice === undefined ? priceOf(product, purchase) : own
  if (unitPrice + optionPrice < 0n) {
    if (ownPrice !== undefined) throw wrongField(`${path}.ItemUnitPrice`, 'must not be negative', 'out-of-range')
    const each = `${toNumber(unitPrice + optionPrice)} ${currency}`
    const problem = `names ${product.sku}, whose price with options is below 0: ${each}`
    throw wrongField(`${path}.CatalogID`, problem, 'out-of-range')
  }
  const prices = { unitPrice: toNumber(unitPrice), optionPrice: toNumber(optionPrice) }
  const described = lineColumns({ product, variant, choices, currency, optionPrice: prices.optionPrice })
  const columns = { ...item.columns, productId, ...described, ...prices }
  const isNonTaxable = item.details.ItemNonTaxable === true || product.nonTaxable
  const copied = { ...item.details, ...lineDetails(product), ItemNonTaxable: isNonTaxable }
  const kept = { ...copied, ItemOptions: optionIds.map((id) => `,${id}`).join('') }
  const amount = amountOf(unitPrice + optionPrice, exact(quantity), currency)
  return { product, variant, quantity, amount, path, patch: { ...item, columns, details: kept } }
}

function refuseQuantity({ sku, details }: SoldProduct, quantity: number, path: string): void {
  const minimum = Number(details.MinimumQuantity ?? 0)
  const maximum = Number(details.MaximumQuantity ?? 0)
  refuseFraction({ sku, details }, quantity, path)
  if (quantity < minimum) throw wrongField(path, `must be at least ${minimum} for ${sku}`, 'out-of-range')
  if (maximum > 0 && quantity > maximum) throw wrongField(path, `must be at most ${maximum} for ${sku}`, 'out-of-range')
  if (details.AllowOnlyMultiples === true && minimum > 0 && exact(quantity) % exact(minimum) !== 0n) {
    throw wrongField(path, `must be a multiple of ${minimum} for ${sku}`)
  }
}

/** Refuses (400) a part of a piece of a product that is sold in whole ones. */
function refuseFraction({ sku, details }: Pick<SoldProduct, 'sku' | 'details'>, quantity: number, path: string): void {
  if (details.AllowFractionalQuantity === true || Number.isInteger(quantity)) return
  throw wrongField(path, `must be a whole number for ${sku}`)
}

/** The quantities of rows that name goods, by column. */
const quantityNames = {
  quantity: 'ItemQuantity',
  returnQuantity: 'ReturnQuantity',
  receivedQuantity: 'ReceivedQuantity',
  restockQuantity: 'RestockQuantity',
}

/**
 * Refuses (400) the same in what people do with an order after it was placed; programs may. Goods of which the `stored` rows have
 * fractions keep them, and of a product that is gone nobody knows.
 */
export async function refuseFractions(
  caller: Caller,
  stored: readonly Row[],
  rows: readonly Row[],
  pathOf: (index: number, name: string) => string,
): Promise<void> {
  if (caller.channel !== 'administration') return
  const inParts = (all: readonly Row[]) =>
    all
      .filter((row) => Object.keys(quantityNames).some((column) => !Number.isInteger(Number(row[column] ?? 0))))
      .map(({ productId }) => Number(productId ?? 0))
  const known = new Set([0, ...inParts(stored)])
  const products = await readSoldProducts(caller, [...new Set(inParts(rows)).difference(known)])
  for (const [index, row] of rows.entries()) {
    const product = products.get(Number(row.productId))
    for (const [column, name] of Object.entries(quantityNames)) {
      if (product) refuseFraction(product, Number(row[column] ?? 0), pathOf(index, name))
    }
  }
}

/** Returns the advanced option that ItemID names, with or without a CatalogID. */
function namedVariant({ columns }: Patch, optionCode: string | null, product: SoldProduct): SoldVariant | undefined {
  const sku = skuKey(columns.sku)
  return product.advancedOptions.find(
    (variant) => variant.code === optionCode || (variant.suffix !== '' && skuKey(skuOf(product, variant)) === sku),
  )
}

/** Returns the chosen options and those that an advanced option's SKU implies. */
function optionIdsOf(item: Patch, { optionSets }: SoldProduct, named: SoldVariant | undefined, path: string): number[] {
  const given = readOptionIds(String(item.details.ItemOptions ?? ''), path)
  if (!named) return given
  const known = new Set(optionSets.flatMap(({ OptionList = [] }) => OptionList.map(({ OptionID }) => OptionID)))
  const implied = optionIdsIn(named.code).filter((id) => known.has(id))
  return [...new Set([...implied, ...given])]
}

function refuseOtherSku({ columns }: Patch, allowed: readonly string[], path: string): void {
  const given = skuKey(columns.sku)
  const isOne = allowed.some((sku) => skuKey(sku) === given)
  if (given !== '' && !isOne)
    throw wrongField(path, `is the SKU of another product or option; here it is ${allowed.at(-1)}`)
}

/** The length of ItemID. */
const SKU_LENGTH_MAX = 150

/** Returns what a line copies from its product and the chosen options, by column. */
export function lineColumns(line: DescribedLine): Record<string, Scalar | null> {
  const { product, variant } = line
  return {
    optionCode: variant?.code ?? null,
    sku: skuOf(product, variant).slice(0, SKU_LENGTH_MAX),
    description: descriptionOf(line),
    unitCost: variant?.cost || product.cost,
    weight: variant?.weight || Number(product.details.Weight ?? 0),
    unitStock: (variant ?? product).stock,
  }
}

/** Returns what a line copies from its product when it is ordered, by wire name. */
export function lineDetails({ details }: SoldProduct): Document {
  return {
    ItemImage1: details.MainImageFile ?? '',
    ItemImage2: details.AdditionalImageFile2 ?? '',
    ItemImage3: details.AdditionalImageFile3 ?? '',
    ItemImage4: details.AdditionalImageFile4 ?? '',
    ItemWarehouseLocation: details.WarehouseLocation ?? '',
    ItemWarehouseBin: details.WarehouseBin ?? '',
    ItemWarehouseAisle: details.WarehouseAisle ?? '',
    ItemWarehouseCustom: details.WarehouseCustom ?? '',
  }
}
