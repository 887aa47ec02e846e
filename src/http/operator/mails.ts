import { z } from 'zod'
import { listMailboxMails, type MailboxMail, type OutboxServices } from '../../access/mail/outbox.ts'
import { id, operatorRoute, time } from '../html/route-groups.ts'
import { many, record } from '../server/json/json-routes.ts'
import { pageQuery } from '../server/json/parameters.ts'

const mail = record<MailboxMail>('Mail')({
  Id: id.describe('The number of the mail.'),
  Kind: z.string().describe('What it is for: `invitation`, `reset` or `address-change`.'),
  To: [z.string().describe('The e-mail address that it is for.'), (from) => from.recipient],
  Text: z.string().describe('What it says, with its link on a line of its own.'),
  DateCreated: time.describe('The time at which it was written.'),
})

export const mailRoutes = [
  operatorRoute('GET /admin/mails', {
    roles: ['operator-key'],
    id: 'listMails',
    summary: 'Read the links that a sandbox does not mail',
    description:
      'The mails that let somebody in, prove an address or set a password, of the last 30 days, the newest first. Only in a sandbox without SMTP_URL, where no mail leaves the server; elsewhere there are none, because nobody but the recipient reads them.',
    query: pageQuery,
    answers: { 200: many('Mails, the newest first.', mail) },
    run: ({ query }, services: OutboxServices) => listMailboxMails(services, query),
  }),
]
