import { issueCustomerToken } from '../../../access/people/customer-tokens.ts'
import type { Caller } from '../../../engine/caller.ts'
import { changeRecord, deleteRecord } from '../../../engine/changing/change.ts'
import type { Query } from '../../../engine/definition/endpoints.ts'
import { exactly, type Filters } from '../../../engine/definition/filters.ts'
import type { Patch } from '../../../engine/definition/input.ts'
import { countRecords, readPage } from '../../../engine/reading/read.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { findGroup, readGroupNames } from '../../../shop/resources/customer-groups/group-names.ts'
import { customers } from '../../../shop/resources/customers/customers.ts'
import { type CustomerIds, findCustomer, findCustomerByEmail } from '../../../shop/resources/customers/find-customer.ts'
import { isEmailAddress } from '../../../shop/resources/customers/rules.ts'
import { type Operation, readBatch, shownAsParameter, writePage } from '../operation.ts'
import { customerElements, customerValues, groupIdOf } from '../records/customer.ts'
import { ResultError, refusing, writeResult } from '../result.ts'
import {
  type CustomerData,
  hasFields,
  readCustomerKey,
  readFields,
  splitCustomerData,
  underSentName,
  unreadable,
} from './customer-data.ts'

/** A page of the customers that match customersFilter, by their ids. Refuses (47) an empty page. */
export const getCustomer: Operation = async ({ caller, parameters }) => {
  const batch = readBatch(parameters)
  const query = readFilter(parameters.text('customersFilter'))
  const page = await readPage(caller, customers, { as: customerValues, filters }, { query, ...batch })
  if (page.length === 0) throw new ResultError('customerNotFound', 'There is no customer that fits, from startNum on')
  const groupIds = page.map(groupIdOf).filter((id) => id !== 0)
  const groupNames = await readGroupNames(caller, groupIds)
  return writePage('CustomersRequestResponse', page, (customer) => customerElements.write(customer, groupNames))
}

/** The names in customersFilter (soap-cartapi §4.1); each is an equality without regard to case. */
const filters: Filters = {
  firstname: exactly('firstName'),
  lastname: exactly('lastName'),
  email: exactly('email'),
  countrycode: exactly('country'),
  statecode: exactly('state'),
  city: exactly('city'),
  phone: exactly('phone'),
}

/** Every name with the longest value that its column holds makes some 600 characters. */
const FILTER_LENGTH_MAX = 2_000

/**
 * Reads `name=value,name=value`: names in any case, without blanks around names and values, and without empty pairs. An empty
 * value asks for customers that have none there. Refuses (43) an unknown name, a name that comes twice, and what is no pair,
 * such as the rest of a value with a comma.
 */
function readFilter(text: string): Query {
  if (text.length > FILTER_LENGTH_MAX) throw wrongFilter(`is longer than ${FILTER_LENGTH_MAX} characters`)
  const query = new Map<string, string>()
  for (const pair of text.split(',')) {
    if (pair.trim() === '') continue
    const [, before = '', value = ''] = /^([^=]*)=(.*)$/s.exec(pair) ?? []
    const name = before.trim().toLowerCase()
    if (!Object.hasOwn(filters, name)) {
      throw wrongFilter(`must be pairs of name=value; names are ${Object.keys(filters).join(', ')}`)
    }
    if (query.has(name)) throw wrongFilter(`names ${name} twice`)
    query.set(name, value.trim())
  }
  return query
}

function wrongFilter(problem: string): ResultError {
  return new ResultError('invalidData', `customersFilter ${problem}`)
}

/** Counts the customers of the store; none is 0, not an error. */
export const getCustomerCount: Operation = async ({ caller }) =>
  writeResult('CustomerCountResponse', { CustomerCount: await countRecords(caller, customers, new Map()) })

/** A day; a longer life is cut to it (soap-cartapi §4.4). */
const MINUTES_MAX = 1440

/** The token of a link that signs a customer in once. Refuses an unknown customer (47), and one that is disabled (43). */
export const getCustomerLoginToken: Operation = async ({ caller, parameters, services }) => {
  const email = parameters.required('customerEmail', 'invalidData')
  const minutes = parameters.integer('timeToLive', 'invalidData', 'a whole number of minutes, from 1 on', { min: 1 })
  const customerId = await findCustomerByEmail(caller, email)
  if (customerId === null) throw new ResultError('customerNotFound', 'No customer has this customerEmail')
  const { token } = await refusing('customerNotFound', 'invalidData', () =>
    issueCustomerToken(services, caller, { customerId, minutes: Math.min(minutes, MINUTES_MAX) }),
  )
  return writeResult('CustomerLoginTokenResponse', { Token: token })
}

/**
 * Inserts, updates or deletes one customer. An update changes exactly what customerData names; unknown names are ignored and
 * reported. An e-mail address or an alt_contactid that another customer has already answers NOT_OK, and nothing is changed.
 */
export const editCustomer: Operation = async ({ caller, parameters, passOver }) => {
  const edit = actions.get(parameters.text('action').toLowerCase())
  if (edit === undefined) throw new ResultError('invalidAction', `action must be ${[...actions.keys()].join(', ')}`)
  const { data, unknown } = splitCustomerData(parameters.text('customerData'))
  if (unknown !== '') {
    // An OK would say that something was stored.
    if (edit !== remove && !hasFields(data)) throw unreadable(unknown)
    passOver(`customerData ${unknown}`)
  }
  return refusing('customerNotFound', 'invalidData', () => edit(caller, data).catch(underSentName))
}

const actions = new Map(Object.entries({ insert, update, delete: remove }))

async function insert(caller: Caller, data: CustomerData): Promise<string> {
  const id = await write(caller, data, null, await readCustomer(caller, data, 'create'))
  return id === null ? answer('NOT_OK') : answer('OK', { id, altContactId: data.get('alt_contactid') ?? null })
}

async function update(caller: Caller, data: CustomerData): Promise<string> {
  const patch = await readCustomer(caller, data, 'update')
  const found = await customerOf(caller, data).catch((error) => {
    throw patch.refusals?.[0] ?? error
  })
  return answer((await write(caller, data, found.id, patch)) === null ? 'NOT_OK' : 'OK', found)
}

async function remove(caller: Caller, data: CustomerData): Promise<string> {
  const found = await customerOf(caller, data)
  await deleteRecord(caller, customers, found.id)
  return answer('OK', found)
}

/** Reads `discount` as the name or the id of a group; 0 is none, as documented. Refuses (43) an unknown group. */
async function readCustomer(caller: Caller, data: CustomerData, mode: 'create' | 'update'): Promise<Patch> {
  const group = data.get('discount') ?? ''
  const own = mode === 'update' && group !== '' ? await groupShownAs(caller, data, group) : null
  const groupId = own ?? (/^0*$/.test(group) ? group : await findGroup(caller, group))
  if (groupId === null) throw new ResultError('invalidData', 'discount must be the name or the id of a customer group')
  const named = data.has('discount') ? new Map([...data, ['discount', String(groupId)]]) : data
  return readFields(named, mode, caller.store.timeZone)
}

/** The customer's group, if getCustomer shows it so: another may have the name, or have it for an id. */
async function groupShownAs(caller: Caller, data: CustomerData, name: string): Promise<number | null> {
  const found = await findCustomer(caller, readCustomerKey(data))
  const groupId = found?.groupId ?? null
  const names = groupId === null ? new Map<number, string>() : await readGroupNames(caller, [groupId])
  return groupId !== null && shownAsParameter(names.get(groupId) ?? '') === name ? groupId : null
}

async function customerOf(caller: Caller, data: CustomerData): Promise<CustomerIds> {
  const found = await findCustomer(caller, readCustomerKey(data))
  if (found === null) throw new ResultError('customerNotFound', 'There is no such customer')
  return found
}

/** Changes the customer, or creates one (null). Returns its id; null: another one has the e-mail address or alt_contactid. */
async function write(caller: Caller, data: CustomerData, id: number | null, patch: Patch): Promise<number | null> {
  try {
    return Number(await changeRecord(caller, customers, { kind: 'patch', id, patch }))
  } catch (error) {
    // AltContactID and the form of the address are checked otherwise: only their uniqueness is left to refuse.
    const isTaken =
      error instanceof StoreFailure &&
      !patch.refusals?.includes(error) &&
      (error.field === 'AltContactID' || (error.field === 'Email' && isEmailAddress(data.get('email') ?? '')))
    if (isTaken) return null
    throw error
  }
}

function answer(result: 'OK' | 'NOT_OK', customer?: Omit<CustomerIds, 'groupId'>): string {
  const { id = '', altContactId } = customer ?? {}
  return writeResult('EditCustomerResponse', { result, contactid: id, alt_contactid: altContactId ?? '' })
}
