import { z } from 'zod'
import { type DataServices, inTransaction } from '../../foundation/database/client.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { operatorAlerts, storeAlerts } from './kinds.ts'

/** Whose alerts: an account in a store, or an operator. */
export type AlertOwner = { readonly storeUserId: number } | { readonly operatorId: number }

const kinds = [...Object.keys(storeAlerts), ...Object.keys(operatorAlerts)]
const kind = z.enum(kinds, `must be of ${kinds.join(', ')}`)

/** The kinds to be told of; all others are switched off. */
export const chosenAlerts = namedObject({ Alerts: z.array(kind, 'must be a list').max(kinds.length) })

/** Returns the kinds that somebody has switched on. */
export async function readAlerts({ db }: Pick<DataServices, 'db'>, owner: AlertOwner): Promise<string[]> {
  const rows = await db.alert.findMany({ where: owner, select: { kind: true }, orderBy: { kind: 'asc' } })
  return rows.map((row) => row.kind)
}

/** Switches on these kinds of `possible`, and all others off. Of what was before, nothing is told. */
export async function chooseAlerts(
  { db, now }: DataServices,
  owner: AlertOwner,
  possible: readonly string[],
  wanted: readonly string[],
): Promise<void> {
  const chosen = possible.filter((each) => wanted.includes(each))
  const data = chosen.map((each) => ({ ...owner, kind: each, since: now(), lookedAt: now() }))
  await inTransaction(db, async (tx) => {
    await tx.alert.deleteMany({ where: { ...owner, kind: { notIn: chosen } } })
    await tx.alert.createMany({ data, skipDuplicates: true })
  })
}
