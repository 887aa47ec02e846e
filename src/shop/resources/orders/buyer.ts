import type { Caller } from '../../../engine/caller.ts'
import type { FieldSet, ValueField } from '../../../engine/definition/fields.ts'
import type { Patch } from '../../../engine/definition/input.ts'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Document, Row } from '../../../engine/definition/stored-row.ts'
import { queryRows } from '../../../foundation/database/client.ts'
import { customers } from '../customers/customers.ts'
import { shipmentList } from './lists.ts'
import { orders } from './orders.ts'

/** The fields of an order, of its record or of a form. */
type Values = Readonly<Record<string, unknown>>

const trimmed = (text: unknown) => String(text ?? '').trim()

/** Returns whose order it is: a person, else a company, an e-mail address or a telephone number. Empty: nothing says it. */
export function billedTo(billed: Values): string {
  const { BillingFirstName, BillingLastName, BillingCompany, BillingEmail, BillingPhoneNumber } = billed
  const name = [BillingFirstName, BillingLastName].map(trimmed).filter(Boolean).join(' ')
  return name || trimmed(BillingCompany) || trimmed(BillingEmail) || trimmed(BillingPhoneNumber)
}

/** Whether an order or form has neither an e-mail address nor a telephone number, of which a guest needs one. */
export function isWithoutContact({ BillingEmail, BillingPhoneNumber }: Values): boolean {
  return trimmed(BillingEmail) === '' && trimmed(BillingPhoneNumber) === ''
}

/** The customer of an order. */
export interface Buyer {
  readonly id: number
  /** As orders name it (`billedTo`). */
  readonly name: string
  readonly email: string
  readonly group: string
  /** Of the customer's group; 0: none. */
  readonly priceLevel: number
  /** Whether the customer or the group pays no taxes. */
  readonly isExempt: boolean
  /** The Billing… and Shipment… fields of an order for them, under an order's names and cut to its lengths. */
  readonly billing: Readonly<Record<string, string>>
  /** All empty where the customer has only one address. */
  readonly shipping: Readonly<Record<string, string>>
}

const guest = { id: 0, name: '', email: '', group: '', priceLevel: 0, isExempt: false, billing: {}, shipping: {} }

/** The buyer of a new order, by its columns. Refuses (400) an unknown customer. */
export async function readBuyer(caller: Caller, { customerId = null }: Patch['columns']): Promise<Buyer> {
  const buyer = customerId === null ? guest : await findBuyer(caller, Number(customerId))
  if (buyer === null) throw wrongField('CustomerID', 'refers to a customer that does not exist', 'unknown-reference')
  return buyer
}

/** Null: the store has no such customer. */
export async function findBuyer(caller: Caller, id: number): Promise<Buyer | null> {
  const [found] = await queryRows<Pick<Buyer, 'group' | 'priceLevel' | 'isExempt'> & { customer: string }>(caller.db)`
     SELECT to_json(c)::text AS "customer", coalesce(g."name", '') AS "group", coalesce(g."priceLevel", 0) AS "priceLevel",
       coalesce(c."details" ->> 'NonTaxable' = 'true', false) OR coalesce(g."details" ->> 'NonTaxable' = 'true', false) AS "isExempt"
     FROM "Customer" c LEFT JOIN "CustomerGroup" g ON g."storeId" = c."storeId" AND g."id" = c."groupId"
     WHERE c."storeId" = ${caller.store.id}::int AND c."id" = ${id}::int`
  if (found === undefined) return null
  const { customer: json, ...terms } = found
  const customer: Row = JSON.parse(json)
  const billing = cut(orders.fields, valuesOf(customer, billingNames))
  const email = String(customer.email ?? '')
  const name = billedTo({ ...billing, BillingEmail: email })
  const shipping = cut(shipmentList.fields, valuesOf(customer, shippingNames))
  return { id, name, email, ...terms, billing, shipping }
}

const parts = ['FirstName', 'LastName', 'Company', 'Address', 'Address2', 'City', 'State', 'ZipCode', 'Country']
/** The fields of an order's billing address, and those of a shipment's address that a form of it has. */
export const billingNames = [...parts, 'PhoneNumber', 'Email'].map((name) => `Billing${name}`)
export const shippingNames = [...parts, 'Phone'].map((name) => `Shipment${name}`)

/** What a customer's record calls them, where it calls them otherwise. */
export const customerNames: Readonly<Record<string, string>> = {
  ...Object.fromEntries(parts.map((name) => [`Shipment${name}`, `Shipping${name}`])),
  ShipmentAddress: 'ShippingAddress1',
  ShipmentPhone: 'ShippingPhoneNumber',
  BillingAddress: 'BillingAddress1',
  BillingEmail: 'Email',
}

function valuesOf(customer: Row, names: readonly string[]) {
  const valueNamed = (name: string) => {
    const theirs = customerNames[name] ?? name
    const { column } = customers.fields.get(theirs) as ValueField
    return column === undefined ? (customer.details as Document)[theirs] : customer[column]
  }
  return Object.fromEntries(names.map((name) => [name, valueNamed(name)]))
}

/** Returns a shipment to the billing address, for an order without one. */
export function shippingToBuyer(billing: Values): Document {
  return cut(shipmentList.fields, {
    ...Object.fromEntries(parts.map((name) => [`Shipment${name}`, billing[`Billing${name}`]])),
    ShipmentPhone: billing.BillingPhoneNumber,
    ShipmentEmail: billing.BillingEmail,
  })
}

/** Cuts texts to the lengths of their fields, never within a character; anything else becomes empty. */
function cut(fields: FieldSet, values: Values): Record<string, string> {
  const texts = Object.entries(values).map(([name, value]) => {
    const text = typeof value === 'string' ? value : ''
    const field = fields.get(name) as ValueField
    const { maxLength = text.length } = field.bounds
    return [name, text.length <= maxLength ? text : text.slice(0, maxLength).replace(/[\uD800-\uDBFF]$/, '')]
  })
  return Object.fromEntries(texts)
}
