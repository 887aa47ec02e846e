import { takesOne } from '../orders/choose-options.ts'
import { type Option, type OptionSet, optionIdsIn } from '../orders/sold-products.ts'

/** Options that can be chosen together, as an advanced option. */
export interface Combination {
  /** The ids of the options. */
  readonly code: string
  readonly name: string
  /** What their part numbers suggest for the end of the SKU. */
  readonly suffix: string
}

const SUFFIX_LENGTH_MAX = 50
/** Of all combinations that are looked at for those that do not exist. */
const TRIED_MAX = 20_000

/** Returns the combinations that could exist and do not, at most `max`, and whether there are more. */
export function missingCombinations(sets: readonly OptionSet[], codes: readonly string[], max: number) {
  const existing = new Set(codes.map(keyOf))
  const missing: Combination[] = []
  let tried = 0
  for (const options of product(combined(sets, codes).map(shownIn))) {
    if (++tried > TRIED_MAX) return { missing, isMore: true }
    const code = options.map(({ OptionID }) => OptionID).join(',')
    if (existing.has(keyOf(code))) continue
    if (missing.length === max) return { missing, isMore: true }
    missing.push({ code, name: nameOf(options), suffix: suffixOf(options) })
  }
  return { missing, isMore: false }
}

/** What a code is called, by the names of its options. */
export function nameOfCode(sets: readonly OptionSet[], code: string): string {
  const options = new Map(sets.flatMap(shownIn).map((option) => [option.OptionID, option]))
  const named = optionIdsIn(code).flatMap((id) => options.get(id) ?? [])
  return named.length > 0 ? nameOf(named) : code
}

/** The sets that existing codes choose from, or else those of which a shopper takes one option. */
function combined(sets: readonly OptionSet[], codes: readonly string[]): OptionSet[] {
  const ids = new Set(codes.flatMap(optionIdsIn))
  const withOptions = sets.filter((set) => shownIn(set).length > 0)
  const named = withOptions.filter((set) => shownIn(set).some(({ OptionID }) => ids.has(OptionID)))
  return named.length > 0 ? named : withOptions.filter(takesOne)
}

function shownIn({ OptionList = [] }: OptionSet): Option[] {
  return OptionList.filter(({ OptionHide }) => OptionHide !== true)
}

/** One option of each set; none without sets. */
function* product(sets: readonly (readonly Option[])[]): Generator<readonly Option[]> {
  const [first, ...others] = sets
  if (first === undefined) return
  for (const option of first) {
    if (others.length === 0) yield [option]
    else for (const rest of product(others)) yield [option, ...rest]
  }
}

function keyOf(code: string): string {
  return optionIdsIn(code)
    .toSorted((one, other) => one - other)
    .join()
}

function nameOf(options: readonly Option[]): string {
  return options.map(({ OptionName, OptionID }) => OptionName || OptionID).join(', ')
}

function suffixOf(options: readonly Option[]): string {
  const numbers = options.map(({ OptionPartNumber }) => OptionPartNumber ?? '')
  const suffix = numbers.map((number) => `-${number}`).join('')
  return numbers.includes('') || suffix.length > SUFFIX_LENGTH_MAX ? '' : suffix
}
