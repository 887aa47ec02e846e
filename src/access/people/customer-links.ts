import type { Caller } from '../../engine/caller.ts'
import { inStoreTransaction } from '../../foundation/database/client.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type MailServices, mailsAre, writeMail } from '../mail/write.ts'
import { type CustomerTokenServices, issueCustomerToken } from './customer-tokens.ts'

// The link by which the shop's people let a customer sign in: it is mailed, or handed over by them where no mail can be.

export type CustomerLinkServices = MailServices & Pick<CustomerTokenServices, 'secrets'>

export const LINK_MINUTES = 60

/** Where a link for a customer with this address goes to; null: nowhere, it is shown to whoever makes it. */
export function mailedTo({ config }: Pick<MailServices, 'config'>, email: string | null): string | null {
  return email === null || email === '' || mailsAre(config) === 'none' ? null : email
}

/**
 * Makes a link that signs a customer in once, within an hour, and mails it; records that in the audit log. Returns the link where no
 * mail can be sent, and null where it is mailed. `name` is what the customer is called. Throws for an unknown customer (404), a disabled
 * one (409), and beyond the bounds of mails (429).
 */
export function sendCustomerLink(
  services: CustomerLinkServices,
  caller: Caller,
  { customerId, name, actor }: { readonly customerId: number; readonly name: string; readonly actor: Actor },
): Promise<string | null> {
  const { store, now } = caller
  const expiresAt = new Date(now().getTime() + LINK_MINUTES * 60_000)
  return inStoreTransaction(caller, async (tx) => {
    const { secrets, config } = services
    const asked = { customerId, minutes: LINK_MINUTES }
    const tokens = { secrets, publicUrl: config.publicUrl }
    const { token, url } = await issueCustomerToken(tokens, { ...caller, db: tx }, asked)
    // Read under the lock of the customer, so that no link goes to an address that was just taken away.
    const where = { storeId_id: { storeId: store.id, id: customerId } }
    const { email } = await tx.customer.findUniqueOrThrow({ where, select: { email: true } })
    const to = mailedTo(services, email)
    const input = { actor, action: 'customer.link-made', target: name, storeId: store.id } as const
    await recordAudit(tx, now, { ...input, details: { mailed: to !== null } })
    if (to === null) return url
    const data = { storeName: store.name, link: `/account/sign-in?token=${token}`, expiresAt } as const
    await writeMail(tx, services, {
      kind: 'customer-link',
      to,
      storeId: store.id,
      causedBy: actor.address,
      locale: actor.locale,
      data,
    })
    return null
  })
}
