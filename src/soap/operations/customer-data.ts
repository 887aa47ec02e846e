import { type FieldSet, fieldSet, text, type ValueField } from '../../engine/fields.ts'
import { wholeNumber } from '../../engine/filters.ts'
import { type Patch, readInput } from '../../engine/input.ts'
import { customerField } from '../../resources/customers/customer-field.ts'
import { ResultError } from '../result-errors.ts'

/** What customerData gives, by the names in lower case; each is documented. */
export type CustomerData = ReadonlyMap<string, string>

export interface SplitCustomerData {
  readonly data: CustomerData
  /** The other names, as they were sent. */
  readonly unknownNames: readonly string[]
}

/** The fields by their names in customerData; a figure is a bound below the field's own (soap-cartapi 4.3). */
const fieldNames: readonly (readonly [name: string, field: string, maxLength?: number])[] = [
  ...addressNames('billing', 'Billing'),
  ['email', 'Email'],
  ...addressNames('shipping', 'Shipping'),
  ['comments', 'Comments'],
  ['website', 'Website'],
  ['pass', 'Password', 20],
  ['discount', 'CustomerGroupID'],
  ['accountno', 'BillingTaxID'],
  ['maillist', 'MailList'],
  ['custenabled', 'Enabled'],
  ['additional_field1', 'AdditionalField1'],
  ['additional_field2', 'AdditionalField2'],
  ['additional_field3', 'AdditionalField3'],
]

function addressNames(prefix: string, kind: 'Billing' | 'Shipping') {
  return [
    [`${prefix}_firstname`, `${kind}FirstName`],
    [`${prefix}_lastname`, `${kind}LastName`],
    [`${prefix}_address`, `${kind}Address1`],
    [`${prefix}_address2`, `${kind}Address2`],
    [`${prefix}_city`, `${kind}City`],
    [`${prefix}_state`, `${kind}State`],
    [`${prefix}_zip`, `${kind}ZipCode`],
    [`${prefix}_country`, `${kind}Country`, 2],
    [`${prefix}_company`, `${kind}Company`],
    [`${prefix}_phone`, `${kind}PhoneNumber`],
  ] as const
}

const fields: Readonly<Record<string, ValueField>> = Object.fromEntries(
  fieldNames.map(([name, fieldName, maxLength]) => {
    const field = customerField(fieldName)
    return [name, maxLength === undefined ? field : { ...field, schema: text(maxLength).schema }]
  }),
)
const altContactId = customerField('AltContactID')

const fieldsOfUpdate = fieldSet(fields)
const fieldsOfInsert = fieldSet({
  ...fields,
  ...Object.fromEntries(['billing_firstname', 'billing_lastname'].map((name) => [name, required(name)])),
  alt_contactid: altContactId,
})

function required(name: string): ValueField {
  return { ...(fields[name] as ValueField), required: true }
}

const idNames = ['contactid', 'alt_contactid']
/** A client sends it back with what it has read; only the store writes it, and it is passed over. */
const passedOver = ['lastlogindate']
const knownNames = new Set([...Object.keys(fields), ...idNames, ...passedOver])
/** What a misspelt name may look like. Anything else is no name, but a part of a value that holds a separator. */
const NAME = /^[\p{L}\p{N}_ .-]{1,50}$/u

/**
 * Splits `name===value|||name===value`: names in any case, both without blanks and line ends around them, but for passwords.
 * Nothing between two separators is no pair. A value may hold `===`, and end in one or two bars. Refuses (41) a name that comes
 * twice, what is no pair, and no pair with a known name at all.
 */
export function splitCustomerData(given: string): SplitCustomerData {
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

/** Whether there is anything to store: more than the ids, which say whom. */
export function hasFields(data: CustomerData): boolean {
  return [...data.keys()].some((name) => !idNames.includes(name))
}

/** Of the names that are not known, so many are named. */
const UNKNOWN_TOLD_MAX = 10

/** A refusal, or a remark, on names that are not known; without its subject. What it quotes stays out of logs. */
export function unknownIn(names: readonly string[]): string {
  return `names fields that editCustomer does not know: "${names.slice(0, UNKNOWN_TOLD_MAX).join('", "')}"`
}

/** Pairs may stand one a line; blanks may be part of a password. */
function withoutLineEnds(text: string): string {
  const isLineEnd = (index: number) => text[index] === '\n' || text[index] === '\r'
  let [start, end] = [0, text.length]
  while (start < end && isLineEnd(start)) start++
  while (start < end && isLineEnd(end - 1)) end--
  return text.slice(start, end)
}

export function unreadable(problem: string): ResultError {
  return new ResultError('invalidCustomerData', `customerData ${problem}`)
}

/** Whom an update or a delete means: by another system's id where there is one, else by contactid. Refuses (43) neither. */
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

/** A new customer; what is not given has the documented defaults. Throws `bad-request` for what is missing or out of bounds. */
export function readNewCustomer(data: CustomerData, timeZone: string): Patch {
  return readPatch(fieldsOfInsert, { custenabled: '0', ...given(data) }, 'create', timeZone)
}

/** What is given of a known customer; what is given empty is cleared. Throws `bad-request` for what is out of bounds. */
export function readCustomerChange(data: CustomerData, timeZone: string): Patch {
  return readPatch(fieldsOfUpdate, given(data), 'update', timeZone)
}

/** To the fields themselves a number or a flag without text was not given; here it is 0. */
function given(data: CustomerData): Record<string, string> {
  const entries = [...data].map(([name, value]): [string, string] => {
    const { kind = 'text' } = fields[name] ?? {}
    return [name, kind !== 'text' && value.trim() === '' ? '0' : value]
  })
  return Object.fromEntries(entries)
}

/** A refusal in the words of customerData: what is wrong with a field there has the name that was sent. */
export function inCustomerData(message: string): string {
  const [, name = '', rest = ''] = /^(\w+)( .*)$/s.exec(message) ?? []
  const [sent = name] = fieldNames.find(([, field]) => field === name) ?? []
  return name === '' ? message : sent + rest
}

const storedNames = new Map<string, string>(fieldNames.map(([name, field]) => [name, field]))

function readPatch(set: FieldSet, body: object, mode: 'create' | 'update', timeZone: string): Patch {
  const patch = readInput(set, body, { mode, timeZone })
  return { ...patch, details: withStoredNames(patch.details), writeOnly: withStoredNames(patch.writeOnly) }
}

function withStoredNames<T>(values: Readonly<Record<string, T>>): Record<string, T> {
  return Object.fromEntries(Object.entries(values).map(([name, value]) => [storedNames.get(name) ?? name, value]))
}
