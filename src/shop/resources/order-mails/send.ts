import { createMails, type Mails, type Prepared, type SendingServices } from '../../../access/mail/send.ts'
import { mailsAre } from '../../../access/mail/write.ts'
import { operatorCaller } from '../../../access/stores/caller-store.ts'
import { locks } from '../../../foundation/database/advisory-locks.ts'
import { inTransaction, queryRows } from '../../../foundation/database/client.ts'
import type { Mail } from '../../../foundation/database/generated/client.ts'
import { sql } from '../../../foundation/database/sql.ts'
import type { Config } from '../../../foundation/process/settings.ts'
import { type ComposingServices, compose } from './compose.ts'
import type { MailKind } from './kinds.ts'

const DAY_MS = 86_400_000
/** Nobody waits for the news of a week ago. */
const GIVEN_UP_MS = 7 * DAY_MS

/**
 * The most mails of orders in a day, which begins at midnight in UTC, and why one waits with which nothing is wrong. A store: a shop of
 * five sends a tenth of it, and a mail server that gets more of one sender takes it for spam. An address: an order in three parcels that
 * is paid, refunded and returned has ten.
 */
export const perDay = {
  store: { max: 2_000, reason: 'The store has sent as many mails to customers today as a day may have' },
  address: { max: 20, reason: 'The address has got as many mails today as a day may have' },
} as const

type OrderMailServices = SendingServices & ComposingServices & { readonly config: Pick<Config, 'sandbox'> }

/**
 * Sends the mails of orders that are due, beside those of people and within bounds of their own; what is beyond them waits for the next
 * day. Their text is made at each attempt. In a sandbox that sends nothing, they are shown.
 */
export function createOrderMails(services: OrderMailServices): Mails {
  const prepare = (mail: Mail) => prepareOne(services, mail as OrderMail)
  return createMails(services, { where: sql`"orderId" IS NOT NULL`, prepare, givenUpMs: GIVEN_UP_MS })
}

type OrderMail = Mail & { readonly kind: MailKind; readonly storeId: number; readonly orderId: number }

const claimed = ({ id, attempts }: Mail) => ({ id, attempts, state: 'waiting' })

async function prepareOne(services: OrderMailServices, mail: OrderMail): Promise<Prepared | null> {
  const { db, secrets, config, now } = services
  const end = async (data: Partial<Mail>) => {
    await db.mail.updateMany({ where: claimed(mail), data: { process: null, ...data } })
    return null
  }
  const giveUp = (problem: string) => end({ state: 'failed', reason: problem, contentSealed: null })
  if (now().getTime() - mail.createdAt.getTime() > GIVEN_UP_MS) return giveUp('It has waited for a week')
  const isShown = mailsAre(config) === 'shown' || !(await mayReach(services, mail))
  if (!isShown && !(await isWithinBounds(services, mail))) return null
  const caller = { ...(await operatorCaller(services, mail.storeId)), db }
  const given =
    mail.contentSealed === null ? undefined : { subject: mail.subject, body: secrets.open(mail.contentSealed) }
  const letter = await compose(services, caller, mail, given)
  if (letter === null) return giveUp('What it tells of is there no more')
  const { subject, text } = letter
  return isShown ? end({ state: 'shown', subject, contentSealed: secrets.seal(JSON.stringify({ text })) }) : letter
}

/** Nobody but its developer is to be bothered by what is tried out in a test store. */
async function mayReach({ db }: OrderMailServices, { storeId, recipient }: OrderMail): Promise<boolean> {
  const developer = { select: { identity: { select: { email: true, emailProvedAt: true } } } } as const
  const test = await db.testStore.findUnique({ where: { storeId }, select: { developer } })
  const { email, emailProvedAt = null } = test?.developer?.identity ?? {}
  return test === null || (emailProvedAt !== null && email?.toLowerCase() === recipient.toLowerCase())
}

/** Counts a mail of the day under a lock, so that no number of processes exceeds a bound; beyond one, it waits for the next day. */
async function isWithinBounds({ db, now }: OrderMailServices, mail: OrderMail): Promise<boolean> {
  const { id, storeId, recipient } = mail
  const day = new Date(Math.floor(now().getTime() / DAY_MS) * DAY_MS)
  return inTransaction(db, async (tx) => {
    await tx.$executeRaw`SELECT pg_advisory_xact_lock(${locks.orderMails}::int, ${storeId}::int)`
    const [sent] = await queryRows<{ store: number; address: number }>(tx)`
      SELECT count(*)::int AS "store", (count(*) FILTER (WHERE lower("recipient") = lower(${recipient}::text)))::int AS "address"
      FROM "Mail" WHERE "storeId" = ${storeId}::int AND "orderId" IS NOT NULL AND "sentAt" >= ${day.toISOString()}::timestamptz AND "id" <> ${id}::int`
    const beyond = (['store', 'address'] as const).find((bound) => (sent?.[bound] ?? 0) >= perDay[bound].max)
    const later = { nextAttemptAt: new Date(day.getTime() + DAY_MS), process: null }
    const data = beyond ? { reason: perDay[beyond].reason, ...later } : { sentAt: now() }
    const { count } = await tx.mail.updateMany({ where: claimed(mail), data })
    return count > 0 && beyond === undefined
  })
}
