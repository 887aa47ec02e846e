import { createHmac, randomBytes } from 'node:crypto'
import { type Secrets, sameSecret } from '../values/secrets.ts'

/** Whose password is asked for, whether or not there is such an account. */
export interface SignInAccount {
  readonly kind: 'developer' | 'merchant'
  /** As PostgreSQL's lower() gives it: whatever spelling finds an account is one account here. */
  readonly email: string
}

/** Base64url of 16 bytes each: a random id, and its HMAC with the account. */
const ID_LENGTH = 22
const ENTRY_LENGTH = 2 * ID_LENGTH
const ENTRIES_MAX = 10

/**
 * The id under which a browser has signed in to the account before, by its device cookie; null: it has not. The cookie
 * alone decides, so that nothing tells whether there is such an account.
 */
export function deviceOf(secrets: Secrets, cookie: string | undefined, account: SignInAccount): string | null {
  const entry = entriesOf(cookie).find((each) => isOf(secrets, each, account))
  return entry === undefined ? null : entry.slice(0, ID_LENGTH)
}

/** The device cookie after a sign-in to the account: its entry is a new one, those of the 9 other accounts used last stay. */
export function withDevice(secrets: Secrets, cookie: string | undefined, account: SignInAccount): string {
  const id = randomBytes(16).toString('base64url')
  const others = entriesOf(cookie).filter((entry) => !isOf(secrets, entry, account))
  return [id + signature(secrets, id, account), ...others].slice(0, ENTRIES_MAX).join('.')
}

function entriesOf(cookie = ''): string[] {
  return cookie.split('.', ENTRIES_MAX).filter((entry) => entry.length === ENTRY_LENGTH)
}

function isOf(secrets: Secrets, entry: string, account: SignInAccount): boolean {
  return sameSecret(entry.slice(ID_LENGTH), signature(secrets, entry.slice(0, ID_LENGTH), account))
}

function signature(secrets: Secrets, id: string, { kind, email }: SignInAccount): string {
  const whole = createHmac('sha256', secrets.derive('device cookie')).update(`${id} ${kind} ${email}`)
  return whole.digest().subarray(0, 16).toString('base64url')
}
