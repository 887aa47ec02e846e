import { type Phrase, type Text, t } from '../../foundation/texts/text.ts'

/** An address of this server, below PUBLIC_URL. */
export type OwnPath = `/${string}`

interface SignInNotice {
  readonly at: Date
  /** The IP address of the browser. */
  readonly address: string
  readonly userAgent: Phrase
}

/**
 * Every kind of mail, with the values of its template (`templates/KIND.eta`, and in each other language `templates/TAG/KIND.eta`). They
 * are plain text: a mail shows dates in its zone, and links as whole addresses.
 */
export interface MailData {
  /** To somebody who is to work in a store. */
  readonly invitation: {
    readonly storeName: string
    readonly role: Phrase
    /** The e-mail address of the person, or the operator. */
    readonly invitedBy: Phrase
    readonly link: OwnPath
    readonly expiresAt: Date
  }
  readonly reset: {
    readonly link: OwnPath
    readonly expiresAt: Date
    /** What the address signs in to, in words, such as `the store Garden Shop`. */
    readonly accounts: readonly Phrase[]
  }
  readonly 'password-changed': SignInNotice
  readonly 'new-browser': SignInNotice
  /** To a customer of the store. */
  readonly 'customer-link': { readonly storeName: string; readonly link: OwnPath; readonly expiresAt: Date }
  /** To an address that customers of the store are to answer to. */
  readonly 'reply-to': { readonly storeName: string; readonly link: OwnPath; readonly expiresAt: Date }
  /** To the new address. */
  readonly 'address-change': { readonly link: OwnPath; readonly expiresAt: Date }
  /** To the old address. */
  readonly 'address-changed': { readonly newEmail: string }
  /** `what`: a sentence, such as `An authenticator app was added.` */
  readonly 'factor-changed': { readonly what: Phrase; readonly at: Date }
  /** `by`: who takes the second factor off. */
  readonly 'factor-ending': { readonly endsAt: Date; readonly by: Phrase }
  /** To a developer. `what`: what a program of theirs uses, and what it should do, in sentences. */
  readonly deprecation: { readonly what: Phrase; readonly sunset: Date; readonly link: OwnPath }
  /** `lines`: what is wrong, a sentence each. */
  readonly alert: { readonly lines: readonly Phrase[]; readonly link: OwnPath }
}

export type MailKind = keyof MailData

/**
 * Whom a kind of mail belongs to, and so who reads it in an outbox:
 * - `mailbox`: it lets somebody in, proves an address or sets a password. Nobody; in a sandbox that sends nothing, the operator.
 * - `customer`: it opens a customer's account in its store and nothing else. The owners of the store.
 * - `person`: the identity that it is about, which has proved the address.
 */
type Owner = 'mailbox' | 'customer' | 'person'

export const kinds: { readonly [Kind in MailKind]: readonly [Owner, subject: (data: MailData[Kind]) => Text] } = {
  invitation: ['mailbox', ({ storeName }) => t('You are invited to {storeName}', { storeName })],
  reset: ['mailbox', () => t('Choose a new password')],
  'password-changed': ['person', () => t('Your password was changed')],
  'new-browser': ['person', () => t('New sign-in to your account')],
  'customer-link': ['customer', ({ storeName }) => t('Your orders at {storeName}', { storeName })],
  'reply-to': ['mailbox', ({ storeName }) => t('Confirm an address of {storeName}', { storeName })],
  'address-change': ['mailbox', () => t('Confirm your new e-mail address')],
  'address-changed': ['person', () => t('Your e-mail address was changed')],
  'factor-changed': ['person', () => t('Your two-step sign-in was changed')],
  'factor-ending': ['person', () => t('Your two-step sign-in will be switched off')],
  deprecation: ['person', () => t('A call of your program will stop working')],
  alert: [
    'person',
    ({ lines: [first = t('Something needs your attention'), ...others] }) =>
      t('{count, plural, =0 {{first}} other {{beginning}, and {count, number} more}}', {
        count: others.length,
        first,
        beginning: ({ say }) => say(first).replace(/[.]$/, ''),
      }),
  ],
}

export function kindsOf(owner: Owner): string[] {
  return Object.entries(kinds).flatMap(([kind, [each]]) => (each === owner ? [kind] : []))
}
