import type { DataServices } from '../../foundation/database/client.ts'
import type { Mail } from '../../foundation/database/generated/client.ts'
import { claimFree, leases } from '../../foundation/database/leases.ts'
import { isOpenStore } from '../../foundation/database/open-stores.ts'
import { type Sql, sql } from '../../foundation/database/sql.ts'
import { nextTry } from '../../foundation/outbound/retry-schedule.ts'
import type { Config } from '../../foundation/process/settings.ts'
import { createWorker } from '../../foundation/process/worker.ts'
import { kindsOf } from './kinds.ts'
import type { MailMetrics } from './metrics.ts'
import type { Content } from './render.ts'
import { type Attempt, smtpSender } from './smtp.ts'

/** The number of mails sent at the same time. */
const BATCH_MAX = 5
const EVERY_MS = 5_000
const GIVEN_UP_MS = 48 * 3_600_000
/** How long attempts in progress may go on when the process stops. */
const STOP_MS_MAX = 5_000

export interface SendingServices extends DataServices {
  readonly config: Pick<Config, 'smtpUrl' | 'mailFrom'>
  readonly metrics: MailMetrics
  readonly log: { warn(details: object, message: string): void }
}

export type Mails = ReturnType<typeof createMails>

/** What a mail says, and how it is sent. */
export type Prepared = Content & { readonly subject: string }

/** Mails that wait for one another: at most five of them are sent at a time, and those of another queue are not behind them. */
interface Queue {
  readonly where: Sql
  /** Makes what is sent of a mail, at each attempt. Null: nothing is now, and what becomes of it is noted. */
  readonly prepare: (mail: Mail) => Promise<Prepared | null>
  /** The last attempt is made at this age, or as soon after it as a process runs. */
  readonly givenUpMs: number
}

/** The mails to people who work here and to developers, and those with links. */
function mailsOfPeople({ secrets }: SendingServices): Queue {
  return {
    where: sql`"orderId" IS NULL`,
    prepare: async ({ subject, contentSealed }) => ({ ...JSON.parse(secrets.open(contentSealed ?? '')), subject }),
    givenUpMs: GIVEN_UP_MS,
  }
}

/**
 * Sends the mails of a queue that are due, at least once each: one whose process was killed behind the server's answer is sent again
 * under the same Message-ID. Any number of processes may run this on one database.
 */
export function createMails(services: SendingServices, queue: Queue = mailsOfPeople(services)) {
  const { log, config } = services
  const sendBySmtp = smtpSender(config)
  const stopping = new AbortController()
  async function send(mail: Mail): Promise<void> {
    const prepared = await queue.prepare(mail)
    if (prepared === null || sendBySmtp === null) return
    const { messageId, recipient, createdAt } = mail
    const attempt = await sendBySmtp({ ...prepared, messageId, recipient, createdAt }, stopping.signal)
    // The lease ends with the process, and another one begins again.
    if (attempt.outcome !== 'sent' && stopping.signal.aborted) return
    await settle(services, { ...mail, subject: prepared.subject }, attempt, queue.givenUpMs)
  }

  const worker = createWorker<Mail>({
    log,
    complaint: 'mails could not be looked for',
    everyMs: EVERY_MS,
    claim: () => claimDue(services, queue),
    work: send,
    failed: ({ id: mailId, kind }) => [{ mailId, kind }, 'an attempt to send a mail has failed'],
  })
  return {
    ...worker,
    /** Resolves when the attempts in progress have ended. They have 5 s. */
    async stop(): Promise<void> {
      const timer = setTimeout(() => stopping.abort(), STOP_MS_MAX)
      await worker.stop()
      clearTimeout(timer)
    },
  }
}

/** They tell a person of sign-ins and changes, whatever becomes of the store. The others of a closed store wait. */
const ofPersons = kindsOf('person')

function claimDue({ db, now }: SendingServices, queue: Queue): Promise<Mail[]> {
  const wanted = {
    key: ['id'],
    where: sql`"state" = 'waiting' AND ${queue.where} AND ("kind" = ANY (${ofPersons}) OR ${isOpenStore(sql`"Mail"."storeId"`)})`,
    order: 'nextAttemptAt',
    limit: BATCH_MAX,
  }
  return claimFree(db, leases.mail, now, wanted)
}

/** Writes nothing for an attempt past its lease, because the next one has begun. */
async function settle(
  { db, now, log, metrics }: SendingServices,
  { id, kind, attempts, createdAt, subject }: Mail,
  attempt: Attempt,
  givenUpMs: number,
): Promise<void> {
  const where = { id, attempts, state: 'waiting' }
  if (attempt.outcome === 'sent') {
    metrics.attempted('sent')
    const data = { state: 'sent', sentAt: now(), subject, contentSealed: null, process: null, reason: '' }
    await db.mail.updateMany({ where, data })
    return
  }
  const { reason } = attempt
  const lastAt = new Date(createdAt.getTime() + givenUpMs)
  const isOver = attempt.outcome === 'bounced' || now() >= lastAt
  const state = isOver ? attempt.outcome : 'waiting'
  metrics.attempted(isOver ? attempt.outcome : 'retried')
  log.warn({ mailId: id, kind, attempts, state, reason }, 'a mail was not sent')
  const next = nextTry(attempts, now()) ?? lastAt
  const over = { state, contentSealed: null }
  const later = { nextAttemptAt: next < lastAt ? next : lastAt }
  await db.mail.updateMany({ where, data: { subject, reason, process: null, ...(isOver ? over : later) } })
}
