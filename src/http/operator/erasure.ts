import { z } from 'zod'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import type { PersonData } from '../../shop/erasure/data.ts'
import { type Erased, type ErasureServices, erasePerson, rehearseErasure } from '../../shop/erasure/erase.ts'
import type { PersonNamed } from '../../shop/erasure/person.ts'
import { type Erasure, listErasures, takeOut } from '../../shop/erasure/remains.ts'
import { findIdle, type Idle, queueIdle } from '../../shop/erasure/rule.ts'
import { years } from '../../shop/erasure/settings.ts'
import { actorOf, type CallerServices, storeCaller, wantsHtml } from '../html/request.ts'
import { id, ofOwner, operatorRoute, time } from '../html/route-groups.ts'
import { type JsonCall, jsonBody, many, one, record } from '../server/json/json-routes.ts'
import { pageQuery, wholeNumber } from '../server/json/parameters.ts'

const records = z.array(z.looseObject({}))
const numbers = z.array(id)

type Each<List extends keyof PersonData> = Extract<PersonData[List], readonly unknown[]>[number]

const note = record<Each<'notes'>>('PersonNote')({
  Text: z.string().describe('The note.'),
  DateWritten: time.describe('When somebody of the shop wrote it.'),
})
const mail = record<Each<'mails'>>('PersonMail')({
  Recipient: z.string().describe('The address to which it was written.'),
  Subject: z.string().describe('The subject as it was sent.'),
  State: z.string().describe('`sent`, `waiting`, or why it was not sent.'),
  DateCreated: time.describe('When it was written.'),
  DateSent: time.nullable().describe('When it was sent. Null: it was not.'),
})
const signIn = record<Each<'signIns'>>('PersonSignIn')({
  DateCreated: time.describe('When the person signed in.'),
  DateSeen: time.describe('The last request from that browser, exact to a minute.'),
  Address: z.string().describe('The IP address of the sign-in.'),
  UserAgent: z.string().describe('What the browser says of itself.'),
})
const reader = record<Each<'applications'>>('PersonReader')({
  Name: z.string().describe('What the developer calls it.'),
  DateCreated: time.describe('Since when the store uses it.'),
  Reads: z.array(z.string()).describe('The services of which it may read records.'),
})

const personData = record<PersonData>('PersonData')({
  Customer: z
    .looseObject({})
    .nullable()
    .describe('The customer, with all that is stored of the account but the password. Null: a guest.'),
  Orders: records.describe('The orders of the person.'),
  Returns: records.describe('The returns of these orders.'),
  GiftRegistries: records.describe('The gift registries that go to the person.'),
  Notes: [
    z.array(note.schema).describe('What the people of the shop have written down.'),
    (from) => from.notes.map(note.of),
  ],
  Mails: [
    z.array(mail.schema).describe('The newest 1,000 mails that were written to the person, as long as they are kept.'),
    (from) => from.mails.map(mail.of),
  ],
  SignIns: [
    z.array(signIn.schema).describe('The browsers in which the person is signed in.'),
    (from) => from.signIns.map(signIn.of),
  ],
  Applications: [
    z.array(reader.schema).describe('The applications that may read such records, and since when the store uses them.'),
    (from) => from.applications.map(reader.of),
  ],
})

const erased = record<Erased>('Erased')({
  Confirm: z.string().describe('What `POST …/erase` takes to erase just these records.'),
  CustomerID: [id.nullable().describe('The number of the customer. Null: a guest.'), (from) => from.customerId],
  Orders: [numbers.describe('The orders whose person is erased.'), (from) => [...from.records.Orders]],
  Returns: [numbers.describe('The returns of these orders.'), (from) => [...from.records.RMA]],
  GiftRegistries: [
    numbers.describe('The gift registries that go to the person.'),
    (from) => [...from.records.GiftRegistries],
  ],
  Unshipped: z.int().describe('How many of the orders have parcels that have not left: the addresses of these go too.'),
  Counts: z.record(z.string(), z.int()).describe('How many rows are emptied or deleted, by kind.'),
})

const erasure = record<Erasure>('Erasure')({
  Id: id.describe('The number of the erasure.'),
  CustomerID: [id.nullable().describe('The number of the customer. Null: a guest.'), (from) => from.customerId],
  Orders: [numbers.describe('The orders whose person was erased.'), (from) => [...from.orders]],
  Returns: [numbers.describe('The returns of these orders.'), (from) => [...from.returns]],
  GiftRegistries: [
    numbers.describe('The gift registries that went to the person.'),
    (from) => [...from.giftRegistries],
  ],
  Actor: z.string().describe('Who erased the person. Empty: the operator.'),
  DateErased: time.nullable().describe('When the person was erased. Null: it waits for its turn.'),
  Counts: z.record(z.string(), z.int()).describe('How many rows were emptied or deleted, by kind.'),
})

const dryQuery = {
  dry: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .describe('`true`: nothing is erased. The answer says what would be, and has the `Confirm` for it.'),
}
const guestQuery = {
  email: text(254).optional().describe('The e-mail address of the guest’s orders.'),
  phone: text(50)
    .optional()
    .describe('The telephone number of the guest’s orders, if there is no `email`; its digits count.'),
  order: wholeNumber(1, INT32_MAX).optional().describe('An order of the guest, if there is neither.'),
}

function guestNamed({ email, phone, order }: z.output<ReturnType<typeof namedObject<typeof guestQuery>>>): PersonNamed {
  if (email !== undefined) return { email }
  if (phone !== undefined) return { phone }
  if (order !== undefined) return { orderId: order }
  throw new StoreFailure('missing-field', 'Name the guest by email, phone or order', { field: 'email' })
}

export type PersonServices = CallerServices & ErasureServices

const Confirm = text(100).optional().describe('What the dry run answered. A dry run takes none.')
const confirmation = jsonBody(namedObject({ Confirm }), { Confirm: '4a1c…' }, { isOptional: true })

type DataCall = Pick<JsonCall<'id', unknown, unknown, PersonData>, 'request' | 'reply'>

/** Browsers keep it as a file. */
async function dataOf({ request, reply }: DataCall, services: PersonServices, storeId: number, named: PersonNamed) {
  const person = await takeOut(await storeCaller(request, services, storeId), named, actorOf(request))
  if (wantsHtml(request)) reply.header('content-disposition', 'attachment; filename="person.json"')
  return person
}

type EraseCall = Pick<
  JsonCall<'id', { dry: 'true' | 'false' }, { Confirm?: string | undefined } | undefined, Erased>,
  'request' | 'body' | 'query' | 'pending'
>

async function erase(call: EraseCall, services: PersonServices, storeId: number, named: PersonNamed): Promise<Erased> {
  const { request, query, body, pending } = call
  const erasing = { ...(await storeCaller(request, services, storeId)), secrets: services.secrets }
  if (query.dry === 'true') return rehearseErasure(erasing, named)
  const remember = pending((done: Erased) => done)
  return erasePerson(erasing, services, named, { confirm: confirmIn(body()), actor: actorOf(request), remember })
}

function confirmIn(sent: { Confirm?: string | undefined } | undefined): string {
  if (sent?.Confirm !== undefined) return sent.Confirm
  throw new StoreFailure('missing-field', 'Confirm is missing: a dry run (?dry=true) answers it', { field: 'Confirm' })
}

const idle = record<Idle>('IdleCustomers')({
  Years: z.int().describe('For how many whole years they have placed no order.'),
  Since: [time.describe('The beginning of these years.'), (from) => from.since.toISOString()],
  Customers: [
    numbers.describe('The customers by ascending number, at most 100,000.'),
    (from) => from.customers.map((each) => each.id),
  ],
  Confirm: z.string().describe('What the request takes that erases just these customers.'),
})

const erases = {
  ...ofOwner,
  whenClosed: false,
  body: confirmation,
  answers: { 200: one('What was erased, or would be.', erased) },
  refusals: [409],
  storesAnswer: true,
} as const
const whatGoes =
  'Name, addresses, e-mail, telephone and IP go from the records and from all that was written of them; amounts, goods, dates and numbers stay. It cannot be undone, and needs the `Confirm` of a dry run, which says what goes.'

export const erasureRoutes = [
  operatorRoute('GET /admin/stores/:id/customers/:customerId/data', {
    ...ofOwner,
    ids: { id: 'The store.', customerId: 'Whose data is read, by the CustomerID.' },
    id: 'readPerson',
    summary: 'Read what is stored of a customer',
    description:
      'The customer, and the orders of the account and of guests with its e-mail address, with all that belongs to them.',
    answers: { 200: one('What is stored.', personData) },
    run: ({ ids, ...call }, services: PersonServices) => dataOf(call, services, ids.id, { customerId: ids.customerId }),
  }),
  operatorRoute('GET /admin/stores/:id/guests/data', {
    ...ofOwner,
    id: 'readGuest',
    summary: 'Read what is stored of a guest',
    description:
      'The same of somebody without an account. Where a customer has the e-mail address or the order, it is that customer.',
    query: namedObject(guestQuery),
    answers: { 200: one('What is stored.', personData) },
    run: ({ ids, query, ...call }, services: PersonServices) => dataOf(call, services, ids.id, guestNamed(query)),
  }),
  operatorRoute('POST /admin/stores/:id/customers/:customerId/erase', {
    ...erases,
    ids: { id: 'The store.', customerId: 'Who is erased, by the CustomerID.' },
    id: 'erasePerson',
    summary: 'Erase a customer',
    description: `${whatGoes} Webhooks hear of it as \`Customer Erased\`.`,
    query: namedObject(dryQuery),
    run: ({ ids, ...call }, services: PersonServices) => erase(call, services, ids.id, { customerId: ids.customerId }),
  }),
  operatorRoute('POST /admin/stores/:id/guests/erase', {
    ...erases,
    id: 'eraseGuest',
    summary: 'Erase a guest',
    description: whatGoes,
    query: namedObject({ ...dryQuery, ...guestQuery }),
    run: ({ ids, ...call }, services: PersonServices) => erase(call, services, ids.id, guestNamed(call.query)),
  }),
  operatorRoute('POST /admin/stores/:id/customers/erase', {
    ...erases,
    id: 'eraseIdle',
    summary: 'Erase customers who order no more',
    description:
      'Queues the erasure of all customers without an order for so many whole years, at least the bookkeeping years of the store: the background erases one after another, and `GET …/erasures` says who waits.',
    query: namedObject(dryQuery),
    body: jsonBody(
      namedObject({
        Years: years.describe(
          'For how many whole years they have placed no order: at least the bookkeeping years of the store.',
        ),
        Confirm,
      }),
      { Years: 12, Confirm: '4a1c…' },
    ),
    answers: { 200: one('Who is erased, or would be.', idle) },
    run: async ({ request, ids, query, body, pending }, services: PersonServices) => {
      const erasing = { ...(await storeCaller(request, services, ids.id)), secrets: services.secrets }
      const sent = body()
      if (query.dry === 'true') return findIdle(erasing, sent.Years)
      const remember = pending((done: Idle) => done)
      return queueIdle(erasing, sent.Years, { confirm: confirmIn(sent), actor: actorOf(request), remember })
    },
  }),
  operatorRoute('GET /admin/stores/:id/erasures', {
    ...ofOwner,
    id: 'listErasures',
    summary: 'List who was erased',
    description: 'When, by whom and how much, without anything of the person.',
    query: pageQuery,
    answers: { 200: many('By descending id.', erasure) },
    run: async ({ request, ids, query }, services: PersonServices) => {
      return listErasures(await storeCaller(request, services, ids.id), query)
    },
  }),
]
