import type { Caller } from '../../engine/caller.ts'
import { text } from '../../foundation/values/input.ts'

/** What others call a person; empty: by the e-mail address. Nobody's name looks like the address of somebody else. */
export const personName = text(100, 0).refine((name) => !name.includes('@'), 'must not have an @')

/** What a record keeps of the address of whoever changed it (`Caller.actor`). */
const KEPT_LENGTH = 50

export type PersonOf = (email: string) => string

/**
 * Returns what says who somebody of a store is, for one page: by the name, with the e-mail address in brackets where it stands first, and
 * always where two have one name. Everybody without a name is the e-mail address.
 */
export async function readPeople({ db, store }: Pick<Caller, 'db' | 'store'>): Promise<PersonOf> {
  const rows = await db.storeUser.findMany({
    where: { storeId: store.id, identity: { name: { not: '' } } },
    select: { email: true, identity: { select: { name: true } } },
  })
  const names = new Map(rows.map(({ email, identity }) => [email.slice(0, KEPT_LENGTH), identity.name]))
  const plain = new Set<string>()
  const isShared = (name: string) => rows.filter(({ identity }) => identity.name === name).length > 1
  return (email) => {
    const name = names.get(email.slice(0, KEPT_LENGTH))
    if (name === undefined) return email
    if (plain.has(name)) return name
    if (!isShared(name)) plain.add(name)
    return `${name} (${email})`
  }
}
