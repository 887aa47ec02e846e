import type { Caller } from '../../engine/caller.ts'
import { changeRecord, deleteRecord } from '../../engine/change.ts'
import { findGroup } from '../../resources/customer-groups/group-names.ts'
import { customers } from '../../resources/customers/customers.ts'
import { type CustomerIds, findCustomer } from '../../resources/customers/find-customer.ts'
import { isEmailAddress } from '../../resources/customers/rules.ts'
import { StoreFailure } from '../../values/failure.ts'
import type { Operation } from '../operation.ts'
import { ResultError, refusing, writeResult } from '../result.ts'
import {
  type CustomerData,
  hasFields,
  readCustomerChange,
  readCustomerKey,
  readNewCustomer,
  splitCustomerData,
  underSentName,
  unknownIn,
  unreadable,
} from './customer-data.ts'

/**
 * Inserts, updates or deletes one customer. An update changes exactly what customerData names; unknown names are ignored and
 * reported. An e-mail address or an alt_contactid that another customer has already answers NOT_OK, and nothing is changed.
 */
export const editCustomer: Operation = async ({ caller, parameters, passOver }) => {
  const edit = actions.get(parameters.text('action').toLowerCase())
  if (edit === undefined) throw new ResultError('invalidAction', `action must be ${[...actions.keys()].join(', ')}`)
  const { data, unknownNames } = splitCustomerData(parameters.text('customerData'))
  if (unknownNames.length > 0) {
    // An OK would say that something was stored.
    if (edit !== remove && !hasFields(data)) throw unreadable(unknownIn(unknownNames))
    passOver(`customerData ${unknownIn(unknownNames)}`)
  }
  return refusing('customerNotFound', 'invalidData', () => edit(caller, data).catch(underSentName))
}

const actions = new Map([
  ['insert', insert],
  ['update', update],
  ['delete', remove],
])

async function insert(caller: Caller, data: CustomerData): Promise<string> {
  const patch = readNewCustomer(await withGroupId(caller, data), caller.store.timeZone)
  const id = await unlessTaken(data, () => changeRecord(caller, customers, { kind: 'patch', id: null, patch }))
  return id === null
    ? answer('NOT_OK', null)
    : answer('OK', { id: Number(id), altContactId: data.get('alt_contactid') ?? null })
}

async function update(caller: Caller, data: CustomerData): Promise<string> {
  const patch = readCustomerChange(await withGroupId(caller, data), caller.store.timeZone)
  const found = await customerOf(caller, data)
  const id = await unlessTaken(data, () => changeRecord(caller, customers, { kind: 'patch', id: found.id, patch }))
  return answer(id === null ? 'NOT_OK' : 'OK', found)
}

async function remove(caller: Caller, data: CustomerData): Promise<string> {
  const found = await customerOf(caller, data)
  await deleteRecord(caller, customers, found.id)
  return answer('OK', found)
}

/** The data with the id of the group that `discount` names; 0 is none, as documented. Refuses (43) an unknown group. */
async function withGroupId(caller: Caller, data: CustomerData): Promise<CustomerData> {
  const given = data.get('discount') ?? ''
  if (/^0*$/.test(given)) return data
  const id = await findGroup(caller, given)
  if (id === null) throw new ResultError('invalidData', 'discount must be the name or the id of a customer group')
  return new Map([...data, ['discount', String(id)]])
}

async function customerOf(caller: Caller, data: CustomerData): Promise<CustomerIds> {
  const found = await findCustomer(caller, readCustomerKey(data))
  if (found === null) throw new ResultError('customerNotFound', 'There is no such customer')
  return found
}

/** Null: another customer has the e-mail address or the alt_contactid. */
async function unlessTaken<T>(data: CustomerData, write: () => Promise<T>): Promise<T | null> {
  try {
    return await write()
  } catch (error) {
    // AltContactID and the form of the address were checked before: only their uniqueness is left to refuse.
    const isTaken =
      error instanceof StoreFailure &&
      (error.field === 'AltContactID' || (error.field === 'Email' && isEmailAddress(data.get('email') ?? '')))
    if (isTaken) return null
    throw error
  }
}

/** `customer` is null where none was inserted. */
function answer(result: 'OK' | 'NOT_OK', customer: CustomerIds | null): string {
  const { id = '', altContactId } = customer ?? {}
  return writeResult('EditCustomerResponse', { result, contactid: id, alt_contactid: altContactId ?? '' })
}
