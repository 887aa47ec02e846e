import { BODIES_KEPT_DAYS } from '../access/applications/calls/call-log.ts'
import { EXPIRED_TOKEN_DAYS } from '../access/applications/tokens/access-tokens.ts'
import { oldEntries } from '../access/audit/old-entries.ts'
import { KEPT_DAYS as MAIL_DAYS } from '../access/mail/limits.ts'
import { removedFactorsSweep } from '../access/people/factors/removal.ts'
import { FORGOTTEN_MS } from '../access/people/sign-in-delay.ts'
import { KEPT_MS as KEY_MS } from '../engine/changing/idempotency.ts'
import { historySweep } from '../engine/recording/history.ts'
import type { Db } from '../foundation/database/client.ts'
import { sql } from '../foundation/database/sql.ts'
import { type Sweep, sweepByTime } from '../foundation/database/sweeper.ts'
import { makePrivateFolder } from '../foundation/process/data-folder.ts'
import type { Config } from '../foundation/process/settings.ts'
import { archivedSweep } from '../operations/installation/archive.ts'
import { MESSAGES_HOURS } from '../operations/sandbox/inbox.ts'
import { KEPT_DAYS as CSV_DAYS } from '../shop/csv/lines/limits.ts'
import { KEPT_DAYS as FETCH_DAYS } from '../shop/pictures/fetches.ts'
import { DRAFT_DAYS } from '../shop/resources/orders/drafts.ts'
import { oldMovements } from '../shop/resources/products/carry-forward.ts'
import { deliverySweep } from '../shop/webhooks/dispatch/retention.ts'

interface RetentionServices {
  /** The client for the background. */
  readonly db: Db
  readonly now: () => Date
}

const HOUR_MS = 3_600_000
const DAY_MS = 24 * HOUR_MS

/** Everything that is deleted because of its age, by what it is, in words (docs/decisions/retention.md). */
export function sweepsByAge({ db, now }: RetentionServices, { historyDays }: Pick<Config, 'historyDays'>) {
  const ago = (ms: number) => () => new Date(now().getTime() - ms)
  const days = (count: number) => ago(count * DAY_MS)
  return {
    'old deliveries and events': deliverySweep({ db, now }),
    'old history': historySweep({ db, now }, historyDays),
    'old idempotency keys': sweepByTime(db, { table: 'IdempotencyKey', time: 'claimedAt' }, ago(KEY_MS)),
    // One at a time, because each may have 100,000 lines.
    'old CSV imports': sweepByTime(
      db,
      { table: 'CsvImport', time: 'createdAt', mayGo: sql`"state" <> 'applying'`, batch: 1 },
      days(CSV_DAYS),
    ),
    'old bodies of refused requests': sweepByTime(db, { table: 'RefusedBody', time: 'at' }, days(BODIES_KEPT_DAYS)),
    'old mails': sweepByTime(db, { table: 'Mail', time: 'createdAt', mayGo: sql`"orderId" IS NULL` }, days(MAIL_DAYS)),
    'old drafts of orders': sweepByTime(db, { table: 'OrderDraft', time: 'keptAt' }, days(DRAFT_DAYS)),
    'old fetches of pictures': sweepByTime(db, { table: 'PictureFetch', time: 'endedAt' }, days(FETCH_DAYS)),
    'kept billing addresses': sweepByTime(db, { table: 'InvoiceAddress', time: 'until' }, now),
    'old messages of inboxes': sweepByTime(db, { table: 'InboxMessage', time: 'at' }, ago(MESSAGES_HOURS * HOUR_MS)),
    'old sessions': sweepByTime(db, { table: 'Session', time: 'expiresAt' }, now),
    'old tokens of people': sweepByTime(db, { table: 'PersonToken', time: 'expiresAt' }, now),
    'old sign-in links': sweepByTime(db, { table: 'CustomerLoginToken', time: 'expiresAt' }, now),
    'old invitations': sweepByTime(db, { table: 'Invitation', time: 'expiresAt' }, now),
    'old links for a new password': sweepByTime(db, { table: 'ResetLink', time: 'expiresAt' }, now),
    'old links for another address': sweepByTime(db, { table: 'AddressChange', time: 'expiresAt' }, now),
    'second factors that were removed': removedFactorsSweep({ db, now }),
    'old challenges': sweepByTime(db, { table: 'Challenge', time: 'expiresAt' }, now),
    // An access token has the hash of its code, so that a later reuse is still detected.
    'old authorization codes': sweepByTime(db, { table: 'AuthorizationCode', time: 'expiresAt' }, now),
    // For as long as an expired one is told from an unknown one.
    'expired access tokens': sweepByTime(db, { table: 'AccessToken', time: 'expiresAt' }, days(EXPIRED_TOKEN_DAYS)),
    'expired grants': sweepByTime(db, { table: 'AccessGrant', time: 'expiresAt' }, now),
    'old failures of sign-ins': sweepByTime(db, { table: 'SignInDelay', time: 'failedAt' }, ago(FORGOTTEN_MS)),
  } satisfies Record<string, Sweep>
}

interface ArchiveServices extends RetentionServices {
  /** Past a pooler. */
  readonly url: string
  readonly log: { info(details: object, message: string): void; warn(details: object, message: string): void }
}

/** What goes into files of ARCHIVE_DIR before it is deleted; nothing without that folder. */
export async function archivedSweeps(
  services: ArchiveServices,
  { archiveDir: dir, ledgerDays, auditDays }: Pick<Config, 'archiveDir' | 'ledgerDays' | 'auditDays'>,
): Promise<Record<string, Sweep>> {
  if (dir === null) return {}
  await makePrivateFolder(dir, 'ARCHIVE_DIR', (message) => services.log.warn({}, message))
  return {
    'old stock movements': archivedSweep({ ...services, dir }, ledgerDays, oldMovements),
    'old entries of the audit log': archivedSweep({ ...services, dir }, auditDays, oldEntries),
  }
}
