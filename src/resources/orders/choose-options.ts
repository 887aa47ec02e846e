import { wrongField } from '../../engine/refused.ts'
import type { Option, OptionSet, SoldProduct } from './sold-products.ts'

/** An option that a line names, and the set that it is from. */
export interface Choice {
  readonly set: OptionSet
  readonly option: Option
}

/** Sets whose answer the shopper types or uploads (order-statuses §5): there is nothing to name by an id. */
const freeTypes = new Set(['text', 'textarea', 'file', 'dropimage'])
/** Sets of which one option alone can be chosen. */
const singleTypes = new Set(['dropdown', 'radio'])
/** Ids that a message lists. */
const IDS_SHOWN_MAX = 20

/** Reads ItemOptions: option ids, separated by commas, with or without one in front. */
export function readOptionIds(text: string, path: string): number[] {
  const parts = text.split(',').map((part) => part.trim())
  const ids = parts.filter((part) => part !== '').map((part) => (/^\d{1,10}$/.test(part) ? Number(part) : Number.NaN))
  if (ids.every((id) => !Number.isNaN(id)) && new Set(ids).size === ids.length) return ids
  throw wrongField(path, 'must be a list of option ids such as ",4,17", none of them twice')
}

/**
 * The options with these ids, in their order. Refuses (400) one that neither the product nor its categories have,
 * a second one of a set that takes one, and a required set (with anything to choose) without any.
 */
export function chooseOptions(product: SoldProduct, optionIds: readonly number[], path: string): Choice[] {
  const choices = optionIds.map((id) => {
    const choice = choiceOf(product, id)
    if (choice) return choice
    throw wrongField(path, `names ${id}, which is not an option of ${product.sku}`)
  })
  for (const set of product.optionSets) {
    const count = choices.filter((choice) => choice.set === set).length
    if (count > 1 && takesOne(set)) {
      throw wrongField(path, `names ${count} options of "${set.OptionSetName ?? ''}"; one is allowed`)
    }
    if (count === 0 && mustBeChosen(set)) {
      const ids = (set.OptionList ?? []).slice(0, IDS_SHOWN_MAX).map(({ OptionID }) => OptionID)
      throw wrongField(path, `must name an option of "${set.OptionSetName ?? ''}", such as ${ids.join(', ')}`)
    }
  }
  return choices
}

/** Whether one option of the set alone can be chosen. */
export function takesOne({ OptionType = '' }: OptionSet): boolean {
  return singleTypes.has(OptionType.toLowerCase())
}

/** Whether an order has to name an option of the set. */
export function mustBeChosen({ OptionType = '', OptionRequired = false, OptionList }: OptionSet): boolean {
  return OptionRequired && OptionList !== undefined && !freeTypes.has(OptionType.toLowerCase())
}

/** The options that are known of these ids; a merchant may write others into a line. */
export function knownChoices(product: SoldProduct, optionIds: readonly number[]): Choice[] {
  return optionIds.flatMap((id) => choiceOf(product, id) ?? [])
}

function choiceOf({ optionSets }: SoldProduct, id: number): Choice | undefined {
  for (const set of optionSets) {
    const option = set.OptionList?.find(({ OptionID }) => OptionID === id)
    if (option) return { set, option }
  }
  return undefined
}
