import { requireAccess } from '../../access/applications/authenticate.ts'
import type { Caller } from '../../engine/caller.ts'
import { eventKind } from '../../engine/definition/event-kinds.ts'
import type { Change } from '../../engine/definition/resource.ts'
import type { Row } from '../../engine/definition/stored-row.ts'
import { lockInStore, locks } from '../../foundation/database/advisory-locks.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { endDeliveries } from './dispatch/number.ts'
import { readMembers } from './members.ts'
import { ownSubscriptionId } from './ownership.ts'
import { newSealedSecret } from './secret.ts'

/** Webhooks per application and store; those made in the administration count separately. */
const WEBHOOKS_MAX = 100

/** Completes new webhooks, and those that were disabled or enabled. */
export async function webhookRules(changes: readonly Change[]): Promise<void> {
  for (const change of changes) await settle(change)
}

async function settle(change: Change): Promise<void> {
  const { caller, before, after } = change
  if (before === null) {
    await settleNew(caller, after.row)
    if (!after.row.enabled) await settleDisabled(change)
  } else if (before.row.enabled && !after.row.enabled) {
    await settleDisabled(change)
  } else if (!before.row.enabled && after.row.enabled) {
    Object.assign(after.row, enabledColumns)
  }
  settleMembers(change)
  // Failures belong to the former address. A disabled webhook keeps them, because a catch-up begins there.
  const isEnabledStill = before?.row.enabled && after.row.enabled
  if (isEnabledStill && before.row.url !== after.row.url) Object.assign(after.row, notFailing)
}

/** Not those that are stored: a later version may have fewer names. */
function settleMembers({ before, after: { row } }: Change): void {
  const { members } = row
  const kind = eventKind(Number(row.eventType))
  if (typeof members !== 'string' || members === before?.row.members || kind === null) return
  row.members = readMembers(members, kind)
}

const notFailing: Row = { failingSince: null, lastFailedAt: null }

/** Columns that enabling a webhook clears. */
const enabledColumns: Row = { ...notFailing, disabledAt: null, disabledAtSequence: null, pauseReason: null }

async function settleNew(caller: Caller, row: Row): Promise<void> {
  const kind = eventKind(Number(row.eventType))
  // Otherwise an application would get records that it may not read.
  if (kind) requireAccess(caller, kind.service, 'read')
  row.secretSealed = newSealedSecret(caller.secrets)
  row.subscriptionId = ownSubscriptionId(caller)
  await refuseTooMany(caller)
}

async function refuseTooMany(caller: Caller): Promise<void> {
  const { db, store } = caller
  await lockInStore(caller, locks.newWebhooks)
  const [found] = await db.$queryRaw<{ count: number }[]>`
    SELECT count(*)::int AS "count" FROM "Webhook"
    WHERE "storeId" = ${store.id}::int AND "subscriptionId" IS NOT DISTINCT FROM ${ownSubscriptionId(caller)}::int`
  if (!found || found.count < WEBHOOKS_MAX) return
  throw new StoreFailure(
    'limit-reached',
    `There are ${found.count} webhooks already; an application, or the administration, may have at most ${WEBHOOKS_MAX} in a store`,
    { status: 400 },
  )
}

async function settleDisabled({ caller, id, after }: Change): Promise<void> {
  const { db, store, now } = caller
  const at = now()
  const ended = { storeId: store.id, webhookId: id, reason: 'The webhook was disabled', at }
  const disabledAtSequence = await endDeliveries(db, ended)
  Object.assign(after.row, { disabledAt: at.toISOString(), disabledAtSequence, pauseReason: null })
}
