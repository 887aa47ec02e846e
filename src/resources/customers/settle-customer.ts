import { hashPassword } from '../../access/passwords.ts'
import type { Change } from '../../engine/write.ts'

/** A password that was sent is kept as argon2id alone. */
export async function settleCustomer({ patch, after }: Change): Promise<void> {
  const password = patch.writeOnly.Password
  if (typeof password === 'string' && password !== '') after.row.passwordHash = await hashPassword(password)
}
