import type { AuditEntry } from '../../../access/audit/audit.ts'
import { isLocale, locales } from '../../../foundation/texts/language.ts'
import { type Phrase, type Reader, type Text, t } from '../../../foundation/texts/text.ts'
import { auditMembers } from '../../../shop/resources/name-lists/name-lists.ts'
import { OPERATOR } from '../../../shop/staff/invitations.ts'
import { privilegeName, roleName } from '../../../shop/staff/names.ts'
import type { Codes } from '../records/codes.ts'

const nameless: Readonly<Record<AuditEntry['actorKind'], Text>> = {
  operator: t('The operator'),
  merchant: t('The store'),
  developer: t('The developer'),
  application: t('The application'),
}

const DETAILS_LENGTH_MAX = 300

/** Returns the name of the principal, or its kind if the name is hidden from the reader. */
export function actorInWords({ actor, actorKind }: Pick<AuditEntry, 'actor' | 'actorKind'>): Phrase {
  return actor === '' ? nameless[actorKind] : actor
}

/** For whom details are said, and the zone of their dates. */
interface Words extends Reader {
  readonly timeZone: string
  /** What numbers of the store's lists name. */
  readonly codes?: Codes | undefined
}

/** Such as `forced; reason: no answer within 10 s`, of at most 300 characters. Empty: no details. */
export function detailsInWords(details: Readonly<Record<string, unknown>>, words: Words): string {
  const parts = Object.entries(details).flatMap(([name, value]) => {
    if (value === null || value === false) return []
    // Of an order status that was added: its text stands beside it.
    if (name === 'status' && 'text' in details) return []
    if (value === true) return [nameInWords(name, words)]
    const said = valueInWords(value, words, name)
    return [words.say(t('{name}: {value}', { name: nameInWords(name, words), value: said }))]
  })
  const text = parts.join('; ')
  return text.length > DETAILS_LENGTH_MAX ? `${text.slice(0, DETAILS_LENGTH_MAX).toWellFormed()}…` : text
}

/** The members of details that the server writes. */
const names: Readonly<Record<string, Text>> = {
  address: t('address'),
  application: t('application'),
  applicationDeleted: t('the application was deleted'),
  asked: t('asked to'),
  attempts: t('attempts'),
  bookkeepingYears: t('bookkeeping years'),
  byLink: t('by a link'),
  callbackUrl: t('callback address'),
  cartApiAddresses: t('cartAPI from'),
  cartApiEnabled: t('cartAPI'),
  caughtUp: t('sent later'),
  changed: t('changed'),
  country: t('country'),
  currency: t('currency'),
  customers: t('customers'),
  documentFooter: t('at the foot of invoices'),
  documentLocale: t('language of documents'),
  documentPhone: t('telephone on documents'),
  documentSeller: t('seller on documents'),
  documentTaxNumbers: t('tax numbers'),
  enabled: t('switched on'),
  endsAt: t('they end'),
  event: t('event'),
  factor: t('second factor'),
  forced: t('without its confirmation'),
  format: t('format'),
  from: t('from'),
  furtherUrls: t('further addresses'),
  givenUp: t('given up'),
  invitedBy: t('invited by'),
  keepFormerForHours: t('hours in which the former key works'),
  keepsInvoiceAddresses: t('billing addresses of invoices are kept'),
  kind: t('kind'),
  language: t('language'),
  logo: t('logo'),
  mailed: t('mailed'),
  mailReplyTo: t('address for answers'),
  mailTexts: t('own texts of mails'),
  members: t('fields'),
  messageId: t('message'),
  methods: t('payment methods'),
  name: t('name'),
  operator: t('operator'),
  orderMails: t('mails to customers'),
  ordersPerHour: t('orders an hour'),
  privileges: t('privileges'),
  reason: t('reason'),
  redirectHost: t('host'),
  redirectUris: t('redirect addresses'),
  returnMethods: t('compensation for returns'),
  returnReasons: t('reasons for returns'),
  returnStatuses: t('statuses of returns'),
  role: t('role'),
  secureUrl: t('address'),
  sessions: t('sessions'),
  status: t('status'),
  statuses: t('order statuses'),
  text: t('text'),
  throttle: t('rate limit'),
  timeZone: t('time zone'),
  tokens: t('tokens'),
  wantsErasures: t('callbacks of erasures'),
  years: t('years'),
}

/** Values that stand for something, by the name of the member. `none`: a list without entries. */
const meanings: Readonly<Record<string, Readonly<Record<string, Text>>>> = {
  cartApiEnabled: { true: t('on'), false: t('off') },
  cartApiAddresses: { none: t('anywhere') },
  enabled: { true: t('yes'), false: t('no') },
  keepsInvoiceAddresses: { true: t('yes'), false: t('no') },
  language: { none: t('as the browser says') },
  factor: {
    authenticator: t('authenticator app'),
    passkey: t('passkey'),
    'recovery code': t('recovery code'),
  },
}

/** Whose numbers lists of the store name, as those of these fields of records. */
export const codedMembers: ReadonlyMap<string, string> = new Map([
  ['status', 'OrderStatusID'],
  ['statuses', 'OrderStatusID'],
  [auditMembers['payment-methods'], 'BillingPaymentMethodID'],
  [auditMembers.reasons, 'RMAReasonID'],
  [auditMembers.methods, 'RMAMethodID'],
  [auditMembers.statuses, 'RMAStatusID'],
])

const access: Readonly<Record<string, Text>> = {
  'read,write': t('read and change'),
  read: t('read'),
  write: t('change, without reading'),
}

/** Details are of any names. */
function entryOf<Value>(table: Readonly<Record<string, Value>>, name: string): Value | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined
}

/** A name of a later version stays as it is. */
function nameInWords(name: string, { say }: Words): string {
  return say(entryOf(names, name) ?? name)
}

function valueInWords(value: unknown, words: Words, name: string): string {
  const { say, format, codes } = words
  if (Array.isArray(value)) {
    const said = value.map((each) =>
      name === 'changed' ? nameInWords(String(each), words) : valueInWords(each, words, name),
    )
    return said.join(', ') || noneInWords(words, name)
  }
  if (value === null) return noneInWords(words, name)
  if (typeof value === 'number') {
    const path = codedMembers.get(name)
    return path === undefined ? format.number(value) : say(codes?.textAt(path, value) ?? String(value))
  }
  if (typeof value !== 'object') return textInWords(String(value), words, name)
  const { from, to, ...rest } = value as Record<string, unknown>
  if (from !== undefined && to !== undefined && Object.keys(rest).length === 0) {
    return `${valueInWords(from, words, name)} → ${valueInWords(to, words, name)}`
  }
  const members = Object.entries(value).map(([member, each]) => {
    if (name !== 'privileges') return `${nameInWords(member, words)} ${valueInWords(each, words, member)}`
    const accesses = [each].flat().sort().join()
    return `${say(privilegeName(member))} (${say(entryOf(access, accesses) ?? accesses)})`
  })
  return members.join(', ')
}

function noneInWords({ say }: Words, name: string): string {
  return say(entryOf(meanings, name)?.none ?? t('none'))
}

function textInWords(text: string, { say, sayProblem, format, timeZone }: Words, name: string): string {
  const meant = entryOf(entryOf(meanings, name) ?? {}, text)
  if (meant !== undefined) return say(meant)
  if (name === 'reason') return sayProblem(text)
  if (name === 'role') return say(roleName(text))
  if (name === 'invitedBy' && text === OPERATOR) return say(t('the operator'))
  if (name === 'language') return isLocale(text) ? locales[text] : text
  return /^\d{4}-\d{2}-\d{2}T[\d:.]+Z$/.test(text) ? format.date(new Date(text), timeZone) : text
}
