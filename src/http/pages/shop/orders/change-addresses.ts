import type { Privileges } from '../../../../engine/caller.ts'
import { changeRecord } from '../../../../engine/changing/change.ts'
import { type Phrase, t } from '../../../../foundation/texts/text.ts'
import { valueIn } from '../../../../foundation/values/json.ts'
import { shippingNames, shippingToBuyer } from '../../../../shop/resources/orders/buyer.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { readParcelNumbers } from '../../../../shop/resources/orders/parcels.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { inFormFields } from '../../../html/page-routes.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { requireUnchanged, type Sent } from '../../frame/pages.ts'
import { changesOf, isTypedAs, listTyped, valuesTyped } from '../../records/form.ts'
import { seenList, seenValues } from '../../records/seen.ts'
import { type List, pickList, pickValues, type Value } from '../../records/services.ts'
import { inputOf, plainText } from '../../records/values.ts'
import { billingValues, type OrderRequest, orderService } from './special.ts'

const advice = 'Compare what you typed with what is stored now, and save again'

const shipmentList = pickList(orderService, 'ShipmentList')
const allShipments: List = { ...shipmentList, values: pickValues(shipmentList, ...shippingNames, 'ShipmentEmail') }

/** The fields of the form that somebody with these privileges sees. */
function seenBy(privileges: Privileges) {
  return { billing: seenValues(privileges, billingValues), shipments: seenList(privileges, allShipments) }
}

/** Changes the billing address of an order and the addresses of its shipments. */
export async function addressPage({ caller, record, writing, typed, isOutdated }: OrderRequest): Promise<HtmlPage> {
  const { billing, shipments } = seenBy(caller.privileges)
  const stored = { ...valuesTyped(billing, record, writing), ...listTyped(shipments, record, writing) }
  const values: Form = typed === null ? stored : { ...stored, ...typed }
  const field = fieldIn(values, isOutdated ? stored : null)
  const numbers = await readParcelNumbers(caller, record)
  const places = record.ShipmentList.map(({ ShipmentID }, place) => ({
    place,
    number: numbers.get(ShipmentID) ?? 0,
    title:
      numbers.size === 1
        ? t('Shipping address')
        : t('Address of parcel {number}', { number: numbers.get(ShipmentID) ?? 0 }),
    fields: shipments.values.map((value) => field(value, `${rowName(place)}.`)),
  }))
  places.sort((one, other) => one.number - other.number)
  return {
    template: '/pages/shop/orders/change-addresses',
    title: t('Addresses of order {number}', { number: invoiceOf(record) }),
    values,
    data: {
      billing: billing.map((value) => field(value, '')),
      shipments: places,
      labels: labelsOf(billing, places),
    },
  }
}

const rowName = (place: number) => `${allShipments.name}.${place}`

/** A field of the form, with what is stored now if that is not what was typed. */
function fieldIn(values: Form, stored: Readonly<Record<string, string>> | null) {
  return (value: Value, prefix: string) => {
    const name = prefix + value.path.join('.')
    const now = stored?.[name]
    const isOther = now !== undefined && !isTypedAs(value, textIn(values, name), now)
    return { value, name, input: { ...inputOf(value), hint: '' }, stored: isOther ? now : null }
  }
}

type Places = readonly { readonly title: Phrase; readonly fields: readonly { value: Value; name: string }[] }[]

function labelsOf(billing: readonly Value[], places: Places): Record<string, Phrase> {
  const ofBilling = billing.map(({ path, label }) => [path.join('.'), label])
  const ofShipments = places.flatMap(({ title, fields }) =>
    fields.map(({ name, value }) => [name, t('{row}: {field}', { row: title, field: value.label })]),
  )
  return Object.fromEntries([...ofBilling, ...ofShipments])
}

/** Shows the form again, with the billing address for a shipment. */
export function copiedPage(asked: OrderRequest): Promise<HtmlPage> {
  return addressPage({ ...asked, typed: withBilling(asked.typed ?? {}) })
}

/** The form with its billing address for the shipment that the button names, cut to the lengths there. */
function withBilling(form: Form): Form {
  const place = /^\d{1,5}$/.exec(textIn(form, 'copy'))?.[0]
  if (place === undefined) return form
  const copied = shippingToBuyer(
    Object.fromEntries(billingValues.map(({ path }) => [path[0], textIn(form, path.join('.'))])),
  )
  const fields = allShipments.values.map(({ path }) => [
    `${rowName(Number(place))}.${path.join('.')}`,
    valueIn(copied, path),
  ])
  return { ...form, ...Object.fromEntries(fields.map(([name, value]) => [name, plainText(value)])) }
}

export async function saveAddresses(asked: Sent<OrderRequest>): Promise<string> {
  const { caller, id, record, typed, writing } = asked
  const precondition = requireUnchanged(asked, 'order', advice)
  const { billing, shipments } = seenBy(caller.privileges)
  const ofBilling = changesOf({ values: billing, list: null }, typed, record, writing)
  const ofShipments = changesOf({ values: [], list: shipments }, typed, record, writing)
  const body = { ...ofBilling.body, ...ofShipments.body }
  if (Object.keys(body).length === 0) return `/admin/orders/${id}`
  const change = { kind: 'update', id, body } as const
  await changeRecord(caller, orders, change, { precondition }).catch(inFormFields(ofShipments.nameOf))
  return `/admin/orders/${id}?notice=record-saved`
}
