import { z } from 'zod'
import type { Caller } from '../../engine/caller.ts'
import {
  type DataServices,
  inStoreTransaction,
  inTransaction,
  type Transaction,
} from '../../foundation/database/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject, readInput } from '../../foundation/values/input.ts'
import { type Actor, recordAudit } from '../audit/audit.ts'
import { type MailServices, mailsAre, type NewMail, writeMail } from '../mail/write.ts'
import { openStoreAt } from '../stores/closing.ts'
import { type CustomerTokenServices, insertToken, issueCustomerToken } from './customer-tokens.ts'
import { emailInput, fieldFault } from './passwords.ts'
import type { Client } from './sessions.ts'

// The link by which a customer signs in: the shop's people make it, which is mailed, or handed over by them where no mail can be; or the
// customer asks for it.

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
  return inStoreTransaction(caller, async (tx) => {
    const { secrets, config } = services
    const asked = { customerId, minutes: LINK_MINUTES }
    const tokens = { secrets, publicUrl: config.publicUrl }
    const { url, link, expiresAt } = await issueCustomerToken(tokens, { ...caller, db: tx }, asked)
    // Read under the lock of the customer, so that no link goes to an address that was just taken away.
    const where = { storeId_id: { storeId: store.id, id: customerId } }
    const { email } = await tx.customer.findUniqueOrThrow({ where, select: { email: true } })
    const to = mailedTo(services, email)
    const input = { actor, action: 'customer.link-made', target: name, storeId: store.id } as const
    await recordAudit(tx, now, { ...input, details: { mailed: to !== null } })
    if (to === null) return url
    const { address: causedBy, locale } = actor
    await mailLink(tx, services, store, { link, expiresAt, to, causedBy, locale })
    return null
  })
}

type Addressed = Pick<NewMail, 'to' | 'causedBy' | 'locale' | 'isVoid'>

async function mailLink(
  tx: Transaction,
  services: MailServices,
  { id: storeId, name: storeName }: Caller['store'],
  { link, expiresAt, ...mail }: Addressed & Pick<Awaited<ReturnType<typeof insertToken>>, 'link' | 'expiresAt'>,
): Promise<void> {
  await writeMail(tx, services, { kind: 'customer-link', storeId, data: { storeName, link, expiresAt }, ...mail })
}

const linkRequest = namedObject({ Email: emailInput, Store: z.string('must be a text') })

/**
 * Mails a link that signs a customer in once, within an hour, to an address, if an enabled customer of the store has it. Whether one has
 * cannot be told: the same statements run and a mail's row is written either way. Throws for an address that is none, and a store that is
 * none (400) or closed (403), where no mail can be sent (409), and beyond the bounds of mails (429).
 */
export async function requestCustomerLink(
  services: MailServices & Pick<DataServices, 'db'>,
  input: unknown,
  { address, locale }: Pick<Client, 'address' | 'locale'>,
): Promise<void> {
  const { db, config } = services
  const { Email, Store } = readInput(linkRequest, input)
  if (mailsAre(config) === 'none') {
    throw new StoreFailure('invalid-state', 'This server sends no mail: the shop can hand you a link')
  }
  const store = await openStoreAt(db, Store)
  if (store === null) throw fieldFault('Store', 'must be the address of a shop, such as shop.example')
  await inTransaction(db, async (tx) => {
    const [customer] = await tx.$queryRaw<{ id: number; email: string }[]>`
      SELECT "id", "email" FROM "Customer" WHERE "storeId" = ${store.id} AND lower("email") = lower(${Email}::text) AND "enabled"
      FOR NO KEY UPDATE`
    const asked = { storeId: store.id, customerId: customer?.id ?? 0, minutes: LINK_MINUTES }
    const { link, expiresAt } = await insertToken(tx, services, asked)
    const addressed = { to: customer?.email ?? Email, isVoid: customer === undefined }
    await mailLink(tx, services, store, { link, expiresAt, ...addressed, causedBy: address, locale })
  })
}
