import { expect, test } from 'vitest'
import { openSnapshot, type Snapshot } from '../../../../src/foundation/database/snapshot.ts'
import { claimDue, findDue } from '../../../../src/shop/webhooks/dispatch/claim.ts'
import { openClient } from '../../../support/client.ts'
import { shared } from '../../../support/shared.ts'
import { type SentStatement, statementsOf } from '../../../support/statements.ts'
import { allotted, openStage } from './dispatch-stage.ts'

// A backup keeps PostgreSQL from removing the row versions that its snapshot may still see. Claims pass over those of every
// delivery that ended since (docs/decisions/backup.md). This bounds how many pages that costs them.

const DELIVERED = 5_000
/** A page that claims read more for so many deliveries. */
const DELIVERED_PER_PAGE = 15

let snapshot: Snapshot
const stage = await shared(openStage())
const client = await shared(openClient(stage.url))

/** The pages that a statement reads; what it changes is taken back. */
async function pagesOf(sent: SentStatement | undefined): Promise<number> {
  await client.query('BEGIN')
  const { rows } = await client.query(`EXPLAIN (ANALYZE, BUFFERS, FORMAT JSON) ${sent?.text}`, [
    ...(sent?.values ?? []),
  ])
  await client.query('ROLLBACK')
  const [{ Plan }] = rows[0]['QUERY PLAN']
  return Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks']
}

/** Of the statements that find webhooks with due deliveries, and claim those. */
async function pagesOfClaims(): Promise<{ find: number; claim: number; claimed: number }> {
  const due = await allotted(stage.db, stage.now(), { deliveries: 20, slots: 20 })
  const [find] = await statementsOf(() => findDue(stage.db, stage.now(), { storeId: 0, webhookId: 0 }))
  let claimed = 0
  const [claim] = await statementsOf(async () => {
    claimed = (await claimDue(stage.db, stage.now(), due)).length
  })
  return { find: await pagesOf(find), claim: await pagesOf(claim), claimed }
}

test('while a snapshot is open, claims read a page more for every fifteen deliveries that ended since, at most', async () => {
  const storeId = await stage.addStore()
  const { id: webhookId } = await stage.addWebhook(storeId, { url: 'http://127.0.0.1:1/' })
  const add = async (count: number) => {
    stage.clock.ms += 1_000
    await client.query(
      `WITH "added" AS (
         INSERT INTO "Event" ("storeId", "eventType", "recordId", "body", "createdAt", "sequence")
         SELECT $1, 1, n, '{}', $3, (SELECT coalesce(max("sequence"), 0) FROM "Event") + n FROM generate_series(1, $4::int) n
         RETURNING "id"
       )
       INSERT INTO "Delivery" ("storeId", "webhookId", "eventId", "state", "dueAt", "createdAt")
       SELECT $1, $2, "id", 'pending', $3, $3 FROM "added"`,
      [storeId, webhookId, stage.now(), count],
    )
  }
  /** As the dispatcher claims them and writes what became of them. */
  const deliverAll = async () => {
    const leaseEnd = new Date(stage.clock.ms + 60_000)
    await client.query(`UPDATE "Delivery" SET "dueAt" = $1, "attempts" = 1 WHERE "state" = 'pending'`, [leaseEnd])
    await client.query(
      `UPDATE "Delivery" SET "dueAt" = NULL, "state" = 'delivered', "endedAt" = $1 WHERE "state" = 'pending'`,
      [stage.now()],
    )
  }
  await add(20)
  const before = await pagesOfClaims()
  expect(before.claimed).toBe(20)
  await deliverAll()

  snapshot = await openSnapshot(stage.url)
  await snapshot.query('SELECT FROM "Delivery"')
  for (let delivered = 0; delivered < DELIVERED; delivered += 500) {
    await add(500)
    await deliverAll()
  }
  await add(20)
  const beside = await pagesOfClaims()
  await snapshot.close()

  expect(beside.claimed).toBe(20)
  const more = DELIVERED / DELIVERED_PER_PAGE
  // Without what the snapshot holds back, nothing would be counted here.
  expect(beside.find).toBeGreaterThan(before.find + 20)
  expect(beside.find).toBeLessThan(before.find + more)
  expect(beside.claim).toBeLessThan(before.claim + more)
})
