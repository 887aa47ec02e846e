import { setTimeout as sleep } from 'node:timers/promises'
import pg from 'pg'
import { request } from 'undici'
import { childrenOf } from './proc.ts'
import type { Target } from './situations.ts'

const PUTS = 12
const TIMEOUT_MS = 60_000

/** Locks a row of the store, and changes it by twelve requests at once, each sent again when it has been answered. */
export async function lockedRow(
  { origin, headers, storeId, productIds, databaseUrl }: Target,
  signal: AbortSignal,
): Promise<void> {
  const client = new pg.Client({ connectionString: databaseUrl })
  await client.connect()
  const id = productIds[0]
  try {
    await client.query('BEGIN')
    await client.query('SELECT 1 FROM "Product" WHERE "storeId" = $1 AND "id" = $2 FOR UPDATE', [storeId, id])
    const change = async () => {
      while (!signal.aborted) {
        await request(`${origin}/StoreWebAPI/v1/Products/${id}`, {
          method: 'PUT',
          headers: { ...headers, 'content-type': 'application/json' },
          body: JSON.stringify({ SKUInfo: { Name: 'Locked' } }),
          headersTimeout: TIMEOUT_MS,
          signal,
        })
          .then(async (answer) => {
            await answer.body.dump()
            await sleep(1_000 * Number(answer.headers['retry-after'] ?? 0), undefined, { signal })
          })
          .catch(() => undefined)
      }
    }
    await Promise.all(Array.from({ length: PUTS }, change))
  } finally {
    await client.end()
  }
}

/** Stops every process of PostgreSQL until the signal. They go on whatever happens here. */
export async function stalledDatabase({ postgresPid }: Target, signal: AbortSignal): Promise<void> {
  const pids = [postgresPid]
  const all = (signal: 'SIGSTOP' | 'SIGCONT') => {
    for (const pid of pids) {
      try {
        process.kill(pid, signal)
      } catch {
        // It has ended.
      }
    }
  }
  const goOn = () => all('SIGCONT')
  process.once('exit', goOn)
  try {
    // The first process before its children, so that it starts no other meanwhile.
    all('SIGSTOP')
    pids.push(...childrenOf(postgresPid))
    all('SIGSTOP')
    await sleep(TIMEOUT_MS, undefined, { signal }).catch(() => undefined)
  } finally {
    goOn()
    process.off('exit', goOn)
  }
}
