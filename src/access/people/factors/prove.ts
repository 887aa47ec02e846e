import { type DataServices, inTransaction, type Transaction } from '../../../foundation/database/client.ts'
import { namedObject, readInput } from '../../../foundation/values/input.ts'
import { fieldFault, passwordInput } from '../passwords.ts'
import { type ByPerson, identityOf, lockIdentity, provePassword } from '../proof.ts'
import type { Session } from '../sessions.ts'
import { forgiveTry } from '../sign-in-delay.ts'
import { type PasskeyServices, passkeyRequest, usePasskey, verifyPasskey } from './passkeys.ts'

// A signed-in person shows once more who they are, before what would hurt most in the hands of somebody else.

const shownPassword = namedObject({ Password: passwordInput })

/** Proves by the password. Throws for a wrong one (400), which counts as a failed sign-in, and for attempts that are too early (429). */
export async function proveByPassword(services: DataServices, session: Session, input: unknown, by: ByPerson) {
  const { Password } = readInput(shownPassword, input)
  const shown = { password: Password, field: 'Password' }
  const { counted, passwordHash } = await provePassword(services, session, shown, by)
  await inTransaction(services.db, async (tx) => {
    const [identity] = await lockIdentity(tx, session)
    if (identity?.passwordHash !== passwordHash) throw fieldFault('Password', 'is not the current password')
    await note(tx, services, session)
    await forgiveTry(tx, counted)
  })
}

/** Makes what the browser needs to ask for a passkey of the signed-in person. */
export function proofRequest(services: PasskeyServices, session: Session) {
  const { kind, identityId } = identityOf(session)
  return passkeyRequest(services, { purpose: 'passkey-proof', kind, identityId })
}

/** Proves by a passkey whose device has made sure of its owner. Throws (401) for one that is not accepted. */
export async function proveByPasskey(services: PasskeyServices, session: Session, credential: unknown): Promise<void> {
  const { kind, identityId } = identityOf(session)
  const signed = await verifyPasskey(services, { purpose: 'passkey-proof', kind, identityId }, credential)
  await inTransaction(services.db, async (tx) => {
    await lockIdentity(tx, session)
    await usePasskey(tx, services.now, signed)
    await note(tx, services, session)
  })
}

async function note(tx: Transaction, { now }: Pick<DataServices, 'now'>, { id }: Session): Promise<void> {
  await tx.session.updateMany({ where: { id }, data: { provedAt: now() } })
}
