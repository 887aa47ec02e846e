import { createRequire } from 'node:module'
import { hash, verify } from '@node-rs/argon2'
import { z } from 'zod'
import type { Db, Transaction } from '../../foundation/database/client.ts'
import { asciiEmail, EMAIL_LENGTH_MAX } from '../../foundation/values/email.ts'
import { type ErrorCode, StoreFailure } from '../../foundation/values/failure.ts'
import { Semaphore } from '../../foundation/values/semaphore.ts'

// The e-mail addresses and passwords of accounts: what is allowed, and how they are compared.

const PASSWORD_LENGTH_MAX = 1000
const NEW_LENGTH_MIN = 12
const COMMON_MAX = 10_000
/** Shorter prefixes of a digit sequence are too common to reject. */
const DIGITS_MIN = 6
/** The longest syllable, and the shortest text that repeats one. */
const SYLLABLE_MAX = 4
const REPEATED_MIN = 6
const PRODUCT = 'storeplatform'

const email = `must be an e-mail address of at most ${EMAIL_LENGTH_MAX} characters`
const typed = `must be a text of 1 to ${PASSWORD_LENGTH_MAX} characters`
const length = `must be a text of ${NEW_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`
const common =
  'must not be one of the 10,000 most common passwords, nor one of them repeated, nor repeated letters or syllables, nor the name of this software, with or without digits and signs at its ends'

export const emailInput = z
  .string(email)
  .trim()
  .overwrite(asciiEmail)
  .max(EMAIL_LENGTH_MAX, email)
  .pipe(z.email(email))
  .describe('The e-mail address with which the person signs in.')

/** A password to verify. The stored one may be older than the rule for new passwords. */
export const passwordInput = z.string(typed).min(1, typed).max(PASSWORD_LENGTH_MAX, typed)

/** A new password of a merchant or developer. Callers must also call `refuseNamesAsPassword`. */
export const newPasswordInput = z
  .string(length)
  .max(PASSWORD_LENGTH_MAX, length)
  .refine((value) => [...value].length >= NEW_LENGTH_MIN, length)
  .refine((value) => !isCommon(value), common)
  .describe(
    'The password to sign in with: 12 characters or more, not a common one, nor one made of the person’s address.',
  )

const require = createRequire(import.meta.url)
let commonPasswords: ReadonlySet<string> | undefined

/** Loads the dictionary, most common passwords first, in lower case, on the first use, because it takes 20 MB. */
function isListed(password: string): boolean {
  if (commonPasswords === undefined) {
    const { dictionary } = require('@zxcvbn-ts/language-common') as typeof import('@zxcvbn-ts/language-common')
    commonPasswords = new Set(dictionary['passwords-common'].slice(0, COMMON_MAX))
  }
  return commonPasswords.has(password)
}

/** Few listed passwords have 12 characters, so exact comparison would accept `password2024!` and `123456123456`. */
function isCommon(password: string): boolean {
  const plain = comparable(password)
  if (isRepeated(plain) || isRepeated(withoutEnds(plain)) || once(wordOf(password)) === PRODUCT) return true
  return [plain, once(plain)].some((text) => isListed(text) || isCommonInside(text))
}

/** A text that is repeated, and nothing else, counts as that text. */
function once(text: string): string {
  return /^(.+?)\1+$/su.exec(text)?.[1] ?? text
}

/** Whether the text is letters or syllables over and over (`abcabcab`), or a few letters, each of them repeated (`aaabbbccc`). */
function isRepeated(text: string): boolean {
  const letters = text.replace(/(.)\1+/gsu, '$1')
  const lengths = Array.from({ length: SYLLABLE_MAX }, (_, index) => index + 1)
  const repeats = lengths.some((length) => text.slice(length) === text.slice(0, -length))
  const isLong = text.length >= REPEATED_MIN && /[\p{L}\p{N}\p{P}]/u.test(text)
  return isLong && (repeats || letters.length <= SYLLABLE_MAX)
}

/** Whether the text is a common password with only digits and signs added at its ends. */
function isCommonInside(text: string): boolean {
  const letters = withoutEnds(text)
  if (letters !== '') return isListed(letters)
  // Rejects text such as 1234567890!?, whose prefix 123456 is common, and text of only blanks.
  const beginnings = Array.from(text, (_, index) => text.slice(0, index + 1))
  return text === '' || beginnings.some((beginning) => beginning.length >= DIGITS_MIN && isListed(beginning))
}

/**
 * Throws (400, naming `field`) when the password is the account's e-mail address, ignoring case; or the address' part before the @ or
 * the store's name, if the account is of one, ignoring case, separators, and digits and signs at its ends.
 */
export function refuseNamesAsPassword(
  password: string,
  { email, storeName = '' }: { readonly email: string; readonly storeName?: string | undefined },
  field = 'Password',
): void {
  if (comparable(password) === comparable(email)) {
    throw fieldFault(field, 'must differ from the e-mail address')
  }
  const word = wordOf(password)
  const isWord = (name: string) => word !== '' && word === wordOf(name)
  if (isWord(email.replace(/@[^@]*$/, ''))) {
    throw fieldFault(field, 'must not be the beginning of the e-mail address, with or without digits and signs')
  }
  if (isWord(storeName)) throw fieldFault(field, 'must not be the name of the store, with or without digits and signs')
}

/** The text without separators, and without digits and signs at its ends. */
function wordOf(text: string): string {
  return withoutEnds(comparable(text)).replace(/[\s\p{P}\p{S}]+/gu, '')
}

/** The text without digits and signs at its ends. */
function withoutEnds(text: string): string {
  return text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
}

function comparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** Returns a failure for one field. `problem` is a sentence without its subject. */
export function fieldFault(field: string, problem: string, code: ErrorCode = 'invalid-value'): StoreFailure {
  return new StoreFailure(code, `${field} ${problem}`, { field, faults: [{ field, problem }] })
}

/** Lower-cases an e-mail address with PostgreSQL, as every index does, because JavaScript's lower case differs. */
export async function lowerCase(db: Db | Transaction, address: string): Promise<string> {
  const [row] = await db.$queryRaw<{ lowered: string }[]>`SELECT lower(${address}::text) AS "lowered"`
  if (!row) throw new Error('SELECT gave no row')
  return row.lowered
}

/** OWASP's parameters for argon2id, the library's default algorithm: 19 MiB, two passes, one lane. */
const figures = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** A well-formed hash that costs as much as a real one and that no known password matches. */
const nobodysHash = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Leaves libuv half of its four threads, for files, names and compression, on a machine that may have two cores. */
const AT_ONCE_MAX = 2

const turns = new Semaphore({
  capacity: AT_ONCE_MAX,
  capacityOfKey: AT_ONCE_MAX,
  waitingMax: 100,
  waitingOfKeyMax: 50,
  waitMs: 10_000,
  message: 'Too many passwords are being checked; try again in a moment',
})

/**
 * Returns the hash to store, `$argon2id$…`. Runs outside the event loop, two at a time in the process; keys such as networks take
 * turns. No turn waits for the database, because changes of customers hold a connection meanwhile. Throws `unavailable` behind 100, or after 10 s.
 */
export function hashPassword(password: string, key = ''): Promise<string> {
  return turns.run(key, 1, () => hash(password.normalize('NFKC'), figures))
}

/** Whether the password matches. For null (no account or password), returns false after the same time. Waits as `hashPassword`. */
export async function verifyPassword(stored: string | null, password: string, key = ''): Promise<boolean> {
  const fits = await turns.run(key, 1, () => verify(stored ?? nobodysHash, password.normalize('NFKC')))
  return fits && stored !== null
}
