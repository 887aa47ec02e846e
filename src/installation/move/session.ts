import type pg from 'pg'
import { withConnection } from '../../database/connection.ts'
import { type Query, queryOf } from '../../database/query.ts'

/** A connection to one of the two databases. */
export interface Side extends Query {
  readonly client: pg.Client
}

export function withSide<T>(url: string, work: (side: Side) => Promise<T>): Promise<T> {
  return withConnection(url, (client) => work({ client, query: queryOf(client) }))
}

/** Settings by which values have one form, whatever the role and the server have. The rest: copying takes its time. */
const begin = `BEGIN;
  SET LOCAL DateStyle = 'ISO'; SET LOCAL IntervalStyle = 'postgres'; SET LOCAL TimeZone = 'UTC'; SET LOCAL extra_float_digits = 1;
  SET LOCAL bytea_output = 'hex'; SET LOCAL lock_timeout = '60s'; SET LOCAL statement_timeout = 0;
  SET LOCAL idle_in_transaction_session_timeout = 0`

/** Of the transaction, because behind a pooler the session may be another one's next. */
export async function inOne<T>({ query }: Side, work: () => Promise<T>): Promise<T> {
  await query(begin)
  try {
    const result = await work()
    await query('COMMIT')
    return result
  } catch (error) {
    await query('ROLLBACK').catch(() => {})
    throw error
  }
}
