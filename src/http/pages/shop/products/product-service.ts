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

/** The parts of a product's record that its pages read. */
export interface ProductRecord {
  readonly SKUInfo: {
    readonly SKU: string
    readonly Name: string
    readonly Price: number
    readonly SalePrice: number
    readonly OnSale: boolean
    readonly Stock: number
    readonly CatalogID: number
  }
  readonly Hide: boolean
  readonly NotForSale: boolean
  readonly CategoryList: readonly { readonly CategoryID: number }[]
  readonly OptionSetList: readonly OptionSetRecord[]
  readonly AdvancedOptionList: readonly AdvancedOption[]
  readonly DiscountList: readonly unknown[]
}

export interface AdvancedOption {
  readonly AdvancedOptionCode: string
  readonly AdvancedOptionSufix: string
  readonly AdvancedOptionName: string
  readonly AdvancedOptionStock: number
}

interface OptionSetRecord {
  readonly OptionSetID: number
  readonly OptionSetName: string
  readonly OptionList: readonly unknown[]
}
