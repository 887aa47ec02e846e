import type { AuditAction, AuditEntry } from '../../audit/audit.ts'

const actions: Readonly<Record<AuditAction, string>> = {
  'application.created': 'Application registered',
  'application.changed': 'Application changed',
  'application.deleted': 'Application deleted',
  'application.key-rotated': 'New private key',
  'application.keys-brought': 'Keys brought along from another platform',
  'application.opened': 'Opened to merchants',
  'application.closed': 'Closed to merchants',
  'application.secret-rotated': 'New callback secret',
  'application.callback-tested': 'Callback tested',
  'subscription.created': 'Application given access to the store',
  'subscription.agreed': 'Agreed to what the application asks for',
  'subscription.refused': 'The application did not answer',
  'subscription.removed': 'Application removed from the store',
  'subscription.bodies-kept': 'Bodies of refused requests are kept',
  'subscription.bodies-deleted': 'Bodies of refused requests are no longer kept',
  'token.brought': 'Token brought along from another platform',
  'token.issued': 'Access token given',
  'token.revoked': 'Access token revoked',
  'authorization.granted': 'Access granted (OAuth)',
  'authorization.denied': 'Access denied (OAuth)',
  'store.created': 'Store opened',
  'store.changed': 'Store settings changed',
  'store.user-key-rotated': 'New user key for cartAPI',
  'store.user-key-brought': 'User key for cartAPI brought along from another platform',
  'order-statuses.changed': 'Order statuses changed',
  'order-status.added': 'Order status added',
  'payment-methods.changed': 'Payment methods changed',
  'return-lists.changed': 'Names for returns changed',
  'customer.link-made': 'Sign-in link made for a customer',
  'webhook.created': 'Webhook added',
  'webhook.changed': 'Webhook changed',
  'webhook.deleted': 'Webhook deleted',
  'webhook.secret-rotated': 'New secret of a webhook',
  'webhook.resumed': 'Webhook resumed',
  'account.created': 'Account opened',
  'account.signed-in': 'Signed in',
  'account.signed-out': 'Signed out',
  'account.deleted': 'Account deleted',
  'account.address-changed': 'E-mail address changed',
  'account.reset-handed-over': 'Link for a new password handed over',
  'account.joined': 'Account joined with another of the same person',
  'invitation.created': 'Invited to the store',
  'invitation.withdrawn': 'Invitation withdrawn',
  'invitation.accepted': 'Invitation accepted',
  'account.role-changed': 'Role changed',
  'role.created': 'Role added',
  'role.changed': 'Role’s privileges changed',
  'role.deleted': 'Role deleted',
  'account.password-changed': 'Password changed',
  'account.sessions-ended': 'Signed out elsewhere',
  'factor.authenticator-added': 'Authenticator app added',
  'factor.authenticator-removed': 'Authenticator app removed',
  'factor.passkey-added': 'Passkey added',
  'factor.passkey-removed': 'Passkey removed',
  'factor.codes-renewed': 'New recovery codes',
  'factor.removal-requested': 'Removal of second factors requested',
  'factor.removal-cancelled': 'Removal of second factors cancelled',
  'factor.all-removed': 'Second factors removed',
  'store.factor-required': 'Second factor required of everybody',
  'test-store.created': 'Test store made',
  'test-store.reset': 'Test store reset',
  'test-store.deleted': 'Test store thrown away',
  'test-stores.allowed': 'Test stores allowed',
  'test-stores.ended': 'Test stores not allowed any more',
  'inbox.created': 'Inbox made',
  'inbox.deleted': 'Inbox deleted',
}

const nameless: Readonly<Record<AuditEntry['actorKind'], string>> = {
  operator: 'The operator',
  merchant: 'The store',
  developer: 'The developer',
  application: 'The application',
}

const DETAILS_LENGTH_MAX = 300

/** Returns an action of a later version unchanged. */
export function actionInWords(action: AuditAction): string {
  return actions[action] ?? action
}

/** Returns the name of the principal, or its kind if the name is hidden from the reader. */
export function actorInWords({ actor, actorKind }: Pick<AuditEntry, 'actor' | 'actorKind'>): string {
  return actor === '' ? nameless[actorKind] : actor
}

/** Such as `forced; reason: no answer within 10 s`, of at most 300 characters. Empty: no details. */
export function detailsInWords(details: Readonly<Record<string, unknown>>): string {
  const parts = Object.entries(details).flatMap(([name, value]) => {
    if (value === null || value === false) return []
    if (value === true) return [inWords(name)]
    const { words = inWords(name), texts } = special[name] ?? {}
    return [`${words}: ${valueInWords(value, texts)}`]
  })
  const text = parts.join('; ')
  return text.length > DETAILS_LENGTH_MAX ? `${text.slice(0, DETAILS_LENGTH_MAX).toWellFormed()}…` : text
}

type Texts = Readonly<Record<string, string>>

/** Details whose names and values need other words. `none`: a list without entries. */
const special: Readonly<Record<string, { readonly words: string; readonly texts: Texts }>> = {
  cartApiEnabled: { words: 'cartAPI', texts: { true: 'on', false: 'off' } },
  furtherUrls: { words: 'further addresses', texts: {} },
  cartApiAddresses: { words: 'cartAPI from', texts: { none: 'anywhere' } },
}

/** Converts `secureUrl` to `secure url`. */
function inWords(name: string): string {
  return name.replace(/(?<=[a-z])(?=[A-Z])/g, ' ').toLowerCase()
}

function valueInWords(value: unknown, texts: Texts = {}): string {
  const { none = 'none' } = texts
  if (Array.isArray(value)) return value.map((each) => valueInWords(each, texts)).join(', ') || none
  if (value === null) return none
  if (typeof value === 'boolean') return texts[String(value)] ?? String(value)
  if (typeof value !== 'object') return String(value)
  const { from, to, ...rest } = value as Record<string, unknown>
  if (from !== undefined && to !== undefined && Object.keys(rest).length === 0) {
    return `${valueInWords(from, texts)} → ${valueInWords(to, texts)}`
  }
  const members = Object.entries(value).map(([name, member]) => `${name} ${valueInWords(member)}`)
  return members.join(', ')
}
