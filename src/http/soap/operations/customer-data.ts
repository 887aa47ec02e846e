import { fieldSet, text, type ValueField } from '../../../engine/definition/fields.ts'
import { readWholeNumber } from '../../../engine/definition/filters.ts'
import { type Patch, readPatch } from '../../../engine/definition/input.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { customers } from '../../../shop/resources/customers/customers.ts'
import { shownAsParameter } from '../operation.ts'
import { ResultError } from '../result.ts'

/** The values of editCustomer's customerData (soap-cartapi §4.3) by documented name in lower case. */
export type CustomerData = ReadonlyMap<string, string>

const addressNames =
  'firstname=FirstName lastname=LastName address=Address1 address2=Address2 city=City state=State zip=ZipCode ' +
  'country=Country company=Company phone=PhoneNumber'
const otherNames =
  'comments=Comments website=Website pass=Password discount=CustomerGroupID accountno=BillingTaxID ' +
  'maillist=MailList custenabled=Enabled additional_field1=AdditionalField1 additional_field2=AdditionalField2 ' +
  'additional_field3=AdditionalField3 alt_contactid=AltContactID'

/** The fields of a customer by their names in customerData. */
const fieldNames = Object.fromEntries([
  ...namesOf(addressNames, 'billing_', 'Billing'),
  ['email', 'Email'],
  ...namesOf(addressNames, 'shipping_', 'Shipping'),
  ...namesOf(otherNames),
])

function namesOf(pairs: string, prefix = '', fieldPrefix = ''): [name: string, field: string][] {
  return pairs.split(' ').map((pair) => {
    const [name, field] = pair.split('=')
    return [`${prefix}${name}`, `${fieldPrefix}${field}`]
  })
}

/** Bounds of customerData below those of the fields. */
const maxLengths: Readonly<Record<string, number>> = { Password: 20, BillingCountry: 2, ShippingCountry: 2 }

const fields = new Map(
  Object.values(fieldNames).map((name): [string, ValueField] => {
    const field = customers.storedFields.get(name) as ValueField
    const maxLength = maxLengths[name]
    return [name, maxLength === undefined ? field : { ...field, schema: text(maxLength).schema }]
  }),
)
const demanded = ['BillingFirstName', 'BillingLastName']
const ofInsert = [...fields].map(([name, field]) => {
  return [name, demanded.includes(name) ? { ...field, required: true } : field]
})
/** AltContactID names the customer that is updated. */
const ofUpdate = [...fields].filter(([name]) => name !== 'AltContactID')
const fieldSets = { create: fieldSet(Object.fromEntries(ofInsert)), update: fieldSet(Object.fromEntries(ofUpdate)) }

const idNames = ['contactid', 'alt_contactid']
/** Clients send lastlogindate back with what they have read; only the store writes it. */
const knownNames = new Set([...Object.keys(fieldNames), ...idNames, 'lastlogindate'])
/** What a misspelt name may look like. Anything else is part of a value that holds a separator. */
const NAME = /^[\p{L}\p{N}_ .-]{1,50}$/u

/**
 * Splits `name===value|||name===value`: names in any case, both without blanks and line ends around them, except passwords,
 * which keep their blanks. Empty pairs are ignored. A value may hold `===`, and end in one or two bars. `unknown` says, without
 * a subject, which names are unknown; empty: none. Refuses (41) a name that comes twice, what is no pair, and data without any
 * known name.
 */
export function splitCustomerData(given: string): { data: CustomerData; unknown: string } {
  const data = new Map<string, string>()
  const unknownNames: string[] = []
  // Of a row of bars, the last ones separate.
  for (const pair of given.split(/(?:\|{3})+(?!\|)/)) {
    if (pair.trim() === '') continue
    const [, before = '', value = ''] = /^(.*?)===(.*)$/s.exec(pair) ?? []
    const sentName = before.trim()
    const name = sentName.toLowerCase()
    if (!NAME.test(name)) throw unreadable('must be pairs of name===value with documented names, and ||| between them')
    if (data.has(name)) throw unreadable(`names ${name} twice`)
    if (knownNames.has(name)) data.set(name, name === 'pass' ? withoutLineEnds(value) : value.trim())
    else unknownNames.push(sentName)
  }
  // What is quoted stays out of logs.
  const unknown = `names fields that editCustomer does not know: "${unknownNames.slice(0, UNKNOWN_SHOWN_MAX).join('", "')}"`
  if (data.size === 0) throw unreadable(unknownNames.length === 0 ? 'is missing' : unknown)
  return { data, unknown: unknownNames.length === 0 ? '' : unknown }
}

const UNKNOWN_SHOWN_MAX = 10

/** Pairs may stand one a line; blanks may be part of a password. */
function withoutLineEnds(text: string): string {
  const isLineEnd = (index: number) => text[index] === '\n' || text[index] === '\r'
  let [start, end] = [0, text.length]
  while (start < end && isLineEnd(start)) start++
  while (start < end && isLineEnd(end - 1)) end--
  return text.slice(start, end)
}

/** Whether there is anything to store besides the ids. */
export function hasFields(data: CustomerData): boolean {
  return [...data.keys()].some((name) => !idNames.includes(name))
}

export function unreadable(problem: string): ResultError {
  return new ResultError('invalidCustomerData', `customerData ${problem}`)
}

/** The customer to update or delete: by alt_contactid where it is given, else by contactid. Refuses (43) neither. */
export function readCustomerKey(data: CustomerData): { altContactId: string } | { id: number } {
  const other = data.get('alt_contactid') ?? ''
  if (other !== '') {
    const read = fields.get('AltContactID')?.schema.safeParse(other)
    if (read?.error) throw new ResultError('invalidData', `alt_contactid ${read.error.issues[0]?.message}`)
    return { altContactId: other }
  }
  const id = data.get('contactid') ?? ''
  if (id === '') throw new ResultError('invalidData', 'contactid or alt_contactid is needed')
  return { id: readWholeNumber(id, 'contactid') }
}

/** Reads a new customer, with the documented defaults, or a change: an empty value clears its field. Throws a 400. */
export function readFields(data: CustomerData, mode: 'create' | 'update', timeZone: string): Patch {
  const sent = mode === 'create' ? new Map([['custenabled', '0'], ...data]) : data
  const body = Object.entries(fieldNames).flatMap(([name, field]) => {
    const value = sent.get(name)
    if (value === undefined) return []
    // A number or a flag without text counts as not given in a record; here it is 0.
    return [[field, fields.get(field)?.kind !== 'text' && value.trim() === '' ? '0' : value]]
  })
  if (mode === 'create') return readPatch(fieldSets.create, Object.fromEntries(body), { mode, timeZone })
  const refusals: StoreFailure[] = []
  const door = { shownAs: shownAsParameter, refusals }
  return { ...readPatch(fieldSets.update, Object.fromEntries(body), { mode, timeZone, door }), refusals }
}

/** Rethrows a refusal of a field under the field's name in customerData. */
export function underSentName(error: unknown): never {
  const isField = (name: string) => error instanceof StoreFailure && error.message.startsWith(`${fieldNames[name]} `)
  const name = Object.keys(fieldNames).find(isField)
  if (!(error instanceof StoreFailure) || name === undefined) throw error
  const renamed = (message: string) => message.replace(/^\w+/, name)
  throw new StoreFailure(error.code, renamed(error.message), {
    field: error.field,
    status: error.status,
    logMessage: renamed(error.logMessage),
  })
}
