import { z } from 'zod'
import type { Db, Transaction } from '../database/client.ts'

const EMAIL_LENGTH_MAX = 254
const PASSWORD_LENGTH_MAX = 1000
const CHOSEN_LENGTH_MIN = 12

const email = `must be an e-mail address of at most ${EMAIL_LENGTH_MAX} characters`
const given = `must be a text of 1 to ${PASSWORD_LENGTH_MAX} characters`
const chosen = `must be a text of ${CHOSEN_LENGTH_MIN} to ${PASSWORD_LENGTH_MAX} characters`

export const emailInput = z.string(email).trim().max(EMAIL_LENGTH_MAX, email).pipe(z.email(email))

/** One that the operator gives, who answers for its strength; or one that is to be compared. */
export const passwordInput = z.string(given).min(1, given).max(PASSWORD_LENGTH_MAX, given)

/** One that a person chooses. */
export const chosenPasswordInput = z
  .string(chosen)
  .max(PASSWORD_LENGTH_MAX, chosen)
  .refine((value) => [...value].length >= CHOSEN_LENGTH_MIN, chosen)

export const passwordIsAddress = 'must be another text than the e-mail address'

export function isAddressItself(password: string, address: string): boolean {
  return password.trim().toLowerCase() === address.toLowerCase()
}

/** How e-mail addresses are compared, here and in every index: by PostgreSQL, whose lower case is not JavaScript's. */
export async function lowerCase(db: Db | Transaction, address: string): Promise<string> {
  const [row] = await db.$queryRaw<{ lowered: string }[]>`SELECT lower(${address}::text) AS "lowered"`
  if (!row) throw new Error('SELECT gave no row')
  return row.lowered
}
