import { t } from '../../../../foundation/texts/text.ts'
import { readSoldProducts, skuOf } from '../../../../shop/resources/orders/sold-products.ts'
import { missingCombinations, nameOfCode } from '../../../../shop/resources/products/combinations.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { type Form, textIn } from '../../../html/request.ts'
import type { Sent, Wire } from '../../frame/pages.ts'
import { FIELDS_MAX, saveChanges } from '../../records/edit-page.ts'
import { type Changes, changesOf, listTyped } from '../../records/form.ts'
import { seenList } from '../../records/seen.ts'
import type { List, Value } from '../../records/services.ts'
import { inputOf, isTicked, isWritable, LINE_MAX } from '../../records/values.ts'
import { advancedOptions, type ProductRequest, productService } from './special.ts'

const { name } = advancedOptions

/** A name of several lines does not fit into a cell. New combinations are named by their options. */
function columnsOf({ values }: List): Value[] {
  return values.filter((value) => isWritable(value, 'update') && (value.field.bounds.maxLength ?? 0) <= LINE_MAX)
}

/** What a row of the form sends: its columns, what it is, and a tick. */
const ROWS_MAX = Math.floor(FIELDS_MAX / (columnsOf(advancedOptions).length + 2))

/** Combinations that the button to add all names, beside their number. */
const NAMED_MAX = 5

/** The options of a product: its sets, and its advanced options as a grid with the combinations that do not exist yet. */
export async function optionsPage(asked: ProductRequest): Promise<HtmlPage> {
  const { caller, id, record, writing, typed, isOutdated } = asked
  const columns = columnsOf(seenList(caller.privileges, advancedOptions))
  const sets = (await readSoldProducts(caller, [id])).get(id)?.optionSets ?? []
  const existing = record.AdvancedOptionList
  const codes = existing.map(({ AdvancedOptionCode }) => AdvancedOptionCode)
  const ownSets = record.OptionSetList.map(({ OptionSetID }) => OptionSetID)
  const isTooLong = existing.length > ROWS_MAX
  const { missing, isMore } = missingCombinations(sets, codes, isTooLong ? 0 : ROWS_MAX - existing.length)
  const suffixField = (place: number) => `${name}.${existing.length + place}.AdvancedOptionSufix`
  const suffixes = missing.map(({ suffix }, place) => [suffixField(place), suffix])
  const stored = { ...listTyped(advancedOptions, record, writing), ...Object.fromEntries(suffixes) }
  const rows = [
    ...existing.map(({ AdvancedOptionCode: code, AdvancedOptionName, AdvancedOptionSufix: suffix }, at) => ({
      name: `${name}.${at}`,
      at,
      code,
      title: AdvancedOptionName || nameOfCode(sets, code),
      sku: skuOf({ sku: record.SKUInfo.SKU }, { suffix }),
    })),
    ...missing.map(({ code, name: title }, place) => {
      return { name: `${name}.${existing.length + place}`, at: null, code, title, sku: null }
    }),
  ]
  return {
    template: '/pages/shop/products/options',
    title: t('Options of {product}', { product: record.SKUInfo.Name }),
    values: typed === null || isOutdated ? stored : typed,
    data: {
      sets: sets.map((set) => ({ ...set, isOwn: ownSets.includes(set.OptionSetID) })),
      currency: caller.store.currency,
      columns: columns.map((value) => ({ value, input: inputOf(value) })),
      isTicked,
      rows,
      missing: missing.length,
      named: missing.slice(0, NAMED_MAX).map(({ name: title }) => title),
      isTooLong,
      rowsMax: ROWS_MAX,
      isMore: isMore && !isTooLong,
      labels: rowLabels(rows, columns),
    },
  }
}

function rowLabels(rows: readonly { readonly name: string; readonly title: string }[], columns: readonly Value[]) {
  const labels = rows.flatMap(({ name, title: row }) =>
    columns.map(({ path, label }) => [`${name}.${path.join('.')}`, t('{row}: {field}', { row, field: label })]),
  )
  return Object.fromEntries(labels)
}

/** Saves the grid: what was typed into existing rows, without those to be removed, and the combinations that are ticked, or all of them. */
export async function saveOptions(asked: Sent<ProductRequest>): Promise<string> {
  const { caller, id, record, typed, writing } = asked
  const advice = 'The form shows the options as they are now. Make your changes again if they are not among them'
  const changesIn = async (): Promise<Changes> => {
    const seen = seenList(caller.privileges, advancedOptions)
    const columns = columnsOf(seen)
    const list: List = {
      ...seen,
      values: seen.values.filter((each) => each.field.access === 'key' || columns.includes(each)),
    }
    const { body, nameOf } = changesOf({ values: [], list }, ticked(typed), record, writing)
    const items = body[name] as readonly Wire[] | undefined
    if (items === undefined) return { body, nameOf }
    const sets = (await readSoldProducts(caller, [id])).get(id)?.optionSets ?? []
    const named = items.map((item) => ({
      AdvancedOptionName: nameOfCode(sets, String(item.AdvancedOptionCode)),
      ...item,
    }))
    return { body: { [name]: named }, nameOf }
  }
  return saveChanges(asked, productService, { changesIn, advice })
}

/** The form without the combinations that nobody has ticked, unless all that it shows are to be added. */
function ticked(form: Form): Form {
  if (textIn(form, 'all') !== '') return form
  const rowOf = (field: string) => field.split('.', 2).join('.')
  const isNew = (row: string) => form[`${row}.AdvancedOptionCode`] !== undefined
  return Object.fromEntries(
    Object.entries(form).filter(([field]) => !isNew(rowOf(field)) || textIn(form, `${rowOf(field)}.add`) !== ''),
  )
}
