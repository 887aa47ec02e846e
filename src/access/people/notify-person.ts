import type { Transaction } from '../../foundation/database/client.ts'
import type { Actor } from '../audit/audit.ts'
import type { Wording } from '../mail/render.ts'
import { type MailServices, writeMail } from '../mail/write.ts'
import { identityOf } from './proof.ts'
import type { Session } from './sessions.ts'

/** Mails the signed-in person what was changed of the own account. Beyond the bounds of mails there is none. */
export async function notifyPerson(
  tx: Transaction,
  services: MailServices,
  session: Session,
  { locale }: Actor,
  wording: Wording,
): Promise<void> {
  const { person } = session
  const { identityId, email: to } = identityOf(session)
  // The store's zone shows the dates.
  const storeId = person.kind === 'merchant' ? person.store.id : null
  await writeMail(tx, services, { ...wording, to, identityId, storeId, causedBy: null, locale })
}
