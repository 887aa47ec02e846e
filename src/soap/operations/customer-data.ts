import { type FieldSet, fieldSet, text, type ValueField } from '../../engine/fields.ts'
import { wholeNumber } from '../../engine/filters.ts'
import { type Patch, readInput } from '../../engine/input.ts'
import { customers } from '../../resources/customers/customers.ts'
import { StoreFailure } from '../../values/failure.ts'
import { ResultError } from '../result.ts'

// editCustomer's parameter customerData: pairs of name===value (soap-cartapi §4.3).

/** The values of customerData by documented name in lower case. */
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

const { AltContactID: altContactId, ...fields } = Object.fromEntries(
  Object.values(fieldNames).map((name): [string, ValueField] => {
    const field = customers.storedFields.get(name) as ValueField
    const maxLength = maxLengths[name]
    return [name, maxLength === undefined ? field : { ...field, schema: text(maxLength).schema }]
  }),
) as { AltContactID: ValueField; BillingFirstName: ValueField; BillingLastName: ValueField }

const fieldsOfUpdate = fieldSet(fields)
const fieldsOfInsert = fieldSet({
  ...fields,
  BillingFirstName: { ...fields.BillingFirstName, required: true },
  BillingLastName: { ...fields.BillingLastName, required: true },
  AltContactID: altContactId,
})

const idNames = ['contactid', 'alt_contactid']
/** Clients send lastlogindate back with what they have read; only the store writes it. */
const knownNames = new Set([...Object.keys(fieldNames), ...idNames, 'lastlogindate'])
/** What a misspelt name may look like. Anything else is part of a value that holds a separator. */
const NAME = /^[\p{L}\p{N}_ .-]{1,50}$/u

/**
 * Splits `name===value|||name===value`: names in any case, both without blanks and line ends around them, except passwords,
 * which keep their blanks. Empty pairs are ignored. A value may hold `===`, and end in one or two bars. Returns unknown names as
 * they were sent. Refuses (41) a name that comes twice, what is no pair, and data without any known name.
 */
export function splitCustomerData(given: string): { data: CustomerData; unknownNames: readonly string[] } {
  const data = new Map<string, string>()
  const unknownNames: string[] = []
  // Of a row of bars, the last ones separate.
  for (const pair of given.split(/(?:\|{3})+(?!\|)/)) {
    if (pair.trim() === '') continue
    const [, before = '', value = ''] = /^(.*?)===(.*)$/s.exec(pair) ?? []
    const sentName = before.trim()
    const name = sentName.toLowerCase()
    if (!NAME.test(name)) throw unreadable('must be pairs of name===value with documented names, and ||| between them')
    if (!knownNames.has(name)) {
      unknownNames.push(sentName)
      continue
    }
    if (data.has(name)) throw unreadable(`names ${name} twice`)
    data.set(name, name === 'pass' ? withoutLineEnds(value) : value.trim())
  }
  if (data.size === 0) throw unreadable(unknownNames.length === 0 ? 'is missing' : unknownIn(unknownNames))
  return { data, unknownNames }
}

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

const UNKNOWN_SHOWN_MAX = 10

/** Says, without a subject, which names are unknown. What it quotes stays out of logs. */
export function unknownIn(names: readonly string[]): string {
  return `names fields that editCustomer does not know: "${names.slice(0, UNKNOWN_SHOWN_MAX).join('", "')}"`
}

export function unreadable(problem: string): ResultError {
  return new ResultError('invalidCustomerData', `customerData ${problem}`)
}

/** The customer to update or delete: by alt_contactid where it is given, else by contactid. Refuses (43) neither. */
export function readCustomerKey(data: CustomerData): { altContactId: string } | { id: number } {
  const other = data.get('alt_contactid') ?? ''
  if (other !== '') {
    const read = altContactId.schema.safeParse(other)
    if (!read.success) throw new ResultError('invalidData', `alt_contactid ${read.error.issues[0]?.message}`)
    return { altContactId: other }
  }
  const id = data.get('contactid') ?? ''
  if (id === '') throw new ResultError('invalidData', 'contactid or alt_contactid is needed')
  return { id: wholeNumber(id, 'contactid') }
}

/** A new customer, with the documented defaults. Throws `bad-request` for what is missing or out of bounds. */
export function readNewCustomer(data: CustomerData, timeZone: string): Patch {
  return readPatch(fieldsOfInsert, new Map([['custenabled', '0'], ...data]), 'create', timeZone)
}

/** A change of what is given; an empty value clears its field. Throws `bad-request` for what is out of bounds. */
export function readCustomerChange(data: CustomerData, timeZone: string): Patch {
  return readPatch(fieldsOfUpdate, data, 'update', timeZone)
}

function readPatch(set: FieldSet, data: CustomerData, mode: 'create' | 'update', timeZone: string): Patch {
  const body = Object.entries(fieldNames).flatMap(([name, field]) => {
    const value = data.get(name)
    if (value === undefined) return []
    const { kind = 'text' } = fields[field as keyof typeof fields] ?? {}
    // A number or a flag without text counts as not given in a record; here it is 0.
    return [[field, kind !== 'text' && value.trim() === '' ? '0' : value]]
  })
  return readInput(set, Object.fromEntries(body), { mode, timeZone })
}

/** Rethrows a refusal of a field under the field's name in customerData. */
export function underSentName(error: unknown): never {
  const isField = (name: string) => error instanceof StoreFailure && error.message.startsWith(`${fieldNames[name]} `)
  const name = Object.keys(fieldNames).find(isField)
  if (!(error instanceof StoreFailure) || name === undefined) throw error
  const renamed = (message: string) => message.replace(/^\w+/, name)
  throw new StoreFailure(error.kind, renamed(error.message), {
    field: error.field,
    logMessage: renamed(error.logMessage),
  })
}
