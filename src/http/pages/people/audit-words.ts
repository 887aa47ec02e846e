import type { AuditAction, AuditEntry } from '../../../access/audit/audit.ts'
import { isLocale, locales } from '../../../foundation/texts/language.ts'
import { type Phrase, type Reader, type Text, t } from '../../../foundation/texts/text.ts'
import { auditMembers } from '../../../shop/resources/return-lists/update-lists.ts'
import { OPERATOR } from '../../../shop/staff/invitations.ts'
import { privilegeName, roleName } from '../../../shop/staff/names.ts'

const actions: Readonly<Record<AuditAction, Text>> = {
  'application.created': t('Application registered'),
  'application.changed': t('Application changed'),
  'application.deleted': t('Application deleted'),
  'application.key-rotated': t('New private key'),
  'application.keys-brought': t('Keys brought along from another platform'),
  'application.opened': t('Opened to merchants'),
  'application.closed': t('Closed to merchants'),
  'application.secret-rotated': t('New callback secret'),
  'application.callback-tested': t('Callback tested'),
  'subscription.created': t('Application given access to the store'),
  'subscription.agreed': t('Agreed to what the application asks for'),
  'subscription.refused': t('The application did not answer'),
  'subscription.removed': t('Application removed from the store'),
  'subscription.bodies-kept': t('Bodies of refused requests are kept'),
  'subscription.bodies-deleted': t('Bodies of refused requests are no longer kept'),
  'token.brought': t('Token brought along from another platform'),
  'token.issued': t('Access token given'),
  'token.revoked': t('Access token revoked'),
  'authorization.granted': t('Access granted (OAuth)'),
  'authorization.denied': t('Access denied (OAuth)'),
  'store.created': t('Store opened'),
  'store.changed': t('Store settings changed'),
  'store.user-key-rotated': t('New user key for cartAPI'),
  'store.user-key-brought': t('User key for cartAPI brought along from another platform'),
  'order-statuses.changed': t('Order statuses changed'),
  'order-status.added': t('Order status added'),
  'payment-methods.changed': t('Payment methods changed'),
  'return-lists.changed': t('Names for returns changed'),
  'customer.link-made': t('Sign-in link made for a customer'),
  'webhook.created': t('Webhook added'),
  'webhook.changed': t('Webhook changed'),
  'webhook.deleted': t('Webhook deleted'),
  'webhook.secret-rotated': t('New secret of a webhook'),
  'webhook.resumed': t('Webhook resumed'),
  'account.created': t('Account opened'),
  'account.signed-in': t('Signed in'),
  'account.signed-out': t('Signed out'),
  'account.deleted': t('Account deleted'),
  'account.address-changed': t('E-mail address changed'),
  'account.reset-handed-over': t('Link for a new password handed over'),
  'account.joined': t('Account joined with another of the same person'),
  'account.language-changed': t('Language of the pages changed'),
  'invitation.created': t('Invited to the store'),
  'invitation.withdrawn': t('Invitation withdrawn'),
  'invitation.accepted': t('Invitation accepted'),
  'account.role-changed': t('Role changed'),
  'role.created': t('Role added'),
  'role.changed': t('Role’s privileges changed'),
  'role.deleted': t('Role deleted'),
  'account.password-changed': t('Password changed'),
  'account.sessions-ended': t('Signed out elsewhere'),
  'factor.authenticator-added': t('Authenticator app added'),
  'factor.authenticator-removed': t('Authenticator app removed'),
  'factor.passkey-added': t('Passkey added'),
  'factor.passkey-removed': t('Passkey removed'),
  'factor.codes-renewed': t('New recovery codes'),
  'factor.removal-requested': t('Removal of second factors requested'),
  'factor.removal-cancelled': t('Removal of second factors cancelled'),
  'factor.all-removed': t('Second factors removed'),
  'store.factor-required': t('Second factor required of everybody'),
  'test-store.created': t('Test store made'),
  'test-store.reset': t('Test store reset'),
  'test-store.deleted': t('Test store thrown away'),
  'test-stores.allowed': t('Test stores allowed'),
  'test-stores.ended': t('Test stores not allowed any more'),
  'inbox.created': t('Inbox made'),
  'inbox.deleted': t('Inbox deleted'),
}

const nameless: Readonly<Record<AuditEntry['actorKind'], Text>> = {
  operator: t('The operator'),
  merchant: t('The store'),
  developer: t('The developer'),
  application: t('The application'),
}

const DETAILS_LENGTH_MAX = 300

/** Returns an action of a later version unchanged. */
export function actionInWords(action: AuditAction): Phrase {
  return actions[action] ?? action
}

/** Returns the name of the principal, or its kind if the name is hidden from the reader. */
export function actorInWords({ actor, actorKind }: Pick<AuditEntry, 'actor' | 'actorKind'>): Phrase {
  return actor === '' ? nameless[actorKind] : actor
}

/** For whom details are said, and the zone of their dates. */
interface Words extends Reader {
  readonly timeZone: string
  /** What numbers name, by the name of the member; one without a name stays. */
  readonly named?: Readonly<Record<string, ReadonlyMap<number, Phrase>>> | undefined
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
  byLink: t('by a link'),
  callbackUrl: t('callback address'),
  cartApiAddresses: t('cartAPI from'),
  cartApiEnabled: t('cartAPI'),
  caughtUp: t('sent later'),
  changed: t('changed'),
  currency: t('currency'),
  documentFooter: t('at the foot of invoices'),
  documentLocale: t('language of documents'),
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
  kind: t('kind'),
  language: t('language'),
  mailed: t('mailed'),
  members: t('fields'),
  messageId: t('message'),
  methods: t('payment methods'),
  name: t('name'),
  operator: t('operator'),
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
}

/** Values that stand for something, by the name of the member. `none`: a list without entries. */
const meanings: Readonly<Record<string, Readonly<Record<string, Text>>>> = {
  cartApiEnabled: { true: t('on'), false: t('off') },
  cartApiAddresses: { none: t('anywhere') },
  enabled: { true: t('yes'), false: t('no') },
  language: { none: t('as the browser says') },
  factor: {
    authenticator: t('authenticator app'),
    passkey: t('passkey'),
    'recovery code': t('recovery code'),
  },
}

/** Their numbers name something. */
const identifying = new Set<string>(['methods', 'status', 'statuses', ...Object.values(auditMembers)])

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
  const { say, format, named = {} } = words
  if (Array.isArray(value)) {
    const said = value.map((each) =>
      name === 'changed' ? nameInWords(String(each), words) : valueInWords(each, words, name),
    )
    return said.join(', ') || noneInWords(words, name)
  }
  if (value === null) return noneInWords(words, name)
  if (typeof value === 'number') {
    return identifying.has(name) ? say(entryOf(named, name)?.get(value) ?? String(value)) : format.number(value)
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
