import { z } from 'zod'
import { hashPassword } from '../../../access/people/passwords.ts'
import { forEachChange } from '../../../engine/changing/change.ts'
import type { Change } from '../../../engine/definition/resource.ts'
import { asciiEmail } from '../../../foundation/values/email.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { refuseErased } from '../../personal/refuse.ts'

/** Checks a changed e-mail address, and stores a sent password only as its argon2id hash. */
export async function customerRules(changes: readonly Change[]): Promise<void> {
  await refuseErased(changes)
  await forEachChange(changes, async (change) => {
    settleEmail(change)
    const { caller, patch, after } = change
    const password = patch.writeOnly.Password
    if (typeof password !== 'string' || password === '') return
    after.row.passwordHash = await hashPassword(password, `store ${caller.store.id}`)
  })
}

/** The maximum length of a stored address. Addresses are stored in ASCII form, which may be longer than what was typed. */
export const EMAIL_LENGTH_MAX = 100

/** Checks only a changed address, because imports stored invalid ones and clients send records back unchanged. */
function settleEmail({ before, after }: Change): void {
  const { email } = after.row
  if (typeof email !== 'string' || email === before?.row.email) return
  const address = asciiEmail(email.trim())
  after.row.email = address
  if (isEmailAddress(address)) return
  const message = 'Email must be an e-mail address such as name@shop.example'
  throw new StoreFailure('invalid-value', message, { field: 'Email' })
}

/** Applies the rule of HTML for `<input type=email>`, which takes a domain with letters beyond ASCII too. */
export function isEmailAddress(text: string): boolean {
  const address = asciiEmail(text)
  return address.length <= EMAIL_LENGTH_MAX && z.regexes.html5Email.test(address)
}
