import { z } from 'zod'
import type { MailServices } from '../../access/mail/write.ts'
import { type InvitedOperator, inviteOperator, newOperator } from '../../access/people/operators.ts'
import type { DataServices } from '../../foundation/database/client.ts'
import { actorOf } from '../html/request.ts'
import { id, operatorRoute, time } from '../html/route-groups.ts'
import { jsonBody, one, record } from '../server/json/json-routes.ts'

const operator = record<InvitedOperator>('Operator')({
  Id: id.describe('The number of the operator’s account.'),
  Email: z.string().describe('The e-mail address with which the operator signs in.'),
  Link: z.string().describe('The link to hand over, by which the person chooses a password, once.'),
  ExpiresAt: time.describe('The time at which the link expires.'),
})

export const namedOperatorRoutes = [
  operatorRoute('POST /admin/operators', {
    roles: ['operator-key'],
    id: 'addOperator',
    summary: 'Let a person run the installation by its pages',
    description: 'For an address that is an operator’s already, the answer has a new link, and the former one ends.',
    body: jsonBody(newOperator, { Email: 'operator@server.example' }),
    answers: { 201: one('The operator, with the link.', operator) },
    refusals: [409],
    run: ({ request, body }, services: DataServices & MailServices) =>
      inviteOperator(services, body().Email, actorOf(request)),
  }),
]
