import type { Caller } from '../../engine/caller.ts'
import type { Reader, Selected } from '../../engine/definition/reader.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import type { Document } from '../../engine/definition/stored-row.ts'
import { queryRows } from '../../foundation/database/client.ts'
import type { Customer } from '../../foundation/database/generated/client.ts'
import { anyOfFew, identifier, type Sql, sql } from '../../foundation/database/sql.ts'
import { emailForms } from '../../foundation/values/email.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { NAME } from '../pictures/pictures.ts'
import { resourceNamed } from '../registry.ts'
import { services, takeWords } from './personal.ts'
import { Words } from './words.ts'

/** Who is meant: a customer, or a guest by what an order has. */
export type PersonNamed =
  | { readonly customerId: number }
  | { readonly email: string }
  | { readonly phone: string }
  | { readonly orderId: number }

type Service = (typeof services)[number]

/** The numbers of a person's records. */
export type Records = Readonly<Record<Service, readonly number[]>>

export interface Person {
  /** Null: a guest. */
  readonly customerId: number | null
  readonly records: Records
  /** By which texts of others tell of the person. */
  readonly words: Words
  /** The names of the pictures that the records say. */
  readonly pictures: ReadonlySet<string>
}

/** Makes the numbers of a person's records, of those of each service. */
export function recordsOf(idsOf: (service: Service) => readonly number[]): Records {
  return Object.fromEntries(services.map((service) => [service, idsOf(service)])) as unknown as Records
}

/** What the audit log calls a person. */
export function targetOf({ customerId, records }: Pick<Person, 'customerId' | 'records'>): string {
  return customerId === null ? `Orders ${records.Orders.join(', ')}` : `Customer ${customerId}`
}

const PHONE_DIGITS_MIN = 5

/** Records of a service that one person may have. */
const RECORDS_MAX = 2_000

/**
 * Finds a person's records: of a customer, the account, its orders and those of guests with its e-mail address; of a guest, all orders of
 * guests with the e-mail address or telephone number; then their returns, and the gift registries that go to their names. Throws for
 * nobody (404), and for more than 2,000 records of a service (409).
 */
export async function findPerson(caller: Caller, named: PersonNamed): Promise<Person> {
  const { customerId, email, orders } = await findOrders(caller, named)
  const found = nothing()
  const { words } = found
  const known = { Customers: customerId === null ? [] : [customerId], Orders: orders }
  for (const service of ['Customers', 'Orders'] as const) await takeFrom(caller, service, known[service], found)
  if (email !== '') words.add('Email', email, true)
  const ofOrders = sql`"storeId" = ${caller.store.id}::int AND "orderId" = ${anyOfFew(orders)}`
  const RMA = await idsIn(caller, sql`SELECT "id" FROM "Rma" WHERE ${ofOrders}`)
  const GiftRegistries = await idsIn(caller, registriesOf(caller, words))
  await takeFrom(caller, 'RMA', RMA, found)
  await takeFrom(caller, 'GiftRegistries', GiftRegistries, found)
  return { customerId, records: { ...known, RMA, GiftRegistries }, ...found }
}

async function findOrders(caller: Caller, named: PersonNamed) {
  const { db, store } = caller
  const own = sql`t."storeId" = ${store.id}::int`
  const ordersWhere = (where: Sql) => idsIn(caller, sql`SELECT t."id" FROM "Order" t WHERE ${own} AND ${where}`)
  const ofGuests = (where: Sql) => ordersWhere(sql`t."customerId" IS NULL AND ${where}`)
  const byEmail = (email: string) => ofGuests(isEmail(sql`t."billingEmail"`, email))
  const ofCustomer = async ({ id: customerId, email: stored }: Pick<Customer, 'id' | 'email'>) => {
    const email = stored ?? ''
    const orders = await ordersWhere(sql`t."customerId" = ${customerId}::int`)
    return { customerId, email, orders: bounded([...orders, ...(email === '' ? [] : await byEmail(email))]) }
  }
  const customerBy = async (where: Sql) => {
    const [found] = await queryRows<Pick<Customer, 'id' | 'email'>>(db)`
      SELECT t."id", t."email" FROM "Customer" t WHERE ${own} AND ${where} LIMIT 1`
    return found
  }
  const customer = (id: number) => customerBy(sql`t."id" = ${id}::int`)
  if ('customerId' in named) {
    const found = await customer(named.customerId)
    if (found === undefined)
      throw new StoreFailure('not-found', `No customer has the id ${named.customerId}`, { field: 'customerId' })
    return ofCustomer(found)
  }
  if ('orderId' in named) {
    const where = { storeId: store.id, id: named.orderId }
    const order = await db.order.findFirst({ where, select: { id: true, customerId: true, billingEmail: true } })
    if (order === null) throw new StoreFailure('not-found', `No order has the id ${named.orderId}`, { field: 'order' })
    const found = order.customerId === null ? undefined : await customer(order.customerId)
    if (found !== undefined) return ofCustomer(found)
    if (order.billingEmail === '') return { customerId: null, email: '', orders: [order.id] }
    return findOrders(caller, { email: order.billingEmail })
  }
  if ('email' in named) {
    const { email } = named
    const found = await customerBy(isEmail(sql`t."email"`, email))
    if (found !== undefined) return ofCustomer(found)
    return { customerId: null, email, orders: someOf(await byEmail(email), 'email') }
  }
  const digits = digitsOf(named.phone)
  const orders = await ofGuests(sql`regexp_replace("details"->>'BillingPhoneNumber', '\\D', '', 'g') = ${digits}`)
  return { customerId: null, email: '', orders: someOf(orders, 'phone') }
}

function isEmail(column: Sql, email: string): Sql {
  return sql`lower(${column}) = ANY (ARRAY (SELECT lower(unnest(${emailForms(email)}::text[]))))`
}

function digitsOf(phone: string): string {
  const digits = phone.replace(/\D/g, '')
  if (digits.length >= PHONE_DIGITS_MIN) return digits
  const message = `phone must be a telephone number with at least ${PHONE_DIGITS_MIN} digits`
  throw new StoreFailure('invalid-value', message, { field: 'phone' })
}

function someOf(orders: number[], field: string): number[] {
  if (orders.length > 0) return bounded(orders)
  throw new StoreFailure('not-found', `No customer and no order of a guest has this ${field}`, { field })
}

function bounded(orders: number[]): number[] {
  if (orders.length <= RECORDS_MAX) return orders
  throw new StoreFailure(
    'limit-reached',
    `The person has ${orders.length} orders. At most ${RECORDS_MAX} can be handled together`,
  )
}

async function idsIn({ db }: Caller, select: Sql): Promise<number[]> {
  return (await queryRows<{ id: number }>(db)`${select} ORDER BY "id"`).map(({ id }) => id)
}

/** Registries name no customer: one is a person's if its address has the name, and the street or telephone number. */
function registriesOf({ store }: Caller, words: Words): Sql {
  const address = sql`"details"->'CustomerAddressBook'`
  const { names, shared } = words
  const [firsts, lasts] = [names.map(([first]) => first), names.map(([, last]) => last)]
  const is = (name: string, among: readonly string[]) => sql`lower(${address}->>${name}) = ANY (${among}::text[])`
  return sql`SELECT "id" FROM "GiftRegistry" WHERE "storeId" = ${store.id}::int
    AND ${is('FirstName', firsts)} AND ${is('LastName', lasts)}
    AND (${is('Address1', shared)} OR ${is('PhoneNumber', shared)})`
}

/** The person whose records these are, as far as they exist. */
export async function personOf(caller: Caller, customerId: number | null, records: Records): Promise<Person> {
  const found = nothing()
  for (const service of services) await takeFrom(caller, service, records[service], found)
  return { customerId, records, ...found }
}

type Found = ReturnType<typeof nothing>

function nothing() {
  return { words: new Words(), pictures: new Set<string>() }
}

const pictureNames = new RegExp(NAME, 'g')

async function takeFrom(caller: Caller, service: Service, ids: readonly number[], { words, pictures }: Found) {
  for await (const record of readRecords(caller, resourceNamed(service), ids)) {
    takeWords(service, record, words)
    for (const [, store, name = ''] of JSON.stringify(record).matchAll(pictureNames))
      if (store === String(caller.store.id)) pictures.add(name)
  }
}

const PAGE_RECORDS = 200

/** Reads records with all that is stored of them, by ascending id. */
export async function* readRecords(
  { db, store }: Caller,
  { table, wholeReader, privateReader }: Resource,
  ids: readonly number[],
): AsyncGenerator<Document> {
  for (let first = 0; first < ids.length; first += PAGE_RECORDS) {
    const rows = await queryRows<{ record: string; private: string }>(db)`
      SELECT ${wholeReader.select}::text AS "record", ${privateReader.select}::text AS "private"
      FROM ${identifier(table)} t JOIN "Store" s ON s."id" = t."storeId"
      WHERE t."storeId" = ${store.id}::int AND t."id" = ${anyOfFew(ids.slice(first, first + PAGE_RECORDS))} ORDER BY t."id"`
    const read = ({ compose }: Reader, row: string) => JSON.parse(compose(JSON.parse(row) as Selected)) as Document
    for (const row of rows) yield { ...read(wholeReader, row.record), ...read(privateReader, row.private) }
  }
}
