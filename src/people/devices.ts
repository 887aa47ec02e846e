import { createHmac, randomBytes } from 'node:crypto'
import { type Secrets, sameSecret } from '../values/secrets.ts'

/** The account of a sign-in attempt, whether or not it exists. */
export interface SignInAccount {
  readonly kind: 'developer' | 'merchant'
  /** In lower case by PostgreSQL's lower(), so that all spellings that find an account count as one. */
  readonly email: string
}

/** Base64url of 16 bytes each: a random id, and its HMAC with the account. */
const ID_LENGTH = 22
const ENTRY_LENGTH = 2 * ID_LENGTH
const ENTRIES_MAX = 10

/**
 * Returns the id of a browser that has signed in to the account before, from its device cookie; otherwise null. Reads
 * only the cookie, so that the result does not reveal whether the account exists.
 */
export function deviceOf(secrets: Secrets, cookie: string | undefined, account: SignInAccount): string | null {
  const entry = entriesOf(cookie).find((each) => isOf(secrets, each, account))
  return entry === undefined ? null : entry.slice(0, ID_LENGTH)
}

/** Returns the device cookie after a sign-in: a new entry for the account, and those of the last 9 other accounts. */
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
