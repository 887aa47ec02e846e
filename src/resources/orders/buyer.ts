import { sql } from '../../database/sql.ts'
import type { Caller } from '../../engine/caller.ts'
import type { Document, Row } from '../../engine/merge.ts'
import { wrongField } from '../../engine/refused.ts'

/** The customer of an order. */
export interface Buyer {
  /** The customer's Billing… fields under an order's names, cut to its lengths. */
  readonly billing: Readonly<Record<string, string>>
  /** The price level of the customer's group; 0: none. */
  readonly priceLevel: number
}

const guest: Buyer = { billing: {}, priceLevel: 0 }

/** Returns the customer with this id; null is a guest. Refuses (400) an unknown id. */
export async function readBuyer(caller: Caller, customerId: number | null): Promise<Buyer> {
  if (customerId === null) return guest
  const [found] = await caller.db.$queryRaw<{ customer: string; priceLevel: number | null }[]>(sql`
     SELECT to_json(c)::text AS "customer", g."priceLevel"
     FROM "Customer" c LEFT JOIN "CustomerGroup" g ON g."storeId" = c."storeId" AND g."id" = c."groupId"
     WHERE c."storeId" = ${caller.store.id}::int AND c."id" = ${customerId}::int`)
  if (!found) throw wrongField('CustomerID', 'refers to a customer that does not exist')
  return { billing: billingOf(JSON.parse(found.customer) as Row), priceLevel: found.priceLevel ?? 0 }
}

function billingOf(customer: Row): Record<string, string> {
  const details = customer.details as Document
  return {
    BillingFirstName: textOf(customer.firstName),
    BillingLastName: textOf(customer.lastName),
    BillingCompany: textOf(details.BillingCompany),
    BillingAddress: textOf(details.BillingAddress1, 200),
    BillingAddress2: textOf(details.BillingAddress2),
    BillingCity: textOf(customer.city),
    BillingState: textOf(customer.state),
    BillingZipCode: textOf(details.BillingZipCode),
    BillingCountry: textOf(customer.country, 50),
    BillingPhoneNumber: textOf(customer.phone, 30),
    BillingEmail: textOf(customer.email),
  }
}

/** Returns a shipment to the billing address, for an order without one. */
export function shippingToBuyer(billing: Readonly<Record<string, unknown>>): Document {
  return {
    ShipmentFirstName: textOf(billing.BillingFirstName),
    ShipmentLastName: textOf(billing.BillingLastName, 50),
    ShipmentCompany: textOf(billing.BillingCompany, 200),
    ShipmentAddress: textOf(billing.BillingAddress),
    ShipmentAddress2: textOf(billing.BillingAddress2),
    ShipmentCity: textOf(billing.BillingCity, 50),
    ShipmentState: textOf(billing.BillingState, 50),
    ShipmentZipCode: textOf(billing.BillingZipCode),
    ShipmentCountry: textOf(billing.BillingCountry),
    ShipmentPhone: textOf(billing.BillingPhoneNumber),
    ShipmentEmail: textOf(billing.BillingEmail),
  }
}

/** Cuts a text to the length of its field, never within a character. */
function textOf(value: unknown, lengthMax = Number.POSITIVE_INFINITY): string {
  const text = typeof value === 'string' ? value : ''
  return text.length <= lengthMax ? text : text.slice(0, lengthMax).replace(/[\uD800-\uDBFF]$/, '')
}
