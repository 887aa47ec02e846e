import { queryRows } from '../../foundation/database/client.ts'
import type { DatabaseFigures } from '../../foundation/database/figures.ts'
import { isOpenStore } from '../../foundation/database/open-stores.ts'
import { constant, sql } from '../../foundation/database/sql.ts'

/** Further rows are not counted. */
const COUNTED_MAX = 10_000

/** How many mails wait, and how long. */
export const mailFigures: DatabaseFigures = {
  gauges: {
    mail_waiting: { help: `Mails that are not sent yet, without those of closed stores, counted up to ${COUNTED_MAX}` },
    mail_oldest_waiting_seconds: { help: 'Age of the oldest mail that is not sent yet; 0: there is none' },
  },
  ask: async (tx, show, at) => {
    const [found] = await queryRows<{ oldest: Date | null; count: number }>(tx)`
      SELECT min("createdAt") AS "oldest", count(*)::int AS "count"
      FROM (SELECT "createdAt" FROM "Mail" WHERE "state" = 'waiting' AND ${isOpenStore(sql`"Mail"."storeId"`)}
        ORDER BY "id" LIMIT ${constant(COUNTED_MAX)}) AS "first"`
    const oldestMs = found?.oldest ? at.getTime() - found.oldest.getTime() : 0
    show('mail_waiting', found?.count ?? 0)
    show('mail_oldest_waiting_seconds', Math.max(0, oldestMs) / 1_000)
  },
}
