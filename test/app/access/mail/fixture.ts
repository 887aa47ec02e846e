import { Registry } from 'prom-client'
import type { MailData } from '../../../../src/access/mail/kinds.ts'
import { createMailMetrics } from '../../../../src/access/mail/metrics.ts'
import { createMails } from '../../../../src/access/mail/send.ts'
import { type MailServices, type NewMail, writeMail } from '../../../../src/access/mail/write.ts'
import type { Services } from '../../../../src/app.ts'
import { inTransaction } from '../../../../src/foundation/database/client.ts'
import { openServer, type TestServer } from '../../../support/store.ts'

const at = new Date('2026-03-10T16:00:00Z')
const browser = { at, address: '192.0.2.7', userAgent: 'Firefox on Windows' }
const link = '/a/link?token=abc'
/** What each kind of mail says. */
export const samples: { readonly [Kind in keyof MailData]: MailData[Kind] } = {
  invitation: { storeName: 'Garden Shop', role: 'a packer', invitedBy: 'ann@shop.example', link, expiresAt: at },
  reset: { link, expiresAt: at, accounts: ['the store Garden Shop', 'the developer account'] },
  'password-changed': browser,
  'new-browser': browser,
  'customer-link': { storeName: 'Garden Shop', link, expiresAt: at },
  'reply-to': { storeName: 'Garden Shop', link, expiresAt: at },
  'address-change': { link, expiresAt: at },
  'address-changed': { newEmail: 'new@shop.example' },
  'factor-changed': { what: 'An authenticator app was added.', at },
  'factor-ending': { endsAt: at, by: 'The operator' },
  deprecation: { what: 'GET /old answers as before. Send GET /new.', sunset: at, link: '/docs/changelog#a-line' },
  alert: { lines: ['A backup is late.', 'A webhook is paused.'], link },
}

let serial = 0

/** A mail of the background to an address of its own, with what `changes` says otherwise. */
export function notice(changes: Partial<NewMail> = {}): NewMail {
  const data = { newEmail: 'new@shop.example' }
  const of = { to: `person-${++serial}@shop.example`, identityId: null, storeId: null, causedBy: null }
  return { kind: 'address-changed', data, ...of, ...changes } as NewMail
}

/** Writes a mail in a transaction of its own. */
export function write(services: Pick<Services, 'db'> & MailServices, mail: NewMail): Promise<boolean> {
  return inTransaction(services.db, (tx) => writeMail(tx, services, mail))
}

/** What a process with these services sends mails to people by. */
export function senderOf(services: Services) {
  const registry = new Registry()
  return { ...createMails({ ...services, metrics: createMailMetrics(registry) }), registry }
}

/** Settings of a process that sends mail. */
export const sending = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'mail@shop.example' }

/** The same database behind a process with other settings. */
export function otherServer({ database }: TestServer, settings: Record<string, string>): Promise<TestServer> {
  return openServer(settings, async () => ({ ...database, drop: async () => {} }))
}

/** As if somebody had opened a link that was mailed to the address. */
export async function prove({ services: { db, now } }: TestServer, email: string): Promise<void> {
  await db.identity.updateMany({ where: { email }, data: { emailProvedAt: now() } })
}
