import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { mailsAre } from '../../../../access/mail/write.ts'
import {
  type CustomerLinkServices,
  LINK_MINUTES,
  mailedTo,
  sendCustomerLink,
} from '../../../../access/people/customer-links.ts'
import { getRecord } from '../../../../engine/reading/read.ts'
import { english } from '../../../../foundation/texts/language.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { customers } from '../../../../shop/resources/customers/customers.ts'
import { addNote, deleteNote } from '../../../../shop/resources/customers/notes.ts'
import { type HtmlPage, sendPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, formOf, merchantCaller, merchantOf, textIn } from '../../../html/request.ts'
import { readIds } from '../../../server/json/parameters.ts'
import { addOnce } from '../../frame/once.ts'
import { idIn, recordPage } from '../../records/record-page.ts'
import { seenBy } from '../../records/seen.ts'
import { targetService } from '../../records/services.ts'
import { titleOf } from '../../records/values.ts'

export type CustomerPagesServices = CallerServices & CustomerLinkServices

/** Adds what is done on the page of a customer: the shop's notes, and the link that signs the customer in. */
export function customerPages(app: FastifyInstance, services: CustomerPagesServices): void {
  const { page, form } = adminPages(app, ['Customers', 'write'])
  const again = async (request: FastifyRequest, reply: FastifyReply): Promise<HtmlPage> => {
    const service = seenBy(merchantCaller(request, services).privileges, targetService(customers))
    return { ...(await recordPage(request, reply, services, service)), values: formOf(request) }
  }
  form('/admin/customers/:id/notes', (request) => takeNote(request, services), again)
  form(
    '/admin/customers/:id/notes/:noteId/delete',
    async (request) => {
      const { id, noteId } = readIds(request.params, 'id', 'noteId')
      await deleteNote(merchantCaller(request, services), id, noteId)
      return `/admin/customers/${id}?notice=note-deleted#notes`
    },
    again,
  )
  const link = '/admin/customers/:id/sign-in-link'
  page(link, (request) => linkPage(request, services))
  form(
    link,
    (request, reply) => makeLink(request, reply, services),
    (request) => linkPage(request, services),
  )
}

async function takeNote(request: FastifyRequest, services: CallerServices): Promise<string> {
  const id = idIn(request)
  const caller = merchantCaller(request, services)
  const form = formOf(request)
  // The key of a form is claimed for a customer that there is.
  await getRecord(caller, customers, id)
  await addOnce(caller, form, {
    scope: `note of customer ${id}`,
    resultKey: 'NoteID',
    add: (remember) =>
      addNote(caller, id, { text: textIn(form, 'Note'), writtenBy: merchantOf(request).email }, remember),
    idOf: Number,
    messages: {
      isDone: 'This form has added a note already. If you want to add this one too, press the button again',
      isPending: 'This note is being added. It appears on the page in a moment',
    },
  })
  return `/admin/customers/${id}?notice=note-added#notes`
}

async function customerIn(request: FastifyRequest, services: CallerServices) {
  const id = idIn(request)
  const record = JSON.parse(await getRecord(merchantCaller(request, services), customers, id))
  return { id, name: titleOf(targetService(customers), record), email: record.Email, isEnabled: record.Enabled }
}

async function linkPage(request: FastifyRequest, services: CustomerPagesServices): Promise<HtmlPage> {
  const { id, name, email, isEnabled } = await customerIn(request, services)
  const isUnsent = mailsAre(services.config) === 'shown'
  return {
    template: '/pages/shop/customers/sign-in-link',
    title: t('Sign-in link for {name}', { name }),
    data: { id, name, isEnabled, mailedTo: mailedTo(services, email), isUnsent, minutes: LINK_MINUTES, link: null },
  }
}

/** A link that is not mailed is shown once. */
async function makeLink(request: FastifyRequest, reply: FastifyReply, services: CustomerPagesServices) {
  const { id, name } = await customerIn(request, services)
  const caller = merchantCaller(request, services)
  const link = await sendCustomerLink(services, caller, {
    customerId: id,
    name: english(name),
    actor: actorOf(request),
  })
  if (link === null) return `/admin/customers/${id}?notice=customer-link-mailed`
  const shown = await linkPage(request, services)
  return sendPage(reply, { ...shown, data: { ...shown.data, link } })
}
