import { allows } from '../../access/applications/privileges.ts'
import { type MailServices, mailsAre, writeMail } from '../../access/mail/write.ts'
import { type Db, inTransaction, type Transaction } from '../../foundation/database/client.ts'
import type { Alert } from '../../foundation/database/generated/client.ts'
import { isOpenStore } from '../../foundation/database/open-stores.ts'
import { sql } from '../../foundation/database/sql.ts'
import type { Config } from '../../foundation/process/settings.ts'
import { createWorker } from '../../foundation/process/worker.ts'
import type { Phrase } from '../../foundation/texts/text.ts'
import { privilegesOf, type RoleOfAccount } from '../staff/roles.ts'
import { type OperatorAlert, operatorAlerts, type StoreAlert, type StoreKind, storeAlerts } from './kinds.ts'

interface AlertServices extends MailServices {
  readonly db: Db
  readonly log: { warn(details: object, message: string): void }
  readonly config: MailServices['config'] & Pick<Config, 'backupDir' | 'backupHours' | 'dataDir'>
}

const EVERY_MS = 60_000
/** Processes that look every minute, a little more or less, do not look twice. */
const AGAIN_MS = 0.8 * EVERY_MS
const AT_ONCE = 5
/** What bears a time is in the database by then, whatever transaction it was written in. */
const LAG_MS = 30_000

/**
 * Looks once a minute for what people want to be told of, and writes the mails. Any number of processes may run this on one database:
 * one of them looks at an alert, and the mail and how far was told are one transaction.
 */
export function createAlerts(services: AlertServices, { everyMs = EVERY_MS }: { everyMs?: number } = {}) {
  const { db, log, now, config } = services
  return createWorker({
    log,
    complaint: 'alerts could not be looked for',
    everyMs,
    claim: async () => (mailsAre(config) === 'none' ? [] : claim(services)),
    work: (id) => inTransaction(db, (tx) => look(tx, services, id, now())),
    failed: (alertId) => [{ alertId }, 'an alert could not be looked at'],
  })
}

/** A server of a later version, which may run beside this one, looks at others. */
const knownKinds = [...Object.keys(operatorAlerts), ...Object.keys(storeAlerts)]

/** Those that nobody looked at during the last minute, without those of closed stores. */
async function claim({ db, now }: AlertServices): Promise<number[]> {
  const at = now()
  const rows = await db.$queryRaw<{ id: number }[]>`
    UPDATE "Alert" SET "lookedAt" = ${at} WHERE "id" IN (
      SELECT "id" FROM "Alert" WHERE "kind" = ANY (${knownKinds}) AND "lookedAt" <= ${new Date(at.getTime() - AGAIN_MS)}
        AND ${isOpenStore(sql`(SELECT "storeId" FROM "StoreUser" WHERE "StoreUser"."id" = "Alert"."storeUserId")`)} ORDER BY "lookedAt"
      LIMIT ${AT_ONCE} FOR UPDATE SKIP LOCKED)
    RETURNING "id"`
  return rows.map(({ id }) => id)
}

interface Due extends Pick<Alert, 'id' | 'kind' | 'since' | 'toldAt'>, RoleOfAccount {
  readonly identityId: number
  readonly email: string
  /** Null: an operator's. */
  readonly storeId: number | null
}

/**
 * Tells of what happened, and notes how far. What comes before the pause of its kind is over is told of after it, and so is what a mail
 * beyond the bounds of the address would have said.
 */
async function look(tx: Transaction, services: AlertServices, id: number, at: Date): Promise<void> {
  const [alert] = await tx.$queryRaw<Due[]>`
    SELECT "Alert"."id", "kind", "since", "toldAt", coalesce("StoreUser"."email", "Operator"."email") AS "email",
      coalesce("StoreUser"."identityId", "Operator"."identityId") AS "identityId",
      "StoreUser"."storeId", coalesce("StoreUser"."role", "StoreRole"."name") AS "role", "StoreRole"."privileges" AS "ownPrivileges"
    FROM "Alert"
    LEFT JOIN "StoreUser" ON "StoreUser"."id" = "storeUserId"
    LEFT JOIN "StoreRole" ON "StoreRole"."storeId" = "StoreUser"."storeId" AND "StoreRole"."id" = "StoreUser"."roleId"
    LEFT JOIN "Operator" ON "Operator"."id" = "operatorId"
    WHERE "Alert"."id" = ${id} FOR UPDATE OF "Alert"`
  // Switched off meanwhile.
  if (!alert) return
  const { kind, identityId, storeId, since, toldAt } = alert
  const about = storeId === null ? operatorAlerts[kind as OperatorAlert] : storeAlerts[kind as StoreAlert]
  if (toldAt !== null && at.getTime() - toldAt.getTime() < about.pauseMs) return
  const until = new Date(Math.max(at.getTime() - LAG_MS, since.getTime()))
  const lines = await linesOf(tx, services, alert, { now: until, since })
  const data = { lines, link: about.link }
  const mail = { kind: 'alert', to: alert.email, identityId, storeId, causedBy: null, data } as const
  if (lines.length > 0 && !(await writeMail(tx, services, mail))) return
  await tx.alert.update({ where: { id }, data: { since: until, ...(lines.length > 0 && { toldAt: at }) } })
}

async function linesOf(
  tx: Transaction,
  { config }: AlertServices,
  { kind, storeId, role, ownPrivileges }: Due,
  { now, since }: { now: Date; since: Date },
): Promise<readonly Phrase[]> {
  const times = { tx, now, since }
  if (storeId === null) return operatorAlerts[kind as OperatorAlert].find(times, { config })
  const { need, find }: StoreKind = storeAlerts[kind as StoreAlert]
  const privileges = privilegesOf({ role, ownPrivileges })
  // The role has changed since the alert was switched on.
  if (need !== null && !allows(privileges, ...need)) return []
  return find(times, { storeId, privileges })
}
