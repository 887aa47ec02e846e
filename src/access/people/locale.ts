import { z } from 'zod'
import { type DataServices, inTransaction } from '../../foundation/database/client.ts'
import { type Locale, localeTags } from '../../foundation/texts/language.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { identityOf, lockIdentity } from './proof.ts'
import { ownerOf, type Session } from './sessions.ts'

/** Empty: as the browser says. */
export const chosenLocale = namedObject({
  Locale: z.enum(['', ...localeTags], `must be one of ${localeTags.join(', ')}, or empty for what the browser says`),
})

/** Sets how pages are written for the signed-in person, in all areas and stores. Null: as the browser says. */
export async function chooseLocale(
  { db, now }: DataServices,
  session: Session,
  locale: Locale | null,
  actor: Actor,
): Promise<void> {
  const { identityId, email } = identityOf(session)
  await inTransaction(db, async (tx) => {
    await lockIdentity(tx, session)
    const where = { id: identityId }
    const { locale: former } = await tx.identity.findUniqueOrThrow({ where, select: { locale: true } })
    if (former === locale) return
    await tx.identity.update({ where, data: { locale } })
    const details = { language: { from: former, to: locale } }
    const about = { actor, target: email, ...ownerOf(session.person), details }
    await recordAudit(tx, now, { ...about, action: 'account.language-changed' })
  })
}
