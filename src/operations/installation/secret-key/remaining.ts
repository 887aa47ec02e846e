import type { Db } from '../../../foundation/database/client.ts'

/** What stays under the former key until it expires, because the database has only its hash, or because it expires soon. */
export interface Remaining {
  /** Plural. */
  readonly what: string
  /** Null: nobody knows. */
  readonly count: number | null
  /** Null: it has no term. */
  readonly until: Date | null
}

/** Clocks of several processes may differ. */
const MARGIN_MS = 60_000
const DAY_MS = 24 * 60 * 60_000

/** Returns what may still be under the former key when every process stores under the new one `since` this time. */
export async function remainingUnderFormerKey(db: Db, since: Date, at: Date): Promise<Remaining[]> {
  const before = new Date(since.getTime() + MARGIN_MS)
  const rows = await db.$queryRaw<Remaining[]>`
    SELECT 'sessions' AS "what", count(*)::int AS "count", max("expiresAt") AS "until"
    FROM "Session" WHERE "createdAt" < ${before} AND "expiresAt" > ${at}
    UNION ALL
    SELECT 'links that sign a customer in', count(*)::int, max("expiresAt")
    FROM "CustomerLoginToken" WHERE "createdAt" < ${before} AND "expiresAt" > ${at}
    UNION ALL
    SELECT 'authorization codes', count(*)::int, max("expiresAt")
    FROM "AuthorizationCode" WHERE "createdAt" < ${before} AND "expiresAt" > ${at} AND "usedAt" IS NULL
    UNION ALL
    SELECT 'former private keys of applications', count(*)::int, max("previousPrivateKeyUntil")
    FROM "Application" WHERE "previousPrivateKeyHash" IS NOT NULL AND "previousPrivateKeyUntil" > ${at}
    UNION ALL
    SELECT 'kept answers of the operator''s routes', count(*)::int, max("claimedAt") + interval '24 hours'
    FROM "IdempotencyKey"
    WHERE "storeId" = 0 AND "claimedAt" < ${before} AND "claimedAt" > ${at}::timestamptz - interval '24 hours'
    UNION ALL
    SELECT 'access tokens of an early version that nobody has used since', count(*)::int, NULL
    FROM "AccessToken" WHERE "tokenSealed" IS NULL`
  // A form's token is stored nowhere.
  const forms = new Date(since.getTime() + DAY_MS)
  const open = { what: 'forms that are open in browsers', count: null, until: forms }
  return [...rows, open].filter(({ count, until }) => count !== 0 && (until === null || until > at))
}
