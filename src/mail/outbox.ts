import type { DataServices, Db } from '../database/client.ts'
import type { Content } from './render.ts'
import { type MailConfig, mailsAre } from './write.ts'

export interface OutboxPage {
  readonly limit: number
  /** Only mails written before the one with this id. */
  readonly before?: number | undefined
}

const columns = {
  id: true,
  recipient: true,
  subject: true,
  state: true,
  reason: true,
  createdAt: true,
  sentAt: true,
} as const

const ofTest = { select: { testStore: { select: { state: true } } } } as const

/** Who reads an outbox: the mails to the own address, and an owner all of the store's. The links of others would open more. */
export interface OutboxReader {
  readonly email: string
  /** Null: not an owner. */
  readonly storeId: number | null
}

function readableBy({ email, storeId }: OutboxReader) {
  const own = { recipient: email }
  return { state: { not: 'void' }, OR: storeId === null ? [own] : [own, { storeId }] }
}

/** Lists mails without their content, the newest first. */
export function listMails(db: Db, reader: OutboxReader, { limit, before }: OutboxPage) {
  const where = { ...readableBy(reader), ...(before !== undefined && { id: { lt: before } }) }
  return db.mail.findMany({ where, orderBy: { id: 'desc' }, take: limit, select: columns })
}

type OutboxServices = Pick<DataServices, 'db' | 'secrets'> & { readonly config: MailConfig }

/**
 * Returns a mail, or null. Its text is there only in a sandbox that sends nothing, and of a developer's test store: whoever
 * reads a mail that is sent could use the links of its recipient.
 */
export async function findMail({ db, secrets, config }: OutboxServices, reader: OutboxReader, id: number) {
  const where = { id, ...readableBy(reader) }
  const mail = await db.mail.findFirst({ where, select: { ...columns, contentSealed: true, store: ofTest } })
  if (mail === null) return null
  const { contentSealed, store, ...shown } = mail
  const isUnsent = mailsAre(config) === 'shown' || (store?.testStore ?? null) !== null
  const isReadable = isUnsent && mail.state === 'shown' && contentSealed !== null
  return { ...shown, text: isReadable ? (JSON.parse(secrets.open(contentSealed)) as Content).text : null }
}
