import type { FastifyInstance, FastifyReply } from 'fastify'
import { mailsAre } from '../../../../access/mail/write.ts'
import {
  type CustomerLinkServices,
  LINK_MINUTES,
  mailedTo,
  sendCustomerLink,
} from '../../../../access/people/customer-links.ts'
import { english } from '../../../../foundation/texts/language.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { type CustomerRecord, customers } from '../../../../shop/resources/customers/customers.ts'
import { addNote, deleteNote } from '../../../../shop/resources/customers/notes.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { adminPages } from '../../../html/page-routes.ts'
import { actorOf, type CallerServices, merchantOf, textIn } from '../../../html/request.ts'
import { addOnce } from '../../frame/once.ts'
import { idIn, type RecordRequest, recordPages } from '../../frame/pages.ts'
import { recordPage } from '../../records/record-page.ts'
import { seenBy } from '../../records/seen.ts'
import { titleOf } from '../../records/values.ts'
import { customerService } from './special.ts'

export type CustomerPagesServices = CallerServices & CustomerLinkServices

/** Adds what is done on the page of a customer: the shop's notes, and the link that signs the customer in. */
export function customerPages(app: FastifyInstance, services: CustomerPagesServices): void {
  const { form, pair } = recordPages(adminPages(app, ['Customers', 'write']), services, customers)
  const address = '/admin/customers/:id'
  form(`${address}/notes`, shownAgain, async ({ caller, id, typed }, { request }) => {
    const note = { text: textIn(typed, 'Note'), writtenBy: merchantOf(request).email }
    await addOnce(caller, typed, {
      scope: `note of customer ${id}`,
      resultKey: 'NoteID',
      add: (remember) => addNote(caller, id, note, remember),
      messages: {
        isDone: 'This form has added a note already. If you want to add this one too, press the button again',
        isPending: 'This note is being added. It appears on the page in a moment',
      },
    })
    return `/admin/customers/${id}?notice=note-added#notes`
  })
  form(`${address}/notes/:noteId/delete`, shownAgain, async (asked) => {
    const { caller, id } = asked
    await deleteNote(caller, id, idIn(asked, 'noteId'))
    return `/admin/customers/${id}?notice=note-deleted#notes`
  })
  const linkPage = (asked: RecordRequest<CustomerRecord>) => linkPageOf(asked, services)
  // A link that is not mailed is shown once.
  pair(`${address}/sign-in-link`, linkPage, async (asked, { request }) => {
    const { caller, id, record } = asked
    const name = english(titleOf(customerService, record))
    const link = await sendCustomerLink(services, caller, { customerId: id, name, actor: actorOf(request) })
    return link === null ? `/admin/customers/${id}?notice=customer-link-mailed` : linkPageOf(asked, services, link)
  })
}

async function shownAgain(asked: RecordRequest<CustomerRecord>, reply: FastifyReply): Promise<HtmlPage> {
  const page = await recordPage(asked, seenBy(asked.caller.privileges, customerService), reply)
  return { ...page, values: asked.typed ?? {} }
}

function linkPageOf(
  { record }: RecordRequest<CustomerRecord>,
  services: CustomerPagesServices,
  link: string | null = null,
): HtmlPage {
  const name = titleOf(customerService, record)
  return {
    template: '/pages/shop/customers/sign-in-link',
    title: t('Sign-in link for {name}', { name }),
    data: {
      name,
      isEnabled: record.Enabled,
      mailedTo: mailedTo(services, record.Email),
      isUnsent: mailsAre(services.config) === 'shown',
      minutes: LINK_MINUTES,
      link,
    },
  }
}
