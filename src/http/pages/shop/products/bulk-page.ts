import type { FastifyInstance, FastifyReply } from 'fastify'
import { mayRead } from '../../../../access/applications/privileges.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { DECIMAL_MAX } from '../../../../engine/definition/fields.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { decimalsOf } from '../../../../foundation/values/currency.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { isId } from '../../../../foundation/values/int32.ts'
import type { NumberKind } from '../../../../foundation/values/typed-number.ts'
import type { Import } from '../../../../shop/csv/lines/imports.ts'
import { compareChosen, keepChosen, keptIds } from '../../../../shop/csv/undo/chosen.ts'
import { categories } from '../../../../shop/resources/categories/categories.ts'
import { products } from '../../../../shop/resources/products/products.ts'
import { numberIn, type Writing } from '../../../html/numbers.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages, refusedFields } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, textIn } from '../../../html/request.ts'
import { type PageRequest, type Sent, storePages } from '../../frame/pages.ts'
import { chosenOrAll, listShownAgain } from '../../records/chosen.ts'
import { formReferences, lookUp, namesFor, withNumbers } from '../../records/references.ts'
import { pickList, pickValue } from '../../records/services.ts'
import { inputOf } from '../../records/values.ts'
import { importOf, isOpenFor, serviceOf } from '../csv/import-page.ts'
import { intendedFor, type PriceChange, type ProductChange, priceHows, roundings } from './bulk.ts'
import { productService } from './special.ts'

/** Adds what can be done with several products of the list at once: choosing them, and saying what. */
export function productBulkPages(app: FastifyInstance, services: CallerServices): void {
  const { form, pair, again } = storePages(adminPages(app, ['Products', 'write']), services)
  const listAgain = (asked: PageRequest, reply: FastifyReply) =>
    listShownAgain(asked, reply, productService, { ids: t('Products') })
  form('/admin/products/bulk', listAgain, async (asked) => {
    const ids = await chosenOrAll(asked, productService)
    const [part = ''] = /^(price|visibility)$/.exec(textIn(asked.typed, 'what')) ?? []
    return `/admin/csv/${await keepChosen(asked.caller, products, ids)}/change${part && `#${part}`}`
  })
  const path = '/admin/csv/:id/change'
  pair(path, changePage, compare)
  // Shows the form again with the categories that its words fit.
  again(`${path}/find`, changePage)
}

/** The chosen products. Throws (409) where their changes are being made, or were. */
async function openChosen(asked: PageRequest, reply: FastifyReply): Promise<Import> {
  const { found } = await importOf(asked, reply)
  const isOfProducts = serviceOf(found) === productService
  if (found.source === 'bulk' && isOfProducts && isOpenFor(found, asked.caller.now())) return found
  const message = 'What is done with these products cannot be changed any more. Choose them again'
  throw new StoreFailure('invalid-state', message)
}

const category = { ...pickValue(pickList(productService, 'CategoryList'), 'CategoryID'), label: t('Category') }
const categorySection = { values: [category], list: null }

/** Asks what is to be done with the chosen products. */
async function changePage(asked: PageRequest, reply: FastifyReply): Promise<HtmlPage> {
  const { caller, typed } = asked
  const found = await openChosen(asked, reply)
  const { currency } = caller.store
  const count = (await keptIds(caller, found.id)).length
  const { form, choices } = await lookUp(caller, categorySection, typed ?? {}, textIn(typed, 'lookup'))
  const address = `/admin/csv/${found.id}`
  return {
    template: '/pages/shop/products/bulk',
    title: t('What shall be changed?'),
    values: form,
    data: {
      count,
      address,
      currency,
      hows: Object.entries(priceHows),
      roundings: roundingsFor(currency),
      smallest: 10 ** -decimalsOf(currency),
      mayPlace: mayRead(caller.privileges, categories),
      category: { value: category, name: 'CategoryID', input: inputOf(category), stored: null },
      moreAddress: `${address}/change/find`,
      choices,
      nameOf: await namesFor(caller, formReferences(categorySection, form)),
      isTicked: () => false,
      labels: {
        Value: t('Percent or amount'),
        How: t('How'),
        CategoryID: t('Category'),
        Quantity: t('Pieces'),
        Hide: t('In the shop'),
        ids: t('Products'),
      },
    },
  }
}

/** The steps of amounts that are usual in currencies with two decimals. `unit` is the whole amount in one without decimals. */
function roundingsFor(currency: string): readonly (typeof roundings)[number][] {
  const digits = decimalsOf(currency)
  if (digits === 2) return roundings
  return digits === 0 ? ['unit'] : ['unit', '1']
}

/** Works out what is to be done with each product, which changes nothing yet. */
async function compare(asked: Sent<PageRequest>, reply: FastifyReply): Promise<string> {
  const { caller, typed, writing } = asked
  const found = await openChosen(asked, reply)
  const change = await changeIn(caller, typed, writing)
  await compareChosen(caller, found, change, intendedFor(change, caller.store.currency))
  return `/admin/csv/${found.id}`
}

async function changeIn(caller: Caller, form: Form, writing: Writing): Promise<ProductChange> {
  switch (textIn(form, 'Kind')) {
    case 'price':
      return priceIn(form, caller.store.currency, writing)
    case 'visibility':
      return { kind: 'visibility', hide: oneOf(form, 'Hide', ['true', 'false']) === 'true' }
    case 'category': {
      const how = oneOf(form, 'CategoryHow', ['add', 'remove'])
      if (!mayRead(caller.privileges, categories)) {
        throw new StoreFailure('forbidden', 'Your role in this store does not show its categories')
      }
      const categoryId = Number(textIn(await withNumbers(caller, categorySection, form), 'CategoryID').trim())
      const where = { storeId_id: { storeId: caller.store.id, id: categoryId } }
      const stored = isId(categoryId) ? await caller.db.category.findUnique({ where, select: { name: true } }) : null
      if (stored === null) throw refusedFields([{ field: 'CategoryID', problem: 'has to be one of the store' }])
      return { kind: 'category', how, categoryId, name: stored.name }
    }
    case 'stock': {
      const how = oneOf(form, 'StockHow', ['set', 'add'])
      const quantity = numberOf(form, 'Quantity', { writing, min: -DECIMAL_MAX })
      if (how === 'add' && quantity === 0) throw refusedFields([{ field: 'Quantity', problem: 'must not be 0' }])
      return { kind: 'stock', how, quantity }
    }
    default:
      throw refusedFields([{ field: 'Kind', problem: 'has to be one of the page' }])
  }
}

function priceIn(form: Form, currency: string, writing: Writing): PriceChange {
  const field = oneOf(form, 'Field', ['Price', 'SalePrice'])
  const how = oneOf(form, 'How', Object.keys(priceHows) as PriceChange['how'][])
  const rounding = oneOf(form, 'Round', roundingsFor(currency))
  const onSale = oneOf(form, 'OnSale', ['same', 'true', 'false'])
  if (how === 'below-price' && field === 'Price') {
    throw refusedFields([{ field: 'How', problem: 'is for the sale price alone where it is percent below the price' }])
  }
  const isLess = how === 'lower-percent' || how === 'below-price'
  const max = isLess ? 100 : how === 'raise-percent' ? 10_000 : DECIMAL_MAX
  const kind = how.endsWith('amount') || how === 'set' ? 'price' : 'number'
  const value = numberOf(form, 'Value', { writing, kind, min: 0, max })
  if (value === 0 && how !== 'set') throw refusedFields([{ field: 'Value', problem: 'must be above 0' }])
  const isOnSale = field === 'Price' || onSale === 'same' ? null : onSale === 'true'
  return { kind: 'price', field, how, value, rounding, onSale: isOnSale }
}

function oneOf<const Allowed extends string>(form: Form, field: string, allowed: readonly Allowed[]): Allowed {
  const found = allowed.find((each) => each === textIn(form, field))
  if (found === undefined) throw refusedFields([{ field, problem: 'has to be one of the list' }])
  return found
}

function numberOf(
  form: Form,
  field: string,
  { writing, kind, min, max = DECIMAL_MAX }: { writing: Writing; kind?: NumberKind; min: number; max?: number },
): number {
  const value = numberIn(form, field, writing, kind)
  if (value === null) throw refusedFields([{ field, problem: 'is required' }])
  if (value < min || value > max) throw refusedFields([{ field, problem: `must be from ${min} to ${max}` }])
  return value
}
