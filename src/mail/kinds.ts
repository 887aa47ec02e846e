import { type Phrase, type Text, t } from '../texts/text.ts'

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
  /** To the new address. */
  readonly 'address-change': { readonly link: OwnPath; readonly expiresAt: Date }
  /** To the old address. */
  readonly 'address-changed': { readonly newEmail: string }
  /** `what`: a sentence, such as `An authenticator app was added.` */
  readonly 'factor-changed': { readonly what: Phrase; readonly at: Date }
  /** `by`: who takes the second factor off. */
  readonly 'factor-ending': { readonly endsAt: Date; readonly by: Phrase }
  /** `lines`: what is wrong, a sentence each. */
  readonly alert: { readonly lines: readonly Phrase[]; readonly link: OwnPath }
}

export type MailKind = keyof MailData

export const subjects: { readonly [Kind in MailKind]: (data: MailData[Kind]) => Text } = {
  invitation: ({ storeName }) => t('You are invited to {storeName}', { storeName }),
  reset: () => t('Choose a new password'),
  'password-changed': () => t('Your password was changed'),
  'new-browser': () => t('New sign-in to your account'),
  'customer-link': ({ storeName }) => t('Your orders at {storeName}', { storeName }),
  'address-change': () => t('Confirm your new e-mail address'),
  'address-changed': () => t('Your e-mail address was changed'),
  'factor-changed': () => t('Your two-step sign-in was changed'),
  'factor-ending': () => t('Your two-step sign-in will be switched off'),
  alert: ({ lines: [first = t('Something needs your attention'), ...others] }) =>
    t('{count, plural, =0 {{first}} other {{beginning}, and {count, number} more}}', {
      count: others.length,
      first,
      beginning: ({ say }) => say(first).replace(/[.]$/, ''),
    }),
}
