import type { Caller } from '../../../../engine/caller.ts'
import type { Fault } from '../../../../foundation/values/failure.ts'
import { isId } from '../../../../foundation/values/int32.ts'
import { customers } from '../../../../shop/resources/customers/customers.ts'
import { findCustomerByEmail } from '../../../../shop/resources/customers/find-customer.ts'
import { isEmailAddress } from '../../../../shop/resources/customers/rules.ts'
import {
  type Buyer,
  billingNames,
  findBuyer,
  isWithoutContact,
  shippingNames,
} from '../../../../shop/resources/orders/buyer.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { findMatches } from '../../records/search.ts'
import { seenBy } from '../../records/seen.ts'
import { targetService } from '../../records/services.ts'

// For whom a new order is, and where it goes. The form's addresses are taken from the customer once, and may be changed then.

/** Whether the form shows the addresses of the customer that it names, so that an empty field is meant. */
export function hasAddressesOfBuyer(form: Form): boolean {
  const id = textIn(form, 'CustomerID').trim()
  return id !== '' && textIn(form, 'AddressOf') === id
}

/** Whether the goods go to the billing address: the form says so, or says no other. A country alone, with which forms begin, is none. */
export function shipsToBilling(form: Form): boolean {
  const isNone = (name: string) => name === 'ShipmentCountry' || textIn(form, name).trim() === ''
  return form.ShipToBilling !== undefined || shippingNames.every(isNone)
}

export type LookedUpBuyer = Awaited<ReturnType<typeof lookUpBuyer>>

/**
 * Finds the customer of the form by number, name or e-mail address. `CustomerID.choice` is who was chosen of several, `OtherCustomer`
 * gives a choice up, and `TakeAddresses` asks for the stored addresses in place of those that were typed.
 */
export async function lookUpBuyer(caller: Caller, sent: Form) {
  const { 'CustomerID.choice': choice, OtherCustomer, TakeAddresses, ...form } = sent
  const given = textIn(sent, 'CustomerID.choice') || textIn(form, 'CustomerID')
  const typed = OtherCustomer === undefined ? given.trim() : ''
  const named = isNumber(typed) ? await findBuyer(caller, Number(typed)) : null
  // Digits that are no number of a customer may be those of a phone.
  const fits = typed === '' || named !== null ? null : await findCustomers(caller, typed)
  const [only] = fits?.matches ?? []
  const isOne = only !== undefined && fits?.matches.length === 1
  const buyer = named ?? (isOne ? await findBuyer(caller, only.id) : null)
  const id = buyer === null ? typed : String(buyer.id)
  const formerId = textIn(form, 'AddressOf')
  const isOther = buyer === null ? typed === '' && formerId !== '' : formerId !== id
  const former = isOther && isNumber(formerId) ? await findBuyer(caller, Number(formerId)) : null
  const isAsked = TakeAddresses !== undefined
  const sentAgain = { ...form, CustomerID: id }
  const filled = isAsked || isOther ? withAddresses(sentAgain, former, buyer, isAsked, caller.store.country) : sentAgain
  return {
    /** With the number of the customer in place of words that one customer fits, and the addresses of one newly chosen. */
    form: filled,
    /** Null: a guest, or nobody was found. */
    buyer,
    /** Who fits the words that were typed; null: none were, or the number of a customer. */
    fits,
    /** A customer with the e-mail address of a guest; null: none. */
    namesake: typed === '' ? await findNamesake(caller, textIn(filled, 'BillingEmail').trim()) : null,
  }
}

/** What is wrong with a customer who was not named by the number: nobody has seen yet who was found. Also a guest without any contact. */
export function faultsOfBuyer({ fits, buyer, form }: LookedUpBuyer): Fault[] {
  const field = 'CustomerID'
  if (fits === null) {
    const isNobody = buyer === null && isWithoutContact(form)
    const problem = 'or a telephone number is required for a guest'
    return isNobody ? [{ field: 'BillingEmail', problem, code: 'missing-field' }] : []
  }
  if (buyer !== null) return [{ field, problem: 'was found by what you typed: look whether it is the right one' }]
  const isOneOfMany = fits.matches.length > 0
  return [{ field, problem: isOneOfMany ? 'fits several customers: choose one' : 'fits no customer of this store' }]
}

function isNumber(text: string): boolean {
  return /^\d{1,10}$/.test(text) && isId(Number(text))
}

/** Each with what tells those of one name apart. */
async function findCustomers(caller: Caller, typed: string) {
  const { db, store, privileges } = caller
  const { matches, isMore } = await findMatches(caller, seenBy(privileges, targetService(customers)), typed)
  const ids = matches.map(({ id }) => id)
  const columns = { id: true, city: true, phone: true } as const
  const rows = await db.customer.findMany({ where: { storeId: store.id, id: { in: ids } }, select: columns })
  const about = new Map(rows.map(({ id, city, phone }) => [id, [city, phone].filter(Boolean).join(' · ')]))
  return { matches: matches.map(({ id, name }) => ({ id, name, about: about.get(id) ?? '' })), isMore }
}

async function findNamesake(caller: Caller, email: string): Promise<Buyer | null> {
  if (!isEmailAddress(email)) return null
  const id = await findCustomerByEmail(caller, email)
  return id === null ? null : findBuyer(caller, id)
}

/** Gives the form the addresses of the customer, but where somebody typed others than those of the former one. */
function withAddresses(form: Form, former: Buyer | null, buyer: Buyer | null, isAsked: boolean, country: string): Form {
  const typed = (name: string) => textIn(form, name).trim()
  // A country alone, with which a form begins, is nothing that somebody typed.
  const none = { BillingCountry: typed('BillingCountry'), ShipmentCountry: typed('ShipmentCountry') }
  const isBillingFree = isAsked || isAsIn(form, billingNames, former?.billing ?? none)
  const isShippingFree = isAsked || shipsToBilling(form) || isAsIn(form, shippingNames, former?.shipping ?? none)
  const { ShipToBilling, ...others } = form
  const billing = isBillingFree ? picked(billingNames, buyer?.billing ?? { BillingCountry: country }) : {}
  const shipping = isShippingFree ? picked(shippingNames, buyer?.shipping ?? { ShipmentCountry: country }) : {}
  const isSame = isShippingFree ? buyer === null || hasOneAddress(buyer) : ShipToBilling !== undefined
  return {
    ...others,
    ...billing,
    ...shipping,
    ...(isSame && { ShipToBilling: 'yes' }),
    AddressOf: buyer === null ? '' : String(buyer.id),
  }
}

function picked(names: readonly string[], from: Buyer['billing']): Record<string, string> {
  return Object.fromEntries(names.map((name) => [name, from[name] ?? '']))
}

/** Whether the customer has no shipping address, or the same one. */
function hasOneAddress({ billing, shipping }: Buyer): boolean {
  const names = shippingNames.filter((name) => name !== 'ShipmentPhone')
  const isAsBilling = (name: string) => (shipping[name] ?? '') === (billing[name.replace('Shipment', 'Billing')] ?? '')
  return names.every((name) => (shipping[name] ?? '') === '') || names.every(isAsBilling)
}

/** Whether the form shows other addresses than are stored for the customer. */
export function hasOtherAddresses(form: Form, { billing, shipping }: Buyer): boolean {
  return !isAsIn(form, billingNames, billing) || (!shipsToBilling(form) && !isAsIn(form, shippingNames, shipping))
}

function isAsIn(form: Form, names: readonly string[], stored: Buyer['billing']): boolean {
  return names.every((name) => textIn(form, name).trim() === (stored[name] ?? '').trim())
}
