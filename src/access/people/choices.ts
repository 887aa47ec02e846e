import { z } from 'zod'
import { type DataServices, type Db, inTransaction, type Transaction } from '../../foundation/database/client.ts'
import { type Locale, localeTags } from '../../foundation/texts/language.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { personName } from './names.ts'
import { identityOf, lockIdentity } from './proof.ts'
import { ownerOf, type Session } from './sessions.ts'

/** Empty: as the browser says. */
export const chosenLocale = namedObject({
  Locale: z.enum(['', ...localeTags], `must be one of ${localeTags.join(', ')}, or empty for what the browser says`),
})

export const chosenName = namedObject({ Name: personName })

interface Choices {
  /** How pages are written. Null: as the browser says. */
  readonly locale: Locale | null
  readonly name: string
}

const choices = {
  locale: { member: 'language', action: 'account.language-changed' },
  name: { member: 'name', action: 'account.name-changed' },
} as const

/** Sets a choice of the signed-in person, which counts in all areas and stores. */
export async function choose<Choice extends keyof Choices>(
  { db, now }: DataServices,
  session: Session,
  choice: Choice,
  to: Choices[Choice],
  actor: Actor,
): Promise<void> {
  const { identityId: id, email } = identityOf(session)
  await inTransaction(db, async (tx) => {
    await lockIdentity(tx, session)
    const { [choice]: from } = await readChoices(tx, session)
    if (from === to) return
    await tx.identity.update({ where: { id }, data: { [choice]: to } })
    const { member, action } = choices[choice]
    const details = { [member]: { from: from || null, to: to || null } }
    await recordAudit(tx, now, { actor, target: email, ...ownerOf(session.person), action, details })
  })
}

export function readChoices(db: Db | Transaction, session: Session) {
  const where = { id: identityOf(session).identityId }
  return db.identity.findUniqueOrThrow({ where, select: { locale: true, name: true } })
}
