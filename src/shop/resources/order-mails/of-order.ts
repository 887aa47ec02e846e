import { randomUUID } from 'node:crypto'
import type { Caller } from '../../../engine/caller.ts'
import { type Db, inTransaction } from '../../../foundation/database/client.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import type { Secrets } from '../../../foundation/values/secrets.ts'
import type { MailText } from './texts.ts'

type Asking = Caller & { readonly db: Db }

const MAILS_MAX = 50

/** Reads the latest mails of an order, without their texts. */
export function readMails({ db, store }: Asking, orderId: number) {
  const where = { storeId: store.id, orderId }
  return db.mail.findMany({ where, orderBy: { id: 'desc' }, take: MAILS_MAX, omit: { contentSealed: true } })
}

/** What a new mail to the customer of an order has, at the address of the order. Throws for an order without one (409). */
async function addressed({ db, store, now }: Asking, orderId: number) {
  const order = await db.order.findFirst({ where: { storeId: store.id, id: orderId }, select: { billingEmail: true } })
  if (!order?.billingEmail) throw new StoreFailure('invalid-state', 'The order has no e-mail address')
  const messageId = `<${randomUUID()}@${new URL(store.secureUrl).hostname}>`
  const at = { nextAttemptAt: now(), createdAt: now() }
  return { storeId: store.id, orderId, recipient: order.billingEmail, messageId, state: 'waiting', ...at }
}

/** Writes to the customer of an order what a person says, which was checked by `readMessage`. */
export async function writeMessage(caller: Asking, { seal }: Secrets, orderId: number, { subject, body }: MailText) {
  const mail = await addressed(caller, orderId)
  await caller.db.mail.create({ data: { ...mail, kind: 'order-message', subject, contentSealed: seal(body) } })
}

/**
 * Sends a mail of an order that is over again, as the order is now and to its address as it is now. The former one stays beside it. Throws
 * for one that the order does not have (404), that still waits, or that a person wrote, of which nothing is kept (409).
 */
export async function sendAgain(caller: Asking, orderId: number, id: number): Promise<void> {
  const mail = await addressed(caller, orderId)
  await inTransaction(caller.db, async (tx) => {
    const own = { id, storeId: caller.store.id, orderId }
    const former = await tx.mail.findFirst({ where: own })
    if (former === null) throw new StoreFailure('not-found', 'The order has no such mail')
    const where = { ...own, kind: { not: 'order-message' }, state: { not: 'waiting' } }
    const { count } = await tx.mail.updateMany({ where, data: { kind: 'order-message' } })
    if (count === 0) throw new StoreFailure('invalid-state', 'This mail cannot be sent again')
    await tx.mail.create({ data: { ...mail, kind: former.kind, aboutId: former.aboutId, subject: former.subject } })
  })
}
