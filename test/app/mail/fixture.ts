import { Registry } from 'prom-client'
import type { Services } from '../../../src/app.ts'
import { inTransaction } from '../../../src/database/client.ts'
import { createMailMetrics } from '../../../src/mail/metrics.ts'
import { createMails } from '../../../src/mail/send.ts'
import { type MailServices, type NewMail, writeMail } from '../../../src/mail/write.ts'

let serial = 0

/** A mail of the background to an address of its own, with what `changes` says otherwise. */
export function notice(changes: Partial<NewMail> = {}): NewMail {
  const data = { newEmail: 'new@shop.example' }
  const whole = { kind: 'address-changed', data, to: `person-${++serial}@shop.example`, storeId: null, causedBy: null }
  return { ...whole, ...changes } as NewMail
}

/** Writes a mail in a transaction of its own. */
export function write(services: Pick<Services, 'db'> & MailServices, mail: NewMail): Promise<boolean> {
  return inTransaction(services.db, (tx) => writeMail(tx, services, mail))
}

/** What a process with these settings sends by; the settings must have SMTP_URL. */
export function senderOf({ config, log, ...services }: Services) {
  const { smtpUrl, mailFrom } = config
  if (smtpUrl === null || mailFrom === null) throw new Error('No SMTP_URL')
  const registry = new Registry()
  const metrics = createMailMetrics(registry)
  const mails = createMails({ ...services, log, metrics, config: { smtpUrl, mailFrom } })
  return { ...mails, registry }
}
