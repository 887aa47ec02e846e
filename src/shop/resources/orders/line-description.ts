import { LONG_TEXT } from '../../../engine/definition/fields.ts'
import { type Phrase, written } from '../../../foundation/texts/text.ts'
import { decoded } from '../../../foundation/values/html-entities.ts'
import { textOfHtml } from '../../../foundation/values/html-text.ts'
import { cachedFormatters } from '../../../foundation/values/shown-date.ts'
import { exact, rounded, sum, toNumber } from './amounts.ts'
import type { Choice } from './choose-options.ts'
import { type OptionSet, optionIdsIn, type SoldProduct, type SoldVariant, skuOf } from './sold-products.ts'

/** A chosen option, and what it adds to the price of one piece, in ten-thousandths. */
interface PricedChoice {
  readonly set: Pick<OptionSet, 'OptionSetName' | 'OptionType'>
  readonly name: string
  readonly price: bigint
}

/** Returns what the options add to the unit price. An advanced option's own price replaces those of its options. */
export function optionPriceOf(choices: readonly Choice[], variant: SoldVariant | null): number {
  return toNumber(sum(pricesOf(pricedChoices(choices, variant))))
}

/** The first of an advanced option's options carries its own price; without any of them it is a choice of its own. */
function pricedChoices(choices: readonly Choice[], variant: SoldVariant | null): PricedChoice[] {
  const ownPrice = exact(Math.max(variant?.price ?? 0, 0))
  const combined = new Set(ownPrice > 0n ? optionIdsIn(variant?.code ?? '') : [])
  const first = choices.find(({ option }) => combined.has(option.OptionID))
  const priced = choices.map((choice) => {
    const { set, option } = choice
    const optionPrice = combined.has(option.OptionID) ? 0n : exact(option.OptionValue ?? 0)
    return { set, name: option.OptionName ?? '', price: choice === first ? ownPrice : optionPrice }
  })
  if (first !== undefined || ownPrice === 0n) return priced
  return [{ ...otherChoice, name: variant?.name ?? '', price: ownPrice }, ...priced]
}

const otherChoice = { set: { OptionSetName: 'Option' }, name: '', price: 0n }

/** What a line's description is made of. */
export interface DescribedLine {
  readonly product: SoldProduct
  readonly variant: SoldVariant | null
  readonly choices: readonly Choice[]
  /** The line's ItemOptionPrice: what the prices in its description add up to. */
  readonly optionPrice: number
  readonly currency: string
}

/**
 * Returns ItemDescription (rest-resources §3.4): the product's name, then HTML for the chosen options with their prices.
 * Clients know options' prices only from this text, so the prices add up to ItemOptionPrice, whoever set it. A text
 * beyond the field's length ends before the option that does not fit.
 */
export function descriptionOf({ product, variant, choices, optionPrice, currency }: DescribedLine): string {
  const priced = pricedChoices(choices, variant)
  const total = exact(optionPrice)
  const named = priced.length === 0 && total !== 0n ? [{ ...otherChoice, name: skuOf(product, variant) }] : priced
  const shared = shareOut(named, total, currency)
  let description = product.name
  for (const set of new Set(shared.map((choice) => choice.set))) {
    const ofSet = shared.filter((choice) => choice.set === set)
    const html = choicesOfSet(ofSet, currency)
    if (description.length + html.length > LONG_TEXT) break
    description += html
  }
  return description
}

/**
 * Makes the prices add up to the total. Prices of one sign change in proportion; those of both keep their values, because they may
 * nearly cancel out, and proportion would make them huge. The last choice that has a price takes the rest.
 */
function shareOut(choices: readonly PricedChoice[], total: bigint, currency: string): PricedChoice[] {
  const before = sum(pricesOf(choices))
  if (before === total) return [...choices]
  const isOneSigned = choices.every(({ price }) => price >= 0n) || choices.every(({ price }) => price <= 0n)
  const shared = choices.map((choice) => ({
    ...choice,
    price: isOneSigned && before !== 0n ? rounded((choice.price * total) / before, currency) : choice.price,
  }))
  const last = shared.at(choices.findLastIndex(({ price }) => price !== 0n))
  if (last !== undefined) last.price += total - sum(pricesOf(shared))
  return shared
}

const pricesOf = (choices: readonly PricedChoice[]) => choices.map(({ price }) => price)

/** Types of sets whose answer stands behind a blank and always with its price. */
const blankTypes = new Set(['checkbox', 'text', 'textarea'])

function choicesOfSet(choices: readonly PricedChoice[], currency: string): string {
  const [{ set }, ...others] = choices as [PricedChoice, ...PricedChoice[]]
  const type = (set.OptionType ?? '').toLowerCase()
  const hasBlank = others.length === 0 && blankTypes.has(type)
  const separator = others.length === 0 ? ' - ' : ' '
  const values = choices.map(({ name, price }) => {
    const isPriced = price !== 0n || hasBlank
    return `${type === 'file' ? linkTo(name) : escaped(name)}${isPriced ? separator + priceText(price, currency) : ''}`
  })
  return `<br><b>${escaped(set.OptionSetName ?? '')}:</b>${hasBlank ? ' ' : '&nbsp;'}${values.join('<br>')}`
}

/** Links to an uploaded file if the option's name is its address, and names the option otherwise. */
function linkTo(name: string): string {
  return /^(https?:\/)?\/\S+$/i.test(name) ? `<a href="${escaped(name)}" target=_new>File</a>` : escaped(name)
}

/**
 * At least two decimals, and four for a price finer than cents. Without separators of thousands and with the bare sign of
 * the currency, because clients look for digits behind it.
 */
const priceFormats = cachedFormatters((currency) => {
  const decimals = { minimumFractionDigits: 2, maximumFractionDigits: 4 }
  const sign = { style: 'currency', currency, currencyDisplay: 'narrowSymbol' } as const
  return new Intl.NumberFormat('en-US', { ...sign, ...decimals, useGrouping: false })
})

function priceText(price: bigint, currency: string): string {
  return priceFormats.memo(currency).format(toNumber(price))
}

/** What ends a line of a description, whoever wrote it. */
const lineEnd = /<\/?(?:br|div|li|[ou]l|p)\b[^<>]{0,2000}>|\n/i
/** What an option adds to the price: minus, sign of the currency and amount. */
const priceAtEnd = / (?:- )?(-?)([^\s\d;-]+) ?(\d[\d,]*\.\d{2,4})$/

/**
 * Returns what pages and files call the goods of a line or a return: the name, `choices` such as `Size: L (+$2.00)`, and `options`, the
 * same without prices. As it is stored, people take the dash before a price for a minus.
 */
export function goodsWords(description: string, currency: string) {
  const [name = '', ...lines] = description.split(lineEnd).filter((line) => line.trim() !== '')
  const ownSign = priceText(0n, currency).replace('0.00', '').trim()
  const priced = lines.map((html) => {
    // An escaped dollar sign begins no price.
    const line = textOfHtml(html.replaceAll('&#36;', '&amp;#36;'))
    const [found = '', minus = '', sign = '', amount = ''] = priceAtEnd.exec(line) ?? []
    const isPrice = sign !== '' && (sign === '$' || sign === ownSign)
    const text = (isPrice ? line.slice(0, -found.length) : line).replaceAll('&#36;', '$')
    return { text, price: isPrice ? Number(minus + amount.replaceAll(',', '')) : 0 }
  })
  return {
    // It is stored as text, in which other programs have entities as well.
    name: decoded(name).trim(),
    choices: priced.map(({ text, price }): Phrase => {
      const sign = price > 0 ? '+' : ''
      return price === 0 ? text : written(({ format }) => `${text} (${sign}${format.unitPrice(price, currency)})`)
    }),
    options: priced.map(({ text }) => text),
  }
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  $: '&#36;',
  ' ': '&nbsp;',
}
const characters = Object.fromEntries(Object.entries(entities).map(([character, entity]) => [entity, character]))

/** A dollar sign before a digit is escaped too, because clients would read a price there. */
function escaped(text: string): string {
  return text.replace(/[&<>"]|\$(?=\d)/g, (character) => entities[character] as string)
}

/**
 * Splits an order line's description into lines of text: the product's name, which is stored as text, then the chosen
 * options, which are stored as HTML (rest-resources §3.4), such as `Size: L - $2.00`.
 */
export function descriptionLines(description: string): string[] {
  const [name = '', ...chosen] = description.split(/<br\s*\/?>/i)
  const texts = chosen.map((html) =>
    html
      .replace(/<\/?b>|<\/?a(\s[^<>]*)?>/gi, '')
      .replace(/&(amp|lt|gt|quot|nbsp|#36);/g, (entity) => characters[entity] ?? ''),
  )
  return [name, ...texts]
}
