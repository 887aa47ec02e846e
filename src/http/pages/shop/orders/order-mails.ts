import { allows } from '../../../../access/applications/privileges.ts'
import { type MailConfig, mailsAre } from '../../../../access/mail/write.ts'
import type { Caller } from '../../../../engine/caller.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { type MailKind, placeholders } from '../../../../shop/resources/order-mails/kinds.ts'
import { readMails, sendAgain, writeMessage } from '../../../../shop/resources/order-mails/of-order.ts'
import { lengthMax, readMessage } from '../../../../shop/resources/order-mails/settings.ts'
import { invoiceOf } from '../../../../shop/resources/orders/shown-invoice-number.ts'
import type { HtmlPage } from '../../../html/page.ts'
import type { CallerServices } from '../../../html/request.ts'
import { idIn, type Sent } from '../../frame/pages.ts'
import { mailKindTitles } from '../../records/order-words.ts'
import type { OrderRequest } from './special.ts'

export type OrderMailServices = CallerServices & { readonly config: MailConfig }

/** The mails of an order among what became of it. */
export async function mailRows(caller: Caller & CallerServices, orderId: number) {
  return (await readMails(caller, orderId)).map((mail) => ({
    at: mail.sentAt ?? mail.createdAt,
    who: allows(caller.privileges, 'Customers', 'read') ? mail.recipient : '',
    mail: {
      ...mail,
      title: mailKindTitles[mail.kind as MailKind],
      canRepeat: mail.kind !== 'order-message' && mail.state !== 'waiting',
    },
  }))
}

export async function messagePage({ record: order, typed }: OrderRequest): Promise<HtmlPage> {
  const title = t('Write to the customer of order {number}', { number: invoiceOf(order) })
  const data = { order, placeholders: placeholders['order-message'], lengthMax }
  return { template: '/pages/shop/orders/message', title, values: typed ?? {}, data }
}

/** Returns the form that sends the message which its page has, and that which sends a mail again. */
export function mailForms(services: OrderMailServices) {
  const form = (send: (asked: Sent<OrderRequest>) => Promise<void>) => async (asked: Sent<OrderRequest>) => {
    if (mailsAre(services.config) === 'none') throw new StoreFailure('invalid-state', 'This server cannot send mail')
    await send(asked)
    return `/admin/orders/${asked.id}?notice=message-written`
  }
  return {
    sendMessage: form(async ({ caller, id, typed }) => {
      const message = await readMessage(services, caller.store.id, typed)
      await writeMessage(caller, services.secrets, id, message)
    }),
    sendAgain: form(({ caller, id, params }) => sendAgain(caller, id, idIn({ params }, 'mailId'))),
  }
}
