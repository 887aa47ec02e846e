import { readPeople } from '../../../../access/people/names.ts'
import { choice, decimal, text } from '../../../../engine/definition/fields.ts'
import { wrongField } from '../../../../engine/definition/refused.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import type { Fault } from '../../../../foundation/values/failure.ts'
import { readTyped } from '../../../../foundation/values/typed-number.ts'
import { skuOf } from '../../../../shop/resources/orders/sold-products.ts'
import { type Correction, correctStock } from '../../../../shop/resources/products/inventory.ts'
import { CARRIED_FORWARD, NOTE_LENGTH_MAX, type StockCause } from '../../../../shop/resources/products/stock.ts'
import { listStockMovements } from '../../../../shop/resources/products/stock-movements.ts'
import type { Writing } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields, refusedFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { ifUnchanged, type Sent } from '../../frame/pages.ts'
import { type ProductRecord, type ProductRequest, productService } from './special.ts'

const MOVEMENTS_SHOWN = 50
/** Of a product with more options, their stocks are only in its record, and their code is typed. */
const OPTIONS_SHOWN = 300
const ID_MAX = 2n ** 63n - 1n

const causes: Readonly<Record<StockCause | typeof CARRIED_FORWARD, Text>> = {
  initial: t('First stock'),
  set: t('Set'),
  adjust: t('Adjusted'),
  order: t('Sold'),
  'order-edit': t('Order changed'),
  cancel: t('Order cancelled'),
  reopen: t('Order reopened'),
  return: t('Returned'),
  [CARRIED_FORWARD]: t('Balance carried forward'),
}

const itself = t('The product itself')

/** The stocks of a product, their movements from the newest on, and the form that corrects one. */
export async function stockPage({ caller, id, record: product, query, typed }: ProductRequest): Promise<HtmlPage> {
  const before = beforeIn(query)
  const found = await listStockMovements(caller, id, { before: before ?? ID_MAX, limit: MOVEMENTS_SHOWN + 1 })
  const personOf = await readPeople(caller)
  const movements = found.slice(0, MOVEMENTS_SHOWN).map((each) => ({ ...each, actor: personOf(each.actor) }))
  const address = `/admin/products/${id}/stock`
  const names = new Map(product.AdvancedOptionList.map((option) => [option.AdvancedOptionCode, nameOf(option)]))
  return {
    template: '/pages/shop/products/stock',
    title: t('Stock of {product}', { product: product.SKUInfo.Name }),
    values: typed ?? { AdvancedOptionCode: textIn(query, 'option'), Cause: 'adjust' },
    data: {
      address,
      stocks: stocksOf(product),
      hasMoreOptions: product.AdvancedOptionList.length > OPTIONS_SHOWN,
      movements,
      causeText: (cause: string) => causes[cause as keyof typeof causes] ?? cause,
      stockName: (code: string | null) =>
        code === null ? itself : (names.get(code) ?? t('{code} (removed)', { code })),
      older: found.length > movements.length ? `${address}?before=${movements.at(-1)?.id}` : null,
      newest: before === null ? null : address,
      noteMax: NOTE_LENGTH_MAX,
      labels: { AdvancedOptionCode: t('Stock'), Cause: t('Correction'), Quantity: t('Quantity'), Note: t('Reason') },
    },
  }
}

function stocksOf(product: ProductRecord) {
  const { SKUInfo, AdvancedOptionList } = product
  const own = { code: '', name: itself, sku: SKUInfo.SKU, stock: SKUInfo.Stock }
  const options = AdvancedOptionList.slice(0, OPTIONS_SHOWN).map((option) => ({
    code: option.AdvancedOptionCode,
    name: nameOf(option),
    sku: skuOf({ sku: SKUInfo.SKU }, { suffix: option.AdvancedOptionSufix }),
    stock: option.AdvancedOptionStock,
  }))
  return [own, ...options]
}

function nameOf({ AdvancedOptionName, AdvancedOptionCode }: ProductRecord['AdvancedOptionList'][number]): string {
  return AdvancedOptionName || AdvancedOptionCode
}

/** The id of the movement that the page begins before; null: the newest. Throws for what no page has named. */
function beforeIn(query: unknown): bigint | null {
  const given = textIn(query, 'before')
  if (given === '') return null
  const before = /^\d{1,19}$/.test(given) ? BigInt(given) : -1n
  if (before < 0n || before > ID_MAX) throw wrongField('before', 'names no page of this list')
  return before
}

/** Corrects a stock, unless the product has been changed since the form was shown. */
export async function correct({ caller, id, typed, writing }: Sent<ProductRequest>): Promise<string> {
  const advice =
    'If you sent this form twice, it was carried out once. Compare the stocks and the movements, and correct the stock again if it is still wrong'
  const precondition = ifUnchanged(typed, productService.one.key, advice)
  // The product itself is in the address.
  const toForm = inFormFields((field) => (field === 'CatalogID' ? 'AdvancedOptionCode' : field))
  await correctStock(caller, correctionOf(id, typed, writing), precondition).catch(toForm)
  return `/admin/products/${id}/stock?notice=stock-corrected`
}

/** In the order of the form. */
const fields = {
  AdvancedOptionCode: text(50),
  Cause: choice(['adjust', 'set']),
  Quantity: decimal(),
  Note: text(NOTE_LENGTH_MAX, { normalise: (given) => given.trim() }),
}

function correctionOf(productId: number, form: Form, writing: Writing): Correction {
  const faults: Fault[] = []
  const read = (name: keyof typeof fields) => {
    const text = textIn(form, name).trim()
    const { text: typed, problem } = name === 'Quantity' ? readTyped(text, writing) : { text, problem: '' }
    const { data, error } = fields[name].schema.safeParse(typed ?? '')
    if (problem !== '') faults.push({ field: name, problem })
    else if (error) faults.push({ field: name, problem: error.issues[0]?.message ?? 'is not allowed' })
    else if ((data ?? '') === '' && name !== 'AdvancedOptionCode') faults.push({ field: name, problem: 'is required' })
    return data ?? ''
  }
  const correction = {
    productId,
    optionCode: String(read('AdvancedOptionCode')) || null,
    cause: read('Cause') as Correction['cause'],
    quantity: Number(read('Quantity')),
    note: String(read('Note')),
  }
  if (faults.length > 0) throw refusedFields(faults)
  return correction
}
