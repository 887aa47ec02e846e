import { locks } from '../../foundation/database/advisory-locks.ts'
import { queryRows, type Transaction } from '../../foundation/database/client.ts'
import type { MailKind } from './kinds.ts'

/** How long a mail is kept, whatever became of it. */
export const KEPT_DAYS = 30
const HOUR_MS = 3_600_000
/**
 * The most mails of an hour. To an address, those that people cause are counted apart from notices, because otherwise a refused mail
 * would tell that somebody signs in with the address, and notices could keep a lost password from being reset. Of a store, links for
 * customers are counted apart from the others, because strangers can ask for them.
 */
const perHour = { address: 5, network: 20, store: 200 }

/** The kind that anybody may ask for of a store. */
const asked: MailKind = 'customer-link'

export interface Counted {
  readonly kind: string
  readonly recipient: string
  readonly storeId: number | null
  /** That caused the mail; null: nobody did. */
  readonly network: string | null
  /** The look-up hashes of the network. */
  readonly hashes: readonly string[]
}

/**
 * Returns how long a mail has to wait because of others, in seconds; 0: it may be written in this transaction. Until
 * that ends, all other mails to the address, of the network and of the store wait here, so that no number of processes
 * exceeds a bound.
 */
export async function secondsUntilAllowed(
  tx: Transaction,
  { kind, recipient, storeId, network, hashes }: Counted,
  at: Date,
): Promise<number> {
  // Strict functions: NULL takes no lock.
  await tx.$executeRaw`
    SELECT pg_advisory_xact_lock(${locks.mailAddress}::int, hashtext(lower(${recipient}::text))),
      pg_advisory_xact_lock(${locks.mailNetwork}::int, hashtext(${network}::text)),
      pg_advisory_xact_lock(${locks.mailStore}::int, ${storeId}::int)`
  const hourAgo = new Date(at.getTime() - HOUR_MS)
  // A statement of its own, because it has to see what was committed while the locks were waited for.
  const [row] = await queryRows<{ blockedBy: Date | null }>(tx)`
    SELECT max("createdAt") AS "blockedBy" FROM (
      (SELECT "createdAt" FROM "Mail" WHERE lower("recipient") = lower(${recipient}::text) AND ("networkHash" IS NULL) = ${network === null}
       AND "orderId" IS NULL ORDER BY "id" DESC OFFSET ${perHour.address - 1}::int LIMIT 1)
      UNION ALL
      (SELECT "createdAt" FROM "Mail" WHERE "networkHash" = ANY (${hashes}::text[])
       ORDER BY "id" DESC OFFSET ${perHour.network - 1}::int LIMIT 1)
      UNION ALL
      (SELECT "createdAt" FROM "Mail" WHERE "storeId" = ${storeId}::int AND "orderId" IS NULL AND "createdAt" > ${hourAgo}
       AND ("kind" = ${asked}) = ${kind === asked}
       ORDER BY "createdAt" DESC OFFSET ${perHour.store - 1}::int LIMIT 1)
    ) AS "last"`
  const waitMs = row?.blockedBy ? row.blockedBy.getTime() + HOUR_MS - at.getTime() : 0
  return Math.max(0, Math.ceil(waitMs / 1_000))
}
