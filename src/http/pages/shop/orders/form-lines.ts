import type { Caller } from '../../../../engine/caller.ts'
import { type Phrase, type Text, type TextValue, t } from '../../../../foundation/texts/text.ts'
import type { Fault } from '../../../../foundation/values/failure.ts'
import { isOneLine } from '../../../../foundation/values/input.ts'
import { INT32_MAX, isId } from '../../../../foundation/values/int32.ts'
import { readTyped } from '../../../../foundation/values/typed-number.ts'
import { toNumber } from '../../../../shop/resources/orders/amounts.ts'
import { findBuyer } from '../../../../shop/resources/orders/buyer.ts'
import { knownChoices, mustBeChosen, takesOne } from '../../../../shop/resources/orders/choose-options.ts'
import { optionPriceOf } from '../../../../shop/resources/orders/line-description.ts'
import { ORDER_ITEMS_MAX } from '../../../../shop/resources/orders/order-body.ts'
import { priceOf } from '../../../../shop/resources/orders/price.ts'
import {
  findBySku,
  type NamedProduct,
  type OptionSet,
  optionIdsIn,
  readSoldProducts,
  type SoldProduct,
  type SoldVariant,
  skuOf,
  variantOf,
} from '../../../../shop/resources/orders/sold-products.ts'
import { takesBackOrders } from '../../../../shop/resources/orders/stock.ts'
import { numberIn, type Writing } from '../../../html/numbers.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { readThumbnails, type ThumbnailOf } from '../products/thumbnails.ts'
import { type FoundProducts, findProducts, SKU_LENGTH_MAX } from './find-products.ts'
import type { TypedForm } from './line-fields.ts'

/** The number of lines in the empty form of a new order. */
const LINES_SHOWN = 3
/** Texts of a form that products are looked for by their words. */
const IN_WORDS_MAX = 20

export type LookedUp = Awaited<ReturnType<typeof lookUpLines>>
export type FormLine = LookedUp['lines'][number]

/**
 * Finds the products of a form's lines by SKU or, if no SKU matches, by catalogue id, else by words of a name. In `values`, the fields
 * of the form, the SKU of an advanced option is replaced by the product's, and its options are chosen; so are words that one product
 * fits. The form may ask for a line more (`AddLine`) or less (`RemoveLine`), and choose one of several products (`ItemID.1.choice`).
 */
export async function lookUpLines(
  caller: Caller,
  { typed: sent, writing }: TypedForm,
  { customerId, linesShown = LINES_SHOWN }: { readonly customerId: number; readonly linesShown?: number },
) {
  const form = withChoices(withoutLine(sent))
  const texts = Array.from({ length: countLines(form, linesShown) }, (_, index) =>
    textIn(form, `ItemID.${index + 1}`).trim(),
  )
  const priceLevel = await readPriceLevel(caller, customerId)
  const named = await findNamed(caller, texts)
  const known = await readSoldProducts(caller, idsOf(named))
  const inWords = texts.filter((text) => text !== '' && !known.has(named.get(text)?.productId ?? 0))
  const fitting = await findInWords(caller, inWords, priceLevel)
  const onlyOne = await findNamed(caller, [...fitting.values()].flatMap(onlyCode))
  const products = new Map([...known, ...(await readSoldProducts(caller, idsOf(onlyOne)))])
  const found = texts.map((typed, index) => {
    const fits = fitting.get(typed)
    const name = fits === undefined ? named.get(typed) : onlyOne.get(onlyCode(fits)[0] ?? '')
    const product = products.get(name?.productId ?? 0)
    return { number: index + 1, typed, code: name?.optionCode, product, fits }
  })
  const filledIn = found.map(({ number, product, code, fits }) => {
    if (product === undefined) return {}
    const variant = product.advancedOptions.find((each) => each.code === code)
    if (variant) return fieldsOfVariant(product, variant, number)
    return fits === undefined ? {} : { [`ItemID.${number}`]: onlyCode(fits)[0] ?? '' }
  })
  const values: Form = Object.assign({}, form, ...filledIn)
  const { currency } = caller.store
  const matching = [...fitting.values()].flatMap(({ matches }) => matches)
  const thumbnailOf = await readThumbnails(caller, [...named.values(), ...matching])
  const context = { values, writing, priceLevel, currency }
  const lines = found.map(({ number, typed, product, fits }) => {
    return {
      /** From 1. The suffix of the names of the line's fields. */
      number,
      /** Empty: the line is not part of the order. */
      typed,
      /** Null: no product of the store matches, or several do. */
      product: product ? { ...lineProduct(product, number, context), image: thumbnailOf(product.id) } : null,
      /** What fits the words that were typed; null: no words were. */
      fits: fits ? withImages(fits, thumbnailOf) : null,
    }
  })
  return { lines, values, writing, currency }
}

function withImages({ matches, isMore }: FoundProducts, thumbnailOf: ThumbnailOf) {
  return { matches: matches.map((match) => ({ ...match, image: thumbnailOf(match.productId) })), isMore }
}

const lineField = /^(ItemID|ItemQuantity|ItemUnitPrice|Variant|Option)\.(\d{1,3})(\..+)?$/

/** Whether a field of a form belongs to one of its lines. */
export function isOfLine(name: string): boolean {
  return lineField.test(name)
}

/** Takes out the line that `RemoveLine` names; those behind it move up. */
function withoutLine({ RemoveLine, ...form }: Form): Form {
  const removed = Number(/^\d{1,3}$/.exec(String(RemoveLine ?? ''))?.[0] ?? 0)
  if (removed === 0) return form
  const left = Object.entries(form).flatMap(([name, value]) => {
    const [, field, number, rest = ''] = lineField.exec(name) ?? []
    if (field === undefined || Number(number) < removed) return [[name, value] as const]
    return Number(number) === removed ? [] : [[`${field}.${Number(number) - 1}${rest}`, value] as const]
  })
  return Object.fromEntries(left)
}

/** Puts the product that was chosen of several into its line. */
function withChoices(form: Form): Form {
  const choices = Object.keys(form).filter((name) => /^ItemID\.\d{1,3}\.choice$/.test(name))
  const others = Object.entries(form).filter(([name]) => !choices.includes(name))
  const chosen = choices.map((name) => [name.replace(/\.choice$/, ''), textIn(form, name)])
  return Object.fromEntries([...others, ...chosen])
}

function idsOf(named: ReadonlyMap<string, NamedProduct>): number[] {
  return [...named.values()].map(({ productId }) => productId)
}

/** Of the first 20 texts; the others have to be looked up again. */
async function findInWords(caller: Caller, texts: readonly string[], priceLevel: number) {
  const found = new Map<string, FoundProducts>()
  for (const text of [...new Set(texts)].slice(0, IN_WORDS_MAX)) {
    found.set(text, await findProducts(caller, text, priceLevel))
  }
  return found
}

function onlyCode({ matches, isMore }: FoundProducts): string[] {
  const [only] = matches
  return only !== undefined && matches.length === 1 && !isMore ? [only.code] : []
}

function countLines(form: Form, shown: number): number {
  const filled = Object.keys(form).map((name) => {
    const number = Number(/^ItemID\.(\d{1,3})$/.exec(name)?.[1] ?? 0)
    return textIn(form, name).trim() === '' ? 0 : number
  })
  const last = Math.max(Number(/^\d{1,3}$/.exec(textIn(form, 'Lines'))?.[0] ?? 0), ...filled)
  const added = form.AddLine === undefined ? 0 : 1
  return Math.min(ORDER_ITEMS_MAX, Math.max(shown, last) + added)
}

async function findNamed(caller: Caller, typed: readonly string[]): Promise<Map<string, NamedProduct>> {
  const texts = [...new Set(typed)].filter((text) => text !== '' && text.length <= SKU_LENGTH_MAX && isOneLine(text))
  const found = await findBySku(caller, texts)
  for (const text of texts) {
    const isId = /^\d{1,10}$/.test(text) && Number(text) <= INT32_MAX
    if (isId && !found.has(text)) found.set(text, { productId: Number(text), optionCode: null })
  }
  return found
}

/** The number of the customer that a form names; 0: none. */
export function customerIdIn(form: Form): number {
  const id = Number(/^\d{1,10}$/.exec(textIn(form, 'CustomerID').trim())?.[0] ?? 0)
  return isId(id) ? id : 0
}

/** Returns the price level of a customer. Whether the customer exists is checked when the order is placed. */
export async function readPriceLevel(caller: Caller, customerId: number): Promise<number> {
  return customerId === 0 ? 0 : ((await findBuyer(caller, customerId))?.priceLevel ?? 0)
}

/** The lines of the form as items of an order, without prices. Throws likewise. */
export function itemsOf({ values, lines, writing }: LookedUp): Record<string, unknown>[] {
  const filled = filledLines(lines)
  const faults = filled.flatMap((line) => faultsOfLine(line, values))
  if (faults.length > 0) throw refusedFields(faults)
  return filled.map((line) => itemOf(line, values, writing))
}

export function filledLines(lines: readonly FormLine[]): FormLine[] {
  return lines.filter(({ typed }) => typed !== '')
}

/** What is wrong with a line as far as the form says so itself. */
export function faultsOfLine({ number, product, fits }: FormLine, values: Form): Fault[] {
  const field = `ItemID.${number}`
  if (product === null) {
    const isOneOfMany = fits !== null && fits.matches.length > 0
    return [{ field, problem: isOneOfMany ? 'fits several products: choose one' : 'fits no product of this store' }]
  }
  // Nobody has seen yet what was found.
  if (fits !== null) return [{ field, problem: 'was found by its name: look whether it is the right one' }]
  return product.fields
    .filter(({ name, isRequired }) => isRequired && textIn(values, name) === '' && !Array.isArray(values[name]))
    .map(({ name }) => ({ field: name, problem: 'has to be chosen' }))
}

/** As the page shows the lines: what was found by its name is in sight. */
export function asSeen({ lines, ...others }: LookedUp): LookedUp {
  return { ...others, lines: lines.map((line) => (line.product === null ? line : { ...line, fits: null })) }
}

function itemOf({ number, product }: FormLine, values: Form, writing: Writing) {
  return withoutEmpty({
    CatalogID: product?.id,
    ItemID: product?.variantSku,
    ItemQuantity: numberIn(values, `ItemQuantity.${number}`, writing),
    ItemOptions: product?.optionIds.map((id) => `,${id}`).join(''),
  })
}

export function withoutEmpty(fields: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => value !== undefined && value !== null && value !== ''),
  )
}

/**
 * The fields of lines that a form adds, in the order of the body. `stored`: how many lines the order has in front of them; null: it is a
 * new order, whose lines have the prices of the catalogue.
 */
export function newLineFields(lines: readonly FormLine[], stored: number | null) {
  const isNew = stored !== null
  return lines.flatMap(({ number, product }, at) => {
    const line = isNew ? t('New line {number}', { number }) : t('Line {number}', { number })
    const field = (member: string, label: Text, name = `${member}.${number}`) => ({
      name,
      path: `OrderItemList[${at + (stored ?? 0)}].${member}`,
      label,
    })
    return [
      field('ItemID', t('{line}: the product', { line })),
      field('ItemQuantity', t('{line}: the quantity', { line })),
      ...(isNew ? [field('ItemUnitPrice', t('{line}: the price', { line }))] : []),
      ...(product?.fields ?? []).map(({ name, label }) => field(name, t('{line}: {label}', { line, label }), name)),
    ]
  })
}

const optionField = (number: number, { OptionSetID }: OptionSet) => `Option.${number}.${OptionSetID}`
const variantField = (number: number) => `Variant.${number}`

function fieldsOfVariant(product: SoldProduct, variant: SoldVariant, number: number): Record<string, string> {
  const isChosenBySku = !isChosenByOptions(product, variant)
  const ids = isChosenBySku ? [] : optionIdsIn(variant.code)
  const options = product.optionSets.flatMap((set) => {
    const option = set.OptionList?.find(({ OptionID }) => ids.includes(OptionID))
    return option ? [[optionField(number, set), String(option.OptionID)]] : []
  })
  return {
    [`ItemID.${number}`]: product.sku,
    [variantField(number)]: isChosenBySku ? skuOf(product, variant) : '',
    ...Object.fromEntries(options),
  }
}

/** Whether the product has all options that the advanced option combines. */
function isChosenByOptions({ optionSets }: SoldProduct, { code }: SoldVariant): boolean {
  const ids = optionIdsIn(code)
  const known = new Set(optionSets.flatMap(({ OptionList = [] }) => OptionList.map(({ OptionID }) => OptionID)))
  return ids.length > 0 && ids.every((id) => known.has(id))
}

interface FormContext {
  readonly values: Form
  readonly writing: Writing
  readonly priceLevel: number
  readonly currency: string
}

function lineProduct(product: SoldProduct, number: number, { values, writing, priceLevel, currency }: FormContext) {
  const sets = product.optionSets.filter(({ OptionList = [] }) => OptionList.length > 0)
  const optionIds = sets.flatMap((set) => chosenIn(set, values[optionField(number, set)]))
  // The advanced options that can be selected only by SKU.
  const named = product.advancedOptions.filter((each) => each.suffix !== '' && !isChosenByOptions(product, each))
  const chosen = named.find((variant) => skuOf(product, variant) === textIn(values, variantField(number)))
  const variant = chosen ?? variantOf(product, optionIds)
  const quantity = Number(readTyped(textIn(values, `ItemQuantity.${number}`), writing).text) || 1
  const chosenPrice = optionPriceOf(knownChoices(product, optionIds), variant)
  const { unitPrice, optionPrice } = priceOf(product, { priceLevel, quantity, optionPrice: chosenPrice, currency })
  const fields = sets.map((set) => optionSetField(product, set, number, currency))
  return {
    id: product.id,
    name: product.name,
    /** The SKU of the selected advanced option, if it has one. */
    sku: skuOf(product, variant),
    /** The price of one piece for the customer of the form, with the selected options, at the line's quantity. */
    price: toNumber(unitPrice + optionPrice),
    stock: (variant ?? product).stock,
    /** Whether a new order of so many is refused. */
    isShort: quantity > (variant ?? product).stock && !takesBackOrders(product),
    isForSale: !product.notForSale,
    minimum: Number(product.details.MinimumQuantity ?? 0),
    fields: named.length > 0 ? [...fields, variantsField(product, named, number, currency)] : fields,
    /** The names of option sets with text answers, which an order line cannot store. */
    answeredInWords: product.optionSets
      .filter(({ OptionList = [] }) => OptionList.length === 0)
      .map(({ OptionSetName = '' }) => OptionSetName),
    optionIds,
    /** The SKU of the selected advanced option, if no choice of options selects it. */
    variantSku: chosen && skuOf(product, chosen),
  }
}

function chosenIn({ OptionList = [] }: OptionSet, value: string | string[] = []): number[] {
  return OptionList.map(({ OptionID }) => OptionID).filter((id) => [value].flat().includes(String(id)))
}

/** A field of a line for selecting options by name. */
function optionSetField(product: SoldProduct, set: OptionSet, number: number, currency: string) {
  const { OptionSetName = '', OptionList = [] } = set
  const isRequired = mustBeChosen(set)
  const isMultiple = !takesOne(set)
  const choices = OptionList.map((option) => {
    const { OptionID, OptionName = '' } = option
    const added = optionPriceOf([{ set, option }], variantOf(product, [OptionID]))
    return choice(String(OptionID), OptionName, added, currency)
  })
  return {
    name: optionField(number, set),
    label: OptionSetName || t('Option'),
    isRequired,
    isMultiple,
    choices: isMultiple ? choices : [['', isRequired ? t('Choose one') : t('None')], ...choices],
  }
}

function variantsField(product: SoldProduct, named: SoldVariant[], number: number, currency: string) {
  const choices = named.map((variant) => {
    const sku = skuOf(product, variant)
    return choice(sku, variant.name || sku, Math.max(variant.price, 0), currency)
  })
  const name = variantField(number)
  return { name, label: t('Combination'), isRequired: false, isMultiple: false, choices: [['', t('None')], ...choices] }
}

function choice(value: string, text: string, added: number, currency: string): readonly [string, Phrase] {
  const surcharge: TextValue = ({ format }) => format.surcharge(added, currency)
  return [value, added === 0 ? text : t('{name} ({surcharge})', { name: text, surcharge })]
}
