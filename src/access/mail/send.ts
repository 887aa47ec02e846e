import type { DataServices } from '../../foundation/database/client.ts'
import type { Mail } from '../../foundation/database/generated/client.ts'
import { claimFree, leases } from '../../foundation/database/leases.ts'
import { sql } from '../../foundation/database/sql.ts'
import { nextTry } from '../../foundation/outbound/retry-schedule.ts'
import type { Config } from '../../foundation/process/settings.ts'
import { createWorker } from '../../foundation/process/worker.ts'
import type { MailMetrics } from './metrics.ts'
import type { Content } from './render.ts'
import { type Attempt, smtpSender } from './smtp.ts'

/** The number of mails sent at the same time. */
const BATCH_MAX = 5
const EVERY_MS = 5_000
/** The last attempt is made at this age, or as soon after it as a process runs. */
const GIVEN_UP_MS = 48 * 3_600_000
/** How long attempts in progress may go on when the process stops. */
const STOP_MS_MAX = 5_000

export interface SendingServices extends DataServices {
  readonly config: { readonly smtpUrl: string; readonly mailFrom: NonNullable<Config['mailFrom']> }
  readonly metrics: MailMetrics
  readonly log: { warn(details: object, message: string): void }
}

export type Mails = ReturnType<typeof createMails>

/**
 * Sends the mails that are due, at least once each: one whose process was killed behind the server's answer is sent again
 * under the same Message-ID. Any number of processes may run this on one database.
 */
export function createMails(services: SendingServices) {
  const { db, now, log } = services
  const sendBySmtp = smtpSender(services.config)
  const stopping = new AbortController()
  async function send(mail: Mail): Promise<void> {
    const { messageId, recipient, subject, createdAt, contentSealed } = mail
    const content = JSON.parse(services.secrets.open(contentSealed ?? '')) as Content
    const attempt = await sendBySmtp({ ...content, messageId, recipient, subject, createdAt }, stopping.signal)
    // The lease ends with the process, and another one begins again.
    if (attempt.outcome !== 'sent' && stopping.signal.aborted) return
    await settle(services, mail, attempt)
  }

  const wanted = { key: ['id'], where: sql`"state" = 'waiting'`, order: 'nextAttemptAt', limit: BATCH_MAX }
  const worker = createWorker<Mail>({
    log,
    complaint: 'mails could not be looked for',
    everyMs: EVERY_MS,
    claim: () => claimFree(db, leases.mail, now, wanted),
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

/** Writes nothing for an attempt past its lease, because the next one has begun. */
async function settle(
  { db, now, log, metrics }: SendingServices,
  { id, kind, attempts, createdAt }: Mail,
  attempt: Attempt,
): Promise<void> {
  const where = { id, attempts, state: 'waiting' }
  if (attempt.outcome === 'sent') {
    metrics.attempted('sent')
    const data = { state: 'sent', sentAt: now(), contentSealed: null, process: null, reason: '' }
    await db.mail.updateMany({ where, data })
    return
  }
  const { reason } = attempt
  const lastAt = new Date(createdAt.getTime() + GIVEN_UP_MS)
  const isOver = attempt.outcome === 'bounced' || now() >= lastAt
  const state = isOver ? attempt.outcome : 'waiting'
  metrics.attempted(isOver ? attempt.outcome : 'retried')
  log.warn({ mailId: id, kind, attempts, state, reason }, 'a mail was not sent')
  const next = nextTry(attempts, now()) ?? lastAt
  const later = { reason, process: null, nextAttemptAt: next < lastAt ? next : lastAt }
  await db.mail.updateMany({ where, data: isOver ? { state, reason, process: null, contentSealed: null } : later })
}
