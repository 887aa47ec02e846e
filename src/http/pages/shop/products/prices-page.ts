import { mayRead } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { customerGroups } from '../../../../shop/resources/customer-groups/customer-groups.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { type Form, textIn } from '../../../html/request.ts'
import type { Sent } from '../../frame/pages.ts'
import { FIELDS_MAX, fieldsOf, labelsOf, saveChanges } from '../../records/edit-page.ts'
import { type Changes, changesOf, listTyped, rowsOf, valuesTyped } from '../../records/form.ts'
import { seenValues } from '../../records/seen.ts'
import { pickValues, type Value } from '../../records/services.ts'
import { inputOf, isTicked, isWritable } from '../../records/values.ts'
import { discounts, type ProductRequest, productService } from './special.ts'

const GROUPS_MAX = 500

const allBase = pickValues(
  productService,
  'SKUInfo.Price',
  'SKUInfo.SalePrice',
  'SKUInfo.OnSale',
  'SKUInfo.RetailPrice',
  'SKUInfo.Cost',
)
const levels = Array.from({ length: 10 }, (_, at) => ({
  level: at + 1,
  values: pickValues(productService, `PriceLevel${at + 1}`, `PriceLevel${at + 1}Hide`),
}))
const valuesOf = (base: readonly Value[]) => [...base, ...levels.flatMap((each) => each.values)]
/** That the form's discounts may add up to. */
const DISCOUNT_FIELDS_MAX = FIELDS_MAX - valuesOf(allBase).length

/** The prices of a product: its own, those of the ten levels with the groups that buy at them, and quantity discounts. */
export async function pricesPage(asked: ProductRequest): Promise<HtmlPage> {
  const { caller, id, record, writing, typed, isOutdated } = asked
  const { privileges } = caller
  const base = seenValues(privileges, allBase)
  const values = valuesOf(base)
  const mayReadGroups = mayRead(privileges, customerGroups)
  const groups = mayReadGroups ? await readGroups(caller) : []
  const stored = valuesTyped(values, record, writing)
  const storedRows = listTyped(discounts, record, writing)
  const isTooLong = Object.keys(storedRows).length > DISCOUNT_FIELDS_MAX
  const form =
    typed === null ? { ...stored, ...storedRows } : isOutdated ? { ...withoutRows(typed), ...storedRows } : typed
  const fields = new Map(
    fieldsOf(values, 'update', form, isOutdated ? stored : null).map((field) => [field.value, field]),
  )
  const address = `/admin/products/${id}/prices`
  return {
    template: '/pages/shop/products/prices',
    title: t('Prices of {product}', { product: record.SKUInfo.Name }),
    values: form,
    data: {
      address,
      mayReadGroups,
      base: base.map((value) => fields.get(value)),
      levels: levels.map(({ level, values }) => ({
        level,
        fields: values.map((value) => fields.get(value)),
        groups: groups.filter(({ priceLevel }) => priceLevel === level),
      })),
      rows: isTooLong ? null : rowsOf(discounts, form, textIn(form, 'add')),
      moreAddress: `${address}/rows`,
      inputOf,
      isWritable,
      isTicked,
      // Prices name no records.
      choices: new Map(),
      nameOf: () => '',
      labels: labelsOf({ values }),
    },
  }
}

/** The groups that have a price level. A store has a few. */
async function readGroups({ db, store }: Caller) {
  const groups = await db.customerGroup.findMany({
    where: { storeId: store.id },
    select: { id: true, name: true, priceLevel: true },
    orderBy: { id: 'asc' },
    take: GROUPS_MAX,
  })
  return groups.filter(({ priceLevel }) => priceLevel > 0)
}

/** The form without its rows, which may be of other discounts than those stored now. */
function withoutRows(form: Form): Form {
  return Object.fromEntries(Object.entries(form).filter(([name]) => !name.startsWith(`${discounts.name}.`)))
}

export function savePrices(asked: Sent<ProductRequest>): Promise<string> {
  const advice =
    'If you sent this form twice, it is saved. Otherwise compare what you typed with what is stored now, look at the discounts, and save again'
  return saveChanges(asked, productService, { changesIn: () => changesIn(asked), advice })
}

function changesIn({ caller, record, typed, writing }: Sent<ProductRequest>): Changes {
  const values = valuesOf(seenValues(caller.privileges, allBase))
  const own = changesOf({ values, list: null }, typed, record, writing)
  const isTooLong = Object.keys(listTyped(discounts, record, writing)).length > DISCOUNT_FIELDS_MAX
  if (isTooLong) return own
  const rows = changesOf({ values: [], list: discounts }, typed, record, writing)
  return { body: { ...own.body, ...rows.body }, nameOf: rows.nameOf }
}
