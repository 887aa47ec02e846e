import { between, happens, someOf } from './chance.ts'
import { dollars } from './money.ts'
import type { OptionKind } from './shelves.ts'

export interface Choice {
  readonly id: number
  readonly name: string
  /** Added to the price of one piece. */
  readonly cents: number
  /** Ends a variant's SKU. */
  readonly code: string
}

export interface OptionSet {
  readonly id: number
  readonly name: string
  readonly type: 'Dropdown' | 'Radio' | 'Text'
  readonly required: boolean
  readonly choices: readonly Choice[]
}

/** A combination of choices that has a stock of its own. */
export interface Variant {
  /** The choices' ids, as an order line names them. */
  readonly code: string
  readonly choices: readonly Choice[]
  readonly sku: string
  readonly stock: number
}

/** Gives out the ids that the store's option sets and options share over all products. */
export interface OptionIds {
  set(): number
  option(): number
}

export function countOptionIds(): OptionIds {
  let sets = 0
  let options = 0
  return { set: () => (sets += 1), option: () => (options += 1) }
}

const colors = [
  ['Navy', 'NVY'],
  ['Forest', 'FOR'],
  ['Oatmeal', 'OAT'],
  ['Charcoal', 'CHA'],
  ['Rust', 'RST'],
  ['Crème', 'CRM'],
] as const

export function makeOptionSets(kind: OptionKind, ids: OptionIds): OptionSet[] {
  const palette = someOf(colors, between(2, 3)).map(([name, code]) => ({ name, code, cents: 0 }))
  switch (kind) {
    case 'clothing':
      return [
        optionSet(ids, 'Size', 'Dropdown', [size('S', 0), size('M', 0), size('L', 0), size('XL', 300)]),
        optionSet(ids, 'Color', 'Radio', palette),
      ]
    case 'accessory':
      return [optionSet(ids, 'Color', 'Radio', palette)]
    case 'bedding':
      return [
        optionSet(ids, 'Size', 'Dropdown', [size('Twin', 0), size('Queen', 2_000), size('King', 3_500)]),
        optionSet(ids, 'Color', 'Radio', palette),
      ]
    case 'pot':
      return [optionSet(ids, 'Size', 'Dropdown', [size('Small', 0), size('Medium', 800), size('Large', 1_800)])]
    case 'lamp':
      return happens(60)
        ? [optionSet(ids, 'Cord', 'Radio', [size('Black cord', 0), size('Linen cord', 0), size('Brass chain', 1_200)])]
        : []
    case 'engraving':
      return happens(60)
        ? [{ id: ids.set(), name: 'Engraving (up to 20 letters)', type: 'Text', required: false, choices: [] }]
        : []
  }
}

/** Every combination of one choice from each set. */
export function makeVariants(sku: string, sets: readonly OptionSet[]): Variant[] {
  let combinations: Choice[][] = [[]]
  for (const { choices } of sets) {
    combinations = combinations.flatMap((chosen) => choices.map((choice) => [...chosen, choice]))
  }
  return combinations.map((choices) => ({
    code: choices.map(({ id }) => id).join(','),
    choices,
    sku: [sku, ...choices.map(({ code }) => code)].join('-'),
    stock: happens(12) ? 0 : between(1, 40),
  }))
}

export function optionSetRecord({ id, name, type, required, choices }: OptionSet, index: number) {
  return {
    OptionSetID: id,
    OptionSetName: name,
    OptionSorting: index + 1,
    OptionRequired: required,
    OptionType: type,
    OptionSizeLimit: type === 'Text' ? 20 : 0,
    OptionList: choices.map((choice, place) => ({
      OptionID: choice.id,
      OptionName: choice.name,
      OptionSelected: place === 0,
      OptionValue: dollars(choice.cents),
      OptionPartNumber: choice.code,
      OptionSorting: place + 1,
    })),
  }
}

export function variantRecord({ code, choices, sku, stock }: Variant) {
  return {
    AdvancedOptionCode: code,
    AdvancedOptionSufix: sku,
    AdvancedOptionName: choices.map(({ name }) => name).join(', '),
    AdvancedOptionStock: stock,
  }
}

function optionSet(
  ids: OptionIds,
  name: string,
  type: OptionSet['type'],
  choices: readonly Omit<Choice, 'id'>[],
): OptionSet {
  return {
    id: ids.set(),
    name,
    type,
    required: true,
    choices: choices.map((choice) => ({ id: ids.option(), ...choice })),
  }
}

function size(name: string, cents: number): Omit<Choice, 'id'> {
  return { name, cents, code: name.slice(0, 3).toUpperCase() }
}
