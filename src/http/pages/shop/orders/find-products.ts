import type { FastifyReply } from 'fastify'
import type { Caller } from '../../../../engine/caller.ts'
import { wrongField } from '../../../../engine/definition/refused.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { priceOf } from '../../../../shop/resources/orders/price.ts'
import { readSoldProducts } from '../../../../shop/resources/orders/sold-products.ts'
import { products } from '../../../../shop/resources/products/products.ts'
import { languageFor, textIn } from '../../../html/request.ts'
import type { PageRequest } from '../../frame/pages.ts'
import { findMatches } from '../../records/search.ts'
import { targetService } from '../../records/services.ts'

const TEXT_MAX = 255
/** Of what names a product in a line. */
export const SKU_LENGTH_MAX = 150

export type FoundProducts = Awaited<ReturnType<typeof findProducts>>

/** Finds the products that words may mean, a part of a name or SKU, for whoever may write orders: it shows what a line of an order shows. */
export async function findProducts(caller: Caller, typed: string, priceLevel: number) {
  const { matches, isMore } = await findMatches(caller, targetService(products), typed)
  const ids = matches.map(({ id }) => id)
  const sold = await readSoldProducts(caller, ids)
  const found = matches.flatMap(({ id }) => {
    const product = sold.get(id)
    if (product === undefined) return []
    const { unitPrice } = priceOf(product, { priceLevel, quantity: 1, optionPrice: 0, currency: caller.store.currency })
    const { sku, name, stock, notForSale } = product
    return [
      {
        /** By which a line names it: the SKU, or the catalogue id where a line has no room for the SKU. */
        code: sku.length <= SKU_LENGTH_MAX ? sku : String(id),
        sku,
        name,
        productId: id,
        /** Of one piece without options, for a customer of the price level. */
        price: toNumber(unitPrice),
        stock,
        isForSale: !notForSale,
      },
    ]
  })
  return { matches: found, isMore }
}

/** Answers the script of the pages while somebody types a product into a line: its SKU, and what it is called. */
export async function productSuggestions({ caller, query }: PageRequest, { request }: FastifyReply) {
  const typed = textIn(query, 'q').trim()
  if (typed.length > TEXT_MAX) throw wrongField('q', `has more than ${TEXT_MAX} characters`)
  if (typed === '') return []
  const { matches } = await findProducts(caller, typed, 0)
  const { say, format } = languageFor(request)
  return matches.map(({ code, name, price, stock }) => ({
    ID: code,
    Name: say(
      t('{name} · {price} · {stock, number} in stock', {
        name,
        price: format.unitPrice(price, caller.store.currency),
        stock,
      }),
    ),
  }))
}
