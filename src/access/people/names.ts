import type { Caller } from '../../engine/caller.ts'
import { type DataServices, inTransaction } from '../../foundation/database/client.ts'
import { namedObject, text } from '../../foundation/values/input.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { identityOf, lockIdentity } from './proof.ts'
import { ownerOf, type Session } from './sessions.ts'

export const PERSON_NAME_LENGTH_MAX = 100

/** What others call a person; empty: by the e-mail address. Nobody's name looks like the address of somebody else. */
export const personName = text(PERSON_NAME_LENGTH_MAX, 0).refine((name) => !name.includes('@'), 'must not have an @')

export const chosenName = namedObject({ Name: personName })

/** Sets what the signed-in person is called, in all areas and stores. */
export async function chooseName({ db, now }: DataServices, session: Session, name: string, actor: Actor) {
  const { identityId, email: target } = identityOf(session)
  await inTransaction(db, async (tx) => {
    await lockIdentity(tx, session)
    const where = { id: identityId }
    const before = await tx.identity.findUniqueOrThrow({ where, select: { name: true } })
    await tx.identity.update({ where, data: { name } })
    const about = { actor, target, ...ownerOf(session.person), action: 'account.name-changed' } as const
    await recordAudit(tx, now, { ...about, details: { name: { from: before.name || null, to: name || null } } })
  })
}

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
