import { createRequire } from 'node:module'
import { z } from 'zod'
import type { Db, Transaction } from '../database/client.ts'
import { StoreFailure } from '../values/failure.ts'

const EMAIL_LENGTH_MAX = 254
const PASSWORD_LENGTH_MAX = 1000
const NEW_LENGTH_MIN = 12
const COMMON_MAX = 10_000
/** Shorter beginnings of a number say nothing. */
const DIGITS_MIN = 6

const email = `must be an e-mail address of at most ${EMAIL_LENGTH_MAX} characters`
const typed = `must be a text of 1 to ${PASSWORD_LENGTH_MAX} characters`
const length = `must be a text of ${NEW_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`
const common =
  'must not be one of the 10,000 most common passwords, nor one of them repeated, or with digits or signs at its ends'
const isAddress = 'must be another text than the e-mail address'

export const emailInput = z.string(email).trim().max(EMAIL_LENGTH_MAX, email).pipe(z.email(email))

/** A password to compare with the stored one, which may be older than the rule for new ones. */
export const passwordInput = z.string(typed).min(1, typed).max(PASSWORD_LENGTH_MAX, typed)

/**
 * A password that a merchant or a developer gets, whoever sets it: 12 to 1000 characters, not a common one. Whoever
 * reads it also calls `refuseAddressAsPassword`.
 */
export const newPasswordInput = z
  .string(length)
  .max(PASSWORD_LENGTH_MAX, length)
  .refine((value) => [...value].length >= NEW_LENGTH_MIN, length)
  .refine((value) => !isCommon(value), common)

const require = createRequire(import.meta.url)
let commonPasswords: ReadonlySet<string> | undefined

/** The dictionary begins with the most common ones, in lower case. It is read when the first password is set: it takes 20 MB. */
function isListed(password: string): boolean {
  if (commonPasswords === undefined) {
    const { dictionary } = require('@zxcvbn-ts/language-common') as typeof import('@zxcvbn-ts/language-common')
    commonPasswords = new Set(dictionary['passwords-common'].slice(0, COMMON_MAX))
  }
  return commonPasswords.has(password)
}

/** Few of the list have 12 characters: compared as they are, the rule would let `password2024!` and `123456123456` pass. */
function isCommon(password: string): boolean {
  const plain = comparable(password)
  const [, unit = plain] = /^(.+?)\1+$/su.exec(plain) ?? []
  return [plain, unit].some((text) => isListed(text) || isCommonInside(text))
}

/** Whether digits and signs at the ends are all that a text has beside a common password. */
function isCommonInside(text: string): boolean {
  const letters = text.replace(/^[^\p{L}]+|[^\p{L}]+$/gu, '')
  if (letters !== '') return isListed(letters)
  // Such as 123456, of which the rest is a continuation. Blanks alone are no better.
  const beginnings = Array.from(text, (_, index) => text.slice(0, index + 1))
  return text === '' || beginnings.some((beginning) => beginning.length >= DIGITS_MIN && isListed(beginning))
}

/** Refuses (400, naming `field`) the e-mail address of the account as its password, in any case. */
export function refuseAddressAsPassword(password: string, address: string, field = 'Password'): void {
  if (comparable(password) === comparable(address)) throw wrongField(field, isAddress)
}

function comparable(text: string): string {
  return text.normalize('NFKC').trim().toLowerCase()
}

/** A refusal (400) of one field; `problem` is a sentence without its subject. */
export function wrongField(field: string, problem: string): StoreFailure {
  return new StoreFailure('bad-request', `${field} ${problem}`, { field, faults: [{ field, problem }] })
}

/** How e-mail addresses are compared, here and in every index: by PostgreSQL, whose lower case is not JavaScript's. */
export async function lowerCase(db: Db | Transaction, address: string): Promise<string> {
  const [row] = await db.$queryRaw<{ lowered: string }[]>`SELECT lower(${address}::text) AS "lowered"`
  if (!row) throw new Error('SELECT gave no row')
  return row.lowered
}
