import { LONG_TEXT, type Scalar } from '../../engine/fields.ts'
import type { Document } from '../../engine/merge.ts'
import type { Choice } from './choose-options.ts'
import { type SoldProduct, type SoldVariant, skuOf } from './sold-products.ts'

/** Of ItemID. */
const SKU_LENGTH_MAX = 150

/** What a line takes over from its product and the chosen options, by column. */
export function lineColumns(
  product: SoldProduct,
  variant: SoldVariant | null,
  choices: readonly Choice[],
): Record<string, Scalar | null> {
  return {
    optionCode: variant?.code ?? null,
    sku: skuOf(product, variant).slice(0, SKU_LENGTH_MAX),
    description: descriptionOf(product, choices).slice(0, LONG_TEXT),
    unitCost: variant?.cost || product.cost,
    weight: variant?.weight || Number(product.details.Weight ?? 0),
    unitStock: (variant ?? product).stock,
  }
}

/** The product's name, and what was chosen in the HTML that clients take apart (rest-resources 3.4). */
function descriptionOf(product: SoldProduct, choices: readonly Choice[]): string {
  const chosen = choices.map(
    ({ set, option }) => `<br><b>${escaped(set.OptionSetName)}:</b>&nbsp;${escaped(option.OptionName)}`,
  )
  return product.name + chosen.join('')
}

const entities: Readonly<Record<string, string>> = { '&': '&amp;', '<': '&lt;', '>': '&gt;', '"': '&quot;' }

function escaped(text = ''): string {
  return text.replace(/[&<>"]/g, (character) => entities[character] as string)
}

/** What it keeps as the product had it when it was ordered, by wire name. */
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
