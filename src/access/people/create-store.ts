import type { z } from 'zod'
import { inTransaction } from '../../foundation/database/client.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { type Actor, installation } from '../audit/audit.ts'
import { type CreateStore, createUnownedStore } from '../stores/create-store.ts'
import { storeMembers } from '../stores/store-input.ts'
import type { Store } from '../stores/stores.ts'
import { insertIdentity } from './identities.ts'
import { emailInput, hashPassword, newPasswordInput, refuseNamesAsPassword } from './passwords.ts'

const { Name, SecureURL, ...others } = storeMembers

/** The body of `POST /admin/stores` (contract §10.1). */
export const newStore = namedObject({
  Name,
  SecureURL,
  Email: emailInput.describe('The e-mail address with which the owner signs in.'),
  Password: newPasswordInput,
  ...others,
})

/**
 * Creates a store with its owner's account, in one transaction. Throws when the password is a name of the account (400), and as
 * `createUnownedStore`.
 */
export async function createStore(
  services: CreateStore,
  { Email, Password, ...given }: z.output<typeof newStore>,
  actor: Actor = installation,
): Promise<Store> {
  const { db, now } = services
  refuseNamesAsPassword(Password, { email: Email, storeName: given.Name })
  const passwordHash = await hashPassword(Password)
  return inTransaction(db, async (tx) => {
    const store = await createUnownedStore({ ...services, db: tx }, given, actor)
    const owner = await insertIdentity(tx, now, { email: Email, passwordHash })
    await tx.storeUser.create({ data: { storeId: store.id, ...owner, role: 'owner', createdAt: store.createdAt } })
    return store
  })
}
