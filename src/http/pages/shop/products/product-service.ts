import type { RecordOf } from '../../../../engine/definition/record-of.ts'
import { products } from '../../../../shop/resources/products/products.ts'
import { type List, serviceOf, type Value } from '../../records/services.ts'
import { productSpecial } from './special.ts'

/** What the pages of products are made from, beside their definition. */
export const productService = serviceOf(products, productSpecial)

export const advancedOptions = listNamed('AdvancedOptionList')
export const discounts = listNamed('DiscountList')
export const categoryPlaces = listNamed('CategoryList')

/** Values that the pages' forms name, in this order. */
export function valuesNamed(...names: readonly string[]): readonly Value[] {
  return names.map((name) => {
    const found = productService.values.find(({ path }) => path.join('.') === name)
    if (found === undefined) throw new Error(`Products have no value ${name}`)
    return found
  })
}

function listNamed(name: string): List {
  const found = productService.sections.find(({ list }) => list?.name === name)?.list
  if (!found) throw new Error(`Products have no list ${name}`)
  return found
}

export type ProductRecord = RecordOf<typeof products>
export type AdvancedOption = ProductRecord['AdvancedOptionList'][number]
