import { wrongField } from '../../../engine/definition/refused.ts'
import type { Option, OptionSet, SoldProduct } from './sold-products.ts'

/** An option that a line names, and its set. */
export interface Choice {
  readonly set: OptionSet
  readonly option: Option
}

/** Types of sets that the shopper answers with text or a file, so no option id applies (order-statuses §5). */
const freeTypes = new Set(['text', 'textarea', 'file', 'dropimage'])
/** Types of sets that allow one option. */
const singleTypes = new Set(['dropdown', 'radio'])
/** Ids listed in an error message. */
const IDS_SHOWN_MAX = 20

/** Parses ItemOptions: option ids separated by commas, with or without a leading comma. */
export function readOptionIds(text: string, path: string): number[] {
  const parts = text.split(',').map((part) => part.trim())
  const ids = parts.filter((part) => part !== '').map((part) => (/^\d{1,10}$/.test(part) ? Number(part) : Number.NaN))
  if (ids.every((id) => !Number.isNaN(id)) && new Set(ids).size === ids.length) return ids
  throw wrongField(path, 'must be a list of option ids such as ",4,17", none of them twice')
}

/**
 * Returns the options with these ids, in their order. Refuses (400) an option that neither the product nor its
 * categories have, a second one of a set that allows one, and none of a required set that has options.
 */
export function chooseOptions(product: SoldProduct, optionIds: readonly number[], path: string): Choice[] {
  const choices = optionIds.map((id) => {
    const choice = choiceOf(product, id)
    if (choice) return choice
    throw wrongField(path, `names ${id}, which is not an option of ${product.sku}`, 'unknown-reference')
  })
  for (const set of product.optionSets) {
    const count = choices.filter((choice) => choice.set === set).length
    if (count > 1 && takesOne(set)) {
      throw wrongField(path, `names ${count} options of "${set.OptionSetName ?? ''}"; one is allowed`)
    }
    if (count === 0 && mustBeChosen(set)) {
      const ids = (set.OptionList ?? []).slice(0, IDS_SHOWN_MAX).map(({ OptionID }) => OptionID)
      const problem = `must name an option of "${set.OptionSetName ?? ''}", such as ${ids.join(', ')}`
      throw wrongField(path, problem, 'missing-field')
    }
  }
  return choices
}

/** Whether the set allows only one option. */
export function takesOne({ OptionType = '' }: OptionSet): boolean {
  return singleTypes.has(OptionType.toLowerCase())
}

/** Whether an order must name an option of the set. */
export function mustBeChosen({ OptionType = '', OptionRequired = false, OptionList }: OptionSet): boolean {
  return OptionRequired && OptionList !== undefined && !freeTypes.has(OptionType.toLowerCase())
}

/** Returns the options with these ids. Omits unknown ids, which a merchant may write into a line. */
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
