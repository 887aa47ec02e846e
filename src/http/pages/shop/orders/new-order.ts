import { randomUUID } from 'node:crypto'
import type { FastifyReply } from 'fastify'
import type { Caller } from '../../../../engine/caller.ts'
import { keep } from '../../../../engine/changing/merge.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { isLocale, locales } from '../../../../foundation/texts/language.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { isId } from '../../../../foundation/values/int32.ts'
import { readNames } from '../../../../shop/resources/name-lists/name-lists.ts'
import { billedTo, isWithoutContact } from '../../../../shop/resources/orders/buyer.ts'
import { listUsedMethods } from '../../../../shop/resources/orders/charge-tables.ts'
import {
  DRAFT_BYTES_MAX,
  DRAFTS_MAX,
  type DraftOwner,
  type DraftPlace,
  deleteDraft,
  endDraft,
  type Kept,
  keepDraft,
  listDrafts,
  readDraft,
} from '../../../../shop/resources/orders/drafts.ts'
import { orderFigures } from '../../../../shop/resources/orders/figures.ts'
import { ORDER_ITEMS_MAX } from '../../../../shop/resources/orders/order-body.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import {
  type Charge,
  placeForRehearsal,
  placeOrder,
  REHEARSED_ORDER_ID,
} from '../../../../shop/resources/orders/place-order.ts'
import { rehearse } from '../../../../shop/resources/orders/rehearse.ts'
import { statusNew, statusUnpaid } from '../../../../shop/resources/orders/statuses.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields, refusedFields } from '../../../html/page-routes.ts'
import { type Form, merchantOf, textIn } from '../../../html/request.ts'
import { addOnce } from '../../frame/once.ts'
import { idIn, type PageRequest, type Sent } from '../../frame/pages.ts'
import { listStatusNames, textsOf } from '../../records/order-words.ts'
import { asSeen, customerIdIn, filledLines, type LookedUp, lookUpLines } from './form-lines.ts'
import { faultsOfBuyer, hasOtherAddresses, type LookedUpBuyer, lookUpBuyer } from './order-buyer.ts'
import { chargesFor, type FormCharges, proposedNames, unseenIn } from './order-charges.ts'
import {
  faultsOfOrder,
  formField,
  formLabels,
  isEmptyForm,
  isOfOrder,
  newCustomerOf,
  orderOf,
  rewritten,
} from './order-form.ts'

const address = '/admin/orders/new'

/** The field of a draft that says before which sign its reader typed decimals. Absent: a point. */
const SIGN = 'DecimalSign'

interface Shown {
  readonly form: Form
  readonly draft: DraftPlace & { readonly keptAt: Date | null }
  readonly isSent: boolean
}

/** A new form: of a draft, for a customer, or empty. */
export async function firstPage(asked: PageRequest, reply: FastifyReply): Promise<HtmlPage> {
  const { query, writing } = asked
  const draftId = textIn(query, 'draft')
  const page = randomUUID()
  if (draftId !== '') {
    const id = /^\d{1,10}$/.test(draftId) && isId(Number(draftId)) ? Number(draftId) : 0
    const { version, keptAt, fields } = await readDraft(ownerOf(asked, reply), id)
    const { [SIGN]: sign, ...kept } = fields
    const form = rewritten(kept, { decimalSign: String(sign ?? '.') }, writing)
    return newOrderPage(asked, reply, { form, draft: { id, version, page, keptAt }, isSent: false })
  }
  const { country } = asked.caller.store
  const form = {
    CustomerID: textIn(query, 'customer'),
    ShipToBilling: 'yes',
    BillingCountry: country,
    ShipmentCountry: country,
  }
  return newOrderPage(asked, reply, { form, draft: { id: 0, version: 0, page, keptAt: null }, isSent: false })
}

function ownerOf({ caller: { db, store, now } }: PageRequest, { request }: FastifyReply): DraftOwner {
  return { db, store, now, identityId: merchantOf(request).identityId }
}

export async function throwAway(asked: PageRequest, reply: FastifyReply): Promise<string> {
  await deleteDraft(ownerOf(asked, reply), idIn(asked))
  return `${address}?notice=draft-deleted`
}

/** The names of the fields by which a page says which draft it shows. */
function draftOf(form: Form): DraftPlace {
  const numberOf = (name: string) => Number(/^\d{1,9}$/.exec(textIn(form, name))?.[0] ?? 0)
  const page = /^[\w-]{1,50}$/.exec(textIn(form, 'DraftPage'))?.[0] ?? ''
  return { id: numberOf('Draft'), version: numberOf('DraftVersion'), page }
}

/** The fields of the order alone, by which a form that is sent again is known. */
function orderFields(form: Form): Form {
  return Object.fromEntries(Object.entries(form).filter(([name]) => isOfOrder(name)))
}

/** The form again, with what was looked up, and what placing the order would come to. Keeps it as a draft. */
export function sentPage(asked: PageRequest, reply: FastifyReply): Promise<HtmlPage> {
  const form = asked.typed ?? {}
  return newOrderPage(asked, reply, { form, draft: { ...draftOf(form), keptAt: null }, isSent: true })
}

async function newOrderPage(asked: PageRequest, reply: FastifyReply, shown: Shown): Promise<HtmlPage> {
  const { caller, writing } = asked
  const found = await lookUpBuyer(caller, shown.form)
  const customerId = customerIdIn(found.form)
  const typed = withQuantities(await lookUpLines(caller, { typed: found.form, writing }, { customerId }))
  const { total, charges } = await workOut(caller, typed, found)
  const lookedUp = { ...typed, values: { ...typed.values, ...charges?.fields } }
  const { lines, values } = lookedUp
  const owner = ownerOf(asked, reply)
  const { draft, said } = shown.isSent
    ? await kept(owner, shown.draft, lookedUp, found)
    : { draft: shown.draft, said: null }
  const [methods, shippingMethods, statuses, drafts] = await Promise.all([
    readNames(caller, 'payment-methods'),
    listUsedMethods(caller),
    listStatusNames(caller.db, caller.store.id),
    listDrafts(owner),
  ])
  const statusText = textsOf(statuses)
  return {
    template: '/pages/shop/orders/new',
    title: t('New order'),
    values,
    data: {
      lines,
      linesMax: ORDER_ITEMS_MAX,
      lookUpAddress: address,
      labels: formLabels(lines),
      locales: [['', t('As on invoices')], ...Object.entries(locales)],
      paymentMethods: methods.filter(({ visible }) => visible).map(({ id, name }) => [id, name]),
      shippingMethods,
      statusOnline: statusText(statusNew),
      statusOtherwise: statusText(statusUnpaid),
      buyer: found.buyer,
      fits: found.fits,
      namesake: found.namesake,
      billTo: writing.postalAddress(values, 'Billing').join(', '),
      shipTo: writing.postalAddress(values, 'Shipment').join(', '),
      hasOtherAddresses: found.buyer !== null && hasOtherAddresses(values, found.buyer),
      total,
      charges,
      proposedNames,
      draft,
      said,
      drafts: drafts.filter(({ id }) => id !== draft.id),
    },
  }
}

/** One piece, or as many as the product asks for, where somebody has named a product and no quantity yet. */
function withQuantities({ lines, values, writing, ...others }: LookedUp): LookedUp {
  const missing = lines.flatMap(({ number, product }) => {
    const name = `ItemQuantity.${number}`
    return product !== null && textIn(values, name).trim() === '' ? [[name, writing.typed(product.minimum || 1)]] : []
  })
  return { lines, values: { ...values, ...Object.fromEntries(missing) }, writing, ...others }
}

const refusalTexts: Readonly<Record<Extract<Kept, { refusal: unknown }>['refusal'], Text>> = {
  'too-large': t(
    'This order is not kept as a draft. It has more than the {kilobytes, number} kB that a draft may have.',
    { kilobytes: DRAFT_BYTES_MAX / 1024 },
  ),
  'too-many': t('This order is not kept as a draft. You have {count, number} drafts. Place one or throw one away.', {
    count: DRAFTS_MAX,
  }),
  'not-of-store': t('This order is not kept as a draft. You do not belong to the store any more.'),
}

/** What is said of a draft that is not the one of before: the other one, if there still is one, or why nothing is kept. */
type Said = { readonly other: number | null } | { readonly refusal: Text } | null

/** Keeps what the form shows now, unless nothing is chosen yet or the page has no name. */
async function kept(
  owner: DraftOwner,
  place: Shown['draft'],
  { values, lines, writing }: LookedUp,
  { buyer }: LookedUpBuyer,
): Promise<{ draft: Shown['draft']; said: Said }> {
  // A draft begins with a choice, or because somebody asks for it.
  const isChosen = buyer !== null || lines.some(({ product, fits }) => product !== null && fits === null)
  const isBegun = place.id > 0 || isChosen || (values.Keep !== undefined && !isEmptyForm(values))
  if (place.page === '' || !isBegun) return { draft: place, said: null }
  const content = {
    title: billedTo(values) || (buyer?.name ?? ''),
    lines: filledLines(lines).length,
    fields: { ...orderFields(values), [SIGN]: writing.decimalSign },
  }
  const outcome = await keepDraft(owner, place, content)
  if ('refusal' in outcome) return { draft: place, said: { refusal: refusalTexts[outcome.refusal] } }
  return {
    draft: { ...outcome.draft, page: place.page },
    said: outcome.as === 'same' ? null : { other: outcome.as === 'own' ? place.id : null },
  }
}

/** The total does not depend on what a guest can be reached by. */
const anyGuest = 'guest@shop.example'

/** What placing the order would come to, or what is still missing for that, and what is proposed for it; null: no goods are named. */
async function workOut(caller: Caller, { values, ...found }: LookedUp, { buyer }: LookedUpBuyer) {
  // Until the customer is found, the order is a guest's.
  const lookedUp = asSeen({ ...found, values: { ...values, CustomerID: buyer === null ? '' : String(buyer.id) } })
  const { lines } = lookedUp
  if (filledLines(lines).length === 0) return { total: null, charges: null }
  const proposed: FormCharges[] = []
  const charge: Charge = (proposal, patch) => {
    const charges = chargesFor(values, found.writing, proposal)
    const { cost, salesTax } = charges.charged
    const [shipment = keep(0), ...others] = patch.lists.ShipmentList ?? []
    proposed.push(charges)
    patch.columns.salesTax = salesTax
    patch.lists.ShipmentList = [{ ...shipment, columns: { ...shipment.columns, cost } }, ...others]
  }
  const withCharges = <T>(total: T) => ({ total, charges: proposed.at(-1) ?? null })
  try {
    const body = orderOf(lookedUp)
    const isGuest = body.CustomerID === undefined && isWithoutContact(body)
    const productIds = lines.flatMap(({ product }) => (product === null ? [] : [product.id]))
    const { result } = await rehearse(caller, { orderId: REHEARSED_ORDER_ID, productIds }, async (tx) => {
      await placeForRehearsal(tx, isGuest ? { ...body, BillingEmail: anyGuest } : body, charge)
      const placed: OrderRecord = JSON.parse(await getRecord(tx, orders, REHEARSED_ORDER_ID))
      return placed
    })
    const { lines: figures, subtotal, shipping, tax, discount } = orderFigures(result, caller.store.currency)
    // Of each line, by its number.
    const amounts = new Map(filledLines(lines).map(({ number }, at) => [number, figures[at]?.amount ?? 0]))
    const rows = [
      { part: 'goods', label: t('Goods'), amount: subtotal },
      { part: 'discount', label: t('Discount'), amount: -discount },
      { part: 'shipping', label: t('Shipping'), amount: shipping },
      { part: 'tax', label: t('Tax'), amount: tax },
    ].filter(({ part, amount }) => part === 'goods' || amount !== 0)
    const total = { part: 'total', label: t('Total'), amount: result.OrderAmount }
    return withCharges({ rows: [...rows, total], amounts, missing: [] })
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.status >= 500) throw error
    return withCharges({ rows: [], amounts: new Map<number, number>(), missing: faultsIn(error, lookedUp) })
  }
}

function faultsIn(failure: StoreFailure, { lines }: LookedUp) {
  const { faults, field, message } = failure
  if (faults.length > 0) return faults
  const problem = message.startsWith(`${field} `) ? message.slice(field.length + 1) : message
  return [{ field: formField(field, lines), problem }]
}

export async function place(asked: Sent<PageRequest>, reply: FastifyReply): Promise<string> {
  const { caller, typed: sent } = asked
  const lookedUp = await lookUpLines(caller, asked, { customerId: customerIdIn(sent) })
  const ofBuyer = faultsOfBuyer(await lookUpBuyer(caller, sent))
  // What is wrong with the customer is said once, in words.
  const ofOrder = faultsOfOrder(lookedUp).filter(({ field }) => ofBuyer.every((fault) => fault.field !== field))
  if (ofBuyer.length + ofOrder.length > 0) throw refusedFields([...ofOrder, ...ofBuyer])
  const body = orderOf(lookedUp)
  const draft = draftOf(sent)
  const { identityId } = ownerOf(asked, reply)
  const toForm = inFormFields((field) => formField(field, lookedUp.lines))
  const id = await addOnce(
    caller,
    { ...orderFields(sent), OneTimeKey: textIn(sent, 'OneTimeKey') },
    {
      scope: 'order',
      resultKey: 'OrderID',
      add: async (remember) => {
        const placed = await placeOrder(caller, body, {
          customer: await newCustomerOf(caller, lookedUp.values),
          charge: (proposal, patch) => {
            const { fields, rate } = chargesFor(lookedUp.values, lookedUp.writing, proposal)
            const unseen = unseenIn(fields, lookedUp.values)
            if (unseen !== null) throw unseen
            const locale = textIn(sent, 'Locale')
            Object.assign(patch.columns, rate, isLocale(locale) && { locale })
          },
          remember: async (tx, { id }) => {
            await endDraft({ db: tx.db, store: caller.store, identityId }, draft)
            await remember?.(tx, id)
          },
        })
        return placed.id
      },
      messages: {
        isDone: 'This form has placed an order already. If you want to place this one too, press the button again',
        isPending: 'This order is being placed. It appears in the list of orders in a moment',
      },
    },
  ).catch(toForm)
  return `/admin/orders/${id}?notice=order-placed`
}
