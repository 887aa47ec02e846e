import { z } from 'zod'
import type { OwnId } from '../../access/applications/own/own-applications.ts'
import { type AccessServices, changeAccess } from '../../access/stores/access-changes.ts'
import { announce, deliveriesChannel } from '../../engine/recording/events.ts'
import type { Transaction } from '../../foundation/database/client.ts'
import { FORMER_SECRET_MS } from '../../foundation/outbound/standard-webhooks.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { FAILING_MS_MAX } from '../../shop/webhooks/dispatch/decide.ts'
import { type AllowedServices, requireTestStores } from './allowed.ts'
import { findTestStore } from './test-stores.ts'

// Time that passes at the press of a button, so that retries and expiry are seen without waiting.

/** What can be made due. */
const dueKinds = ['deliveries', 'pauses', 'tokens'] as const
export type DueKind = (typeof dueKinds)[number]

const what = `must be one of ${dueKinds.join(', ')}`

/** The body of `POST /developers/test-stores/{id}/due-now`. */
export const newDue = namedObject({ What: z.enum(dueKinds, what).describe('For what time passes.') })

/** The most deliveries that become due at once; the next press takes others. */
const DELIVERIES_MAX = 10_000

/** What was made due, and how many of them. */
export type MadeDue = Awaited<ReturnType<typeof makeDue>>

/**
 * Makes what waits in a test store of the developer due now: the next attempts of deliveries; the end of the five days after which a
 * failing webhook is paused, by its next failure; or the end of the store's authorization codes, access tokens that expire, sign-in
 * links of customers, and secrets of webhooks that were replaced.
 */
export async function makeDue(services: AccessServices & AllowedServices, own: OwnId, what: DueKind) {
  await findTestStore(services, own)
  await requireTestStores(services)
  const at = services.now()
  const count = await changeAccess(services, (tx) => ways[what](tx, own.id, at))
  if (what === 'deliveries') announce(services.db, deliveriesChannel)
  return { what, count }
}

const ways: Readonly<Record<DueKind, (tx: Transaction, storeId: number, at: Date) => Promise<number>>> = {
  // Not one with an attempt under way, whose result is not in the log yet: it would be sent twice at a time.
  deliveries: (tx, storeId, at) => tx.$executeRaw`
    UPDATE "Delivery" SET "dueAt" = ${at} WHERE "id" IN (
      SELECT d."id" FROM "Delivery" d
      WHERE d."storeId" = ${storeId} AND d."state" = 'pending' AND d."dueAt" > ${at} AND (d."attempts" = 0 OR EXISTS (
        SELECT FROM "DeliveryAttempt" a WHERE a."deliveryId" = d."id" AND a."number" = d."attempts"))
      ORDER BY d."dueAt" LIMIT ${DELIVERIES_MAX} FOR UPDATE SKIP LOCKED)`,
  pauses: (tx, storeId, at) => tx.$executeRaw`
    UPDATE "Webhook" SET "failingSince" = ${new Date(at.getTime() - FAILING_MS_MAX)}
    WHERE "storeId" = ${storeId} AND "enabled" AND "failingSince" > ${new Date(at.getTime() - FAILING_MS_MAX)}`,
  tokens: async (tx, storeId, at) => {
    const data = { expiresAt: at }
    const expiresAt = { gt: at }
    const subscription = { storeId }
    const codes = await tx.authorizationCode.updateMany({ where: { subscription, expiresAt }, data })
    const links = await tx.customerLoginToken.updateMany({ where: { storeId, expiresAt }, data })
    const tokens = await tx.accessToken.updateMany({ where: { subscription, expiresAt }, data })
    const over = new Date(at.getTime() - FORMER_SECRET_MS)
    const secrets = await tx.webhook.updateMany({
      where: { storeId, formerSecretSealed: { not: null }, secretRotatedAt: { gt: over } },
      data: { secretRotatedAt: over },
    })
    return codes.count + links.count + tokens.count + secrets.count
  },
}
