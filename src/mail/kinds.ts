/** An address of this server, below PUBLIC_URL. */
export type OwnPath = `/${string}`

interface SignInNotice {
  readonly at: Date
  /** The IP address of the browser. */
  readonly address: string
  readonly userAgent: string
}

/**
 * Every kind of mail, with the values of its template (`templates/KIND.eta`). They are plain text: a mail shows dates in its
 * zone, and links as whole addresses.
 */
export interface MailData {
  /** To somebody who is to work in a store. */
  readonly invitation: {
    readonly storeName: string
    /** In words. */
    readonly role: string
    /** The e-mail address of the person, or the operator. */
    readonly invitedBy: string
    readonly link: OwnPath
    readonly expiresAt: Date
  }
  readonly reset: {
    readonly link: OwnPath
    readonly expiresAt: Date
    /** What the address signs in to, in words, such as `the store Garden Shop`. */
    readonly accounts: readonly string[]
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
  readonly 'factor-changed': { readonly what: string; readonly at: Date }
  /** `by`: who takes the second factor off. */
  readonly 'factor-ending': { readonly endsAt: Date; readonly by: string }
  /** `lines`: what is wrong, a sentence each. */
  readonly alert: { readonly lines: readonly string[]; readonly link: OwnPath }
}

export type MailKind = keyof MailData

export const subjects: { readonly [Kind in MailKind]: (data: MailData[Kind]) => string } = {
  invitation: ({ storeName }) => `You are invited to ${storeName}`,
  reset: () => 'Choose a new password',
  'password-changed': () => 'Your password was changed',
  'new-browser': () => 'New sign-in to your account',
  'customer-link': ({ storeName }) => `Your orders at ${storeName}`,
  'address-change': () => 'Confirm your new e-mail address',
  'address-changed': () => 'Your e-mail address was changed',
  'factor-changed': () => 'Your two-step sign-in was changed',
  'factor-ending': () => 'Your two-step sign-in will be switched off',
  alert: ({ lines: [first = 'Something needs your attention', ...others] }) =>
    others.length === 0 ? first : `${first.replace(/[.]$/, '')}, and ${others.length} more`,
}
