import { mayRead } from '../../../../access/applications/privileges.ts'
import { readPeople } from '../../../../access/people/names.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { type Text, t } from '../../../../foundation/texts/text.ts'
import { writeDate } from '../../../../foundation/values/dates.ts'
import {
  ORDERS_SUMMED_MAX,
  readCustomerOrders,
  readCustomerReturns,
} from '../../../../shop/resources/customers/customer-orders.ts'
import { type CustomerRecord, customers } from '../../../../shop/resources/customers/customers.ts'
import { findDuplicates, type Likeness } from '../../../../shop/resources/customers/duplicates.ts'
import { listNotes, NOTE_LENGTH_MAX } from '../../../../shop/resources/customers/notes.ts'
import { orders } from '../../../../shop/resources/orders/orders.ts'
import { rma } from '../../../../shop/resources/rma/rma.ts'
import type { Wire } from '../../frame/pages.ts'
import { readCodes } from '../../records/codes.ts'
import { readTitles } from '../../records/names.ts'
import { chipsOf, listStatusNames, textsOf } from '../../records/order-words.ts'
import { seenBy } from '../../records/seen.ts'
import { serviceOf } from '../../records/services.ts'

const ORDERS_SHOWN = 10
const RETURNS_SHOWN = 5

/** The page of a customer begins with what was bought, with the addresses, and with what the shop knows beside that. */
export const customerService = serviceOf(customers, {
  template: '/pages/shop/customers/customer',
  partsTemplate: '/pages/shop/customers/customer-parts',
  read: async (caller, record) => {
    const { CustomerID: id } = record as unknown as CustomerRecord
    const [bought, returns, statuses, codes, notes, duplicates, own, personOf] = await Promise.all([
      mayRead(caller.privileges, orders) ? readCustomerOrders(caller, id, { shown: ORDERS_SHOWN }) : null,
      mayRead(caller.privileges, rma) && mayRead(caller.privileges, orders)
        ? readCustomerReturns(caller, id, { shown: RETURNS_SHOWN })
        : null,
      listStatusNames(caller.db, caller.store.id),
      readCodes(caller, ['RMAStatusID']),
      listNotes(caller, id),
      readDuplicates(caller, id, record as unknown as CustomerRecord),
      caller.db.customer.findUnique({
        where: { storeId_id: { storeId: caller.store.id, id } },
        select: { createdAt: true },
      }),
      readPeople(caller),
    ])
    const addresses = [addressOf(record, 'Billing'), addressOf(record, 'Shipping')]
    const since = [bought?.sums.firstAt, own?.createdAt].flatMap((date) => (date ? [date.getTime()] : []))
    return {
      parts: [
        ...(bought === null ? [] : [{ slug: 'orders', title: t('Orders') }]),
        ...(returns === null || returns.length === 0 ? [] : [{ slug: 'returns', title: t('Returns') }]),
        ...addresses.map(({ slug, title }) => ({ slug, title })),
        { slug: 'notes', title: t('The shop’s notes') },
      ],
      bought,
      chipsOf,
      ordersSummedMax: ORDERS_SUMMED_MAX,
      returns: returns?.map((each) => ({ ...each, status: codes.textAt('RMAStatusID', each.statusId) })) ?? null,
      since: since.length > 0 ? writeDate(new Date(Math.min(...since)), caller.store.timeZone).slice(0, 10) : null,
      statusText: textsOf(statuses),
      addresses,
      notes: notes.map((note) => ({ ...note, writtenBy: personOf(note.writtenBy) })),
      noteLengthMax: NOTE_LENGTH_MAX,
      duplicates,
    }
  },
  sections: ['billing-address', 'shipping-address'],
  referrers: ['Order'],
  technical: ['UserID'],
  // A file of all customers is what a thief would take along.
  isFileProved: true,
})

const reasons: readonly (readonly [keyof Likeness, Text])[] = [
  ['likeEmail', t('nearly the same e-mail address')],
  ['samePhone', t('the same phone number')],
  ['sameNameAndPostcode', t('the same name and postcode')],
]

async function readDuplicates(caller: Caller, id: number, record: CustomerRecord) {
  const found = await findDuplicates(caller, id, record)
  const ids = found.map((duplicate) => duplicate.id)
  const names = await readTitles(caller, seenBy(caller.privileges, customerService), ids)
  return found.map((duplicate) => ({
    ...duplicate,
    name: names.get(duplicate.id) || t('Customer {id}', { id: String(duplicate.id) }),
    reasons: reasons.flatMap(([name, text]) => (duplicate[name] ? [text] : [])),
  }))
}

/** What a person reads of one of the two addresses. */
function addressOf(record: Wire, prefix: 'Billing' | 'Shipping') {
  const of = (name: string) => String(record[prefix + name] ?? '').trim()
  const names = ['FirstName', 'LastName', 'Company', 'Address2', 'City', 'State', 'ZipCode', 'Country']
  const parts = Object.fromEntries(names.map((name) => [`Billing${name}`, of(name)]))
  return {
    slug: `${prefix.toLowerCase()}-address`,
    title: prefix === 'Billing' ? t('Billing address') : t('Shipping address'),
    record: { ...parts, BillingAddress: of('Address1') },
    phone: of('PhoneNumber'),
    taxId: of('TaxID'),
    kind: kinds.get(of('AddressType')) ?? '',
  }
}

const kinds = new Map([
  ['1', t('A residential address')],
  ['2', t('A commercial address')],
])
