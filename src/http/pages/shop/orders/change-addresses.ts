import type { FastifyInstance, FastifyRequest } from 'fastify'
import type { Privileges } from '../../../../engine/caller.ts'
import { changeRecord } from '../../../../engine/changing/change.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { type Phrase, t } from '../../../../foundation/texts/text.ts'
import { valueIn } from '../../../../foundation/values/json.ts'
import { shippingToBuyer } from '../../../../shop/resources/orders/buyer.ts'
import { type OrderRecord, orders } from '../../../../shop/resources/orders/orders.ts'
import { readParcelNumbers } from '../../../../shop/resources/orders/parcels.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import { writingOf } from '../../../html/numbers.ts'
import { type HtmlPage, sendPage } from '../../../html/page.ts'
import { adminPages, inFormFields } from '../../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller, textIn } from '../../../html/request.ts'
import { readIds } from '../../../server/json/parameters.ts'
import { ifUnchanged, tagOf } from '../../frame/unchanged.ts'
import { changesOf, isTypedAs, listTyped, valuesTyped } from '../../records/form.ts'
import { seenList, seenValues } from '../../records/seen.ts'
import { services as allServices, type List, type Value } from '../../records/services.ts'
import { inputOf, plainText } from '../../records/values.ts'

const address = '/admin/orders/:id/addresses'
const advice = 'Compare what you typed with what is stored now, and save again'

/** Adds the pages that change the billing address of an order and the addresses of its shipments. */
export function addressPages(app: FastifyInstance, services: CallerServices): void {
  const { page, form } = adminPages(app, ['Orders', 'write'])
  const { post } = adminPages(app, ['Orders', 'write'], ['Customers', 'read'])
  page(address, (request) => addressPage(request, services))
  // Shows the form again, with the billing address for a shipment.
  post(`${address}/copy`, async (request, reply) =>
    sendPage(reply, await addressPage(request, services, { typed: withBilling(formOf(request)) })),
  )
  form(
    address,
    (request) => save(request, services),
    (request, _reply, { kind }) =>
      addressPage(request, services, { typed: formOf(request), isOutdated: kind === 'precondition-failed' }),
  )
}

const parts = ['FirstName', 'LastName', 'Company', 'Address', 'Address2', 'City', 'State', 'ZipCode', 'Country']
const allBilling = valuesNamed(
  serviceOfOrders().sections.flatMap(({ values }) => values),
  [...parts, 'PhoneNumber', 'Email'].map((name) => `Billing${name}`),
)
const allShipments = shipmentsWith([...parts, 'Phone', 'Email'].map((name) => `Shipment${name}`))

function serviceOfOrders() {
  const service = allServices.find(({ resource }) => resource === orders)
  if (service === undefined) throw new Error('Orders have no pages')
  return service
}

function valuesNamed(values: readonly Value[], names: readonly string[]): Value[] {
  return names.map((name) => {
    const value = values.find(({ path }) => path.join('.') === name)
    if (value === undefined) throw new Error(`Orders have no ${name}`)
    return value
  })
}

/** The list of shipments, with only these values. */
function shipmentsWith(names: readonly string[]): List {
  const list = serviceOfOrders().sections.find((section) => section.list?.name === 'ShipmentList')?.list
  if (!list) throw new Error('Orders have no list of shipments')
  return { ...list, values: valuesNamed(list.values, names) }
}

/** The fields of the form that somebody with these privileges sees. */
function seenBy(privileges: Privileges) {
  return { billing: seenValues(privileges, allBilling), shipments: seenList(privileges, allShipments) }
}

async function addressPage(
  request: FastifyRequest,
  services: CallerServices,
  { typed = null, isOutdated = false }: { typed?: Form | null; isOutdated?: boolean } = {},
): Promise<HtmlPage> {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const { billing, shipments } = seenBy(caller.privileges)
  const text = await getRecord(caller, orders, id)
  const record: OrderRecord = JSON.parse(text)
  const writing = writingOf(request)
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
      id,
      etag: tagOf(text, typed, isOutdated),
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

/** The form with its billing address for the shipment that the button names, cut to the lengths there. */
function withBilling(form: Form): Form {
  const place = /^\d{1,5}$/.exec(textIn(form, 'copy'))?.[0]
  if (place === undefined) return form
  const copied = shippingToBuyer(
    Object.fromEntries(allBilling.map(({ path }) => [path[0], textIn(form, path.join('.'))])),
  )
  const fields = allShipments.values.map(({ path }) => [
    `${rowName(Number(place))}.${path.join('.')}`,
    valueIn(copied, path),
  ])
  return { ...form, ...Object.fromEntries(fields.map(([name, value]) => [name, plainText(value)])) }
}

async function save(request: FastifyRequest, services: CallerServices): Promise<string> {
  const { id } = readIds(request.params, 'id')
  const caller = merchantCaller(request, services)
  const form = formOf(request)
  const precondition = ifUnchanged(form, 'order', advice)
  const text = await getRecord(caller, orders, id)
  precondition(text)
  const record: OrderRecord = JSON.parse(text)
  const { billing, shipments } = seenBy(caller.privileges)
  const writing = writingOf(request)
  const ofBilling = changesOf({ values: billing, list: null }, form, record, writing)
  const ofShipments = changesOf({ values: [], list: shipments }, form, record, writing)
  const body = { ...ofBilling.body, ...ofShipments.body }
  if (Object.keys(body).length === 0) return `/admin/orders/${id}`
  await changeRecord(caller, orders, { kind: 'update', id, body }, { precondition }).catch(
    inFormFields(ofShipments.nameOf),
  )
  return `/admin/orders/${id}?notice=record-saved`
}
