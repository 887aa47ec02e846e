import type { Db } from '../database/client.ts'
import type { CallerStore } from '../engine/caller.ts'
import { normaliseHost } from './secure-url.ts'
import { callerStoreColumns } from './stores.ts'

/** The store whose address somebody wrote, with or without scheme, `www.` and slash (rest-protocol 9.1); null: there is none. */
export async function findStoreAt(db: Db, address: string): Promise<CallerStore | null> {
  const host = normaliseHost(address)
  if (host === '' || /\p{Cc}/u.test(host) || !host.isWellFormed()) return null
  return db.store.findUnique({ where: { host }, select: callerStoreColumns })
}
