import type { Row } from '../../engine/merge.ts'
import { exact } from './amounts.ts'

/**
 * Lines of an order, and items of its returns, are about the same goods where this is the same: the stock that they move,
 * that of a product or of its advanced option; without a product their SKU.
 */
export function goodsOf({ productId, optionCode, sku }: Row): string {
  return JSON.stringify(productId === null ? String(sku).trim().toLowerCase() : [productId, optionCode])
}

/** How much there is of which goods, in ten-thousandths. */
export function sumByGoods(rows: readonly Row[], column: string): Map<string, bigint> {
  const sums = new Map<string, bigint>()
  for (const row of rows) {
    const goods = goodsOf(row)
    sums.set(goods, (sums.get(goods) ?? 0n) + exact(Number(row[column])))
  }
  return sums
}
