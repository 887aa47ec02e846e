import type { DataServices, Db, PageBefore, Paging } from '../../foundation/database/client.ts'
import { kindsOf } from './kinds.ts'
import type { Content } from './render.ts'
import { type MailConfig, mailsAre } from './write.ts'

const ofTest = { select: { testStore: { select: { state: true } } } } as const

/** Who reads an outbox: the mails of the own identity, and an owner those to the store's customers. */
export interface OutboxReader {
  readonly identityId: number
  /** Null: not an owner. */
  readonly storeId: number | null
}

function readableBy({ identityId, storeId }: OutboxReader) {
  const own = { identityId }
  if (storeId === null) return own
  const toCustomers = { storeId, kind: { in: kindsOf('customer') }, state: { not: 'void' } }
  return { OR: [own, toCustomers, { storeId, orderId: { not: null } }] }
}

/** Lists mails without their content, the newest first, from before the one with the id `before`. */
export function listMails(db: Db, reader: OutboxReader, { limit, before }: PageBefore) {
  const where = { ...readableBy(reader), ...(before !== undefined && { id: { lt: before } }) }
  return db.mail.findMany({ where, orderBy: { id: 'desc' }, take: limit, omit: { contentSealed: true } })
}

export type OutboxServices = Pick<DataServices, 'db' | 'secrets'> & { readonly config: MailConfig }

/**
 * Returns a mail, or null. Its text is there only in a sandbox that sends nothing, and of a developer's test store: whoever
 * reads a mail that is sent could use the links of its recipient.
 */
export async function findMail({ db, secrets, config }: OutboxServices, reader: OutboxReader, id: number) {
  const where = { id, ...readableBy(reader) }
  const mail = await db.mail.findFirst({ where, include: { store: ofTest } })
  if (mail === null) return null
  const { contentSealed, store, ...shown } = mail
  const isUnsent = mailsAre(config) === 'shown' || (store?.testStore ?? null) !== null
  const isReadable = isUnsent && mail.state === 'shown' && contentSealed !== null
  return { ...shown, text: isReadable ? (JSON.parse(secrets.open(contentSealed)) as Content).text : null }
}

export type MailboxMail = Awaited<ReturnType<typeof listMailboxMails>>[number]

/**
 * Lists the mails that let somebody in, prove an address or set a password, with their text, the newest first, for the operator of a
 * sandbox that sends nothing. Elsewhere there are none.
 */
export async function listMailboxMails({ db, secrets, config }: OutboxServices, { limit, offset }: Paging) {
  if (mailsAre(config) !== 'shown') return []
  const where = { state: 'shown', kind: { in: kindsOf('mailbox') }, contentSealed: { not: null } }
  const mails = await db.mail.findMany({ where, orderBy: { id: 'desc' }, take: limit, skip: offset })
  return mails.map((mail) => ({ ...mail, text: (JSON.parse(secrets.open(mail.contentSealed ?? '')) as Content).text }))
}
