import { groups } from './catalogue.ts'
import { between, happens, oneOf, someOf } from './chance.ts'
import { dollars, shareOf } from './money.ts'
import type { Choice, Variant } from './options.ts'
import type { Product } from './products.ts'

/** A line of an order before it has an id. */
export interface OrderLine {
  readonly product: Product
  /** One of each option set that has choices. */
  readonly choices: readonly Choice[]
  readonly quantity: number
  /** Without options. */
  readonly unitCents: number
  readonly optionCents: number
}

/** What a customer of the group takes of the products on offer, each once. */
export function makeLines(offered: readonly Product[], groupId: number, count: number): OrderLine[] {
  return someOf(offered, count).map((product) => {
    const choices = product.optionSets.filter(({ choices }) => choices.length > 0).map(({ choices }) => oneOf(choices))
    const quantity = makeQuantity(product, groupId)
    return {
      product,
      choices,
      quantity,
      unitCents: unitPrice(product, groupId, quantity),
      optionCents: choices.reduce((sum, { cents }) => sum + cents, 0),
    }
  })
}

export function linesCents(lines: readonly OrderLine[]): number {
  return lines.reduce((sum, line) => sum + line.quantity * (line.unitCents + line.optionCents), 0)
}

/** Tenths of a pound. */
export function linesWeight(lines: readonly OrderLine[]): number {
  return lines.reduce((sum, { product, quantity }) => sum + product.weight * quantity, 0)
}

export interface LinePlace {
  readonly id: number
  /** 0 in an order with one shipment. */
  readonly shipmentId: number
  readonly dateAdded: string
}

export function lineRecord(line: OrderLine, { id, shipmentId, dateAdded }: LinePlace) {
  const { product, choices, quantity } = line
  return {
    CatalogID: product.id,
    ItemIndexID: id,
    ItemID: lineSku(line),
    ItemShipmentID: shipmentId,
    ItemQuantity: quantity,
    ItemDescription: lineName(line),
    ItemUnitPrice: dollars(line.unitCents),
    ItemWeight: product.weight / 10,
    ItemOptionPrice: dollars(line.optionCents),
    ItemPageAdded: product.fileName,
    ItemDateAdded: dateAdded,
    ItemUnitCost: dollars(product.costCents),
    ItemUnitStock: quantity + between(0, 60),
    ItemOptions: choices.map((choice) => `,${choice.id}`).join(''),
  }
}

export function lineSku(line: OrderLine): string {
  return variantOf(line)?.sku ?? line.product.sku
}

/** With the options that were chosen. */
export function lineName({ product, choices }: OrderLine): string {
  return product.name + choices.map((choice) => optionText(product, choice)).join('')
}

/** The combination that was bought, of a product that has a stock for each. */
export function variantOf({ product, choices }: OrderLine): Variant | undefined {
  return product.variants.find(({ code }) => code === choices.map(({ id }) => id).join(','))
}

/** The way that order lines name options and their prices (rest-resources §3.4). */
function optionText(product: Product, choice: Choice): string {
  const set = product.optionSets.find(({ choices }) => choices.includes(choice))
  const price = choice.cents === 0 ? '' : ` - $${dollars(choice.cents).toFixed(2)}`
  return `<br><b>${set?.name}:</b>&nbsp;${choice.name}${price}`
}

function makeQuantity({ discounts }: Product, groupId: number): number {
  if (groupId === groups.wholesale) return between(4, 30)
  return discounts.length > 0 && happens(40) ? between(5, 12) : oneOf([1, 1, 1, 1, 2, 2, 3])
}

/** As the checkout computes it: the sale price, else the group's, else the list price; then the quantity discount. */
function unitPrice(product: Product, groupId: number, quantity: number): number {
  const levelCents = groupId === groups.schools ? 0 : (product.levelCents[groupId - 1] ?? 0)
  const cents = product.saleCents || levelCents || product.priceCents
  const discount = product.discounts.find(({ from, until }) => quantity >= from && quantity <= until)
  return discount ? shareOf(cents, 10_000 - discount.percent * 100) : cents
}
