import type { Db, Transaction } from './client.ts'
import { identifier } from './sql.ts'

const BATCH_MAX = 100

/** Deletes rows whose `column` is not after `until`: the oldest hundred, without those that another transaction holds. */
export async function deleteExpired(
  db: Db | Transaction,
  { table, key, column = 'expiresAt' }: { table: string; key: string; column?: string },
  until: Date,
): Promise<void> {
  const [rows, id, at] = [identifier(table), identifier(key), identifier(column)]
  await db.$executeRaw`
    DELETE FROM ${rows} WHERE ${id} IN (
      SELECT ${id} FROM ${rows} WHERE ${at} <= ${until} ORDER BY ${at} LIMIT ${BATCH_MAX} FOR UPDATE SKIP LOCKED)`
}
