import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { startEmbedded } from '../../src/foundation/embedded/embedded.ts'
import { administratorUrl } from '../../test/support/administrator.ts'
import { openClient } from '../../test/support/client.ts'
import { hasPostgres15, startPostgres15 } from '../../test/support/postgres-15.ts'
import type { Stops } from './bench.ts'

/** Both ends of the range that is supported; the older one where it is installed. */
export const versions: readonly string[] = hasPostgres15 ? ['18', '15'] : ['18']

export interface BenchPostgres {
  /** Makes an empty database, and returns its address as a superuser. */
  readonly createDatabase: (name: string) => Promise<string>
}

/** Starts the embedded PostgreSQL (18), or Debian's (15), in a temporary folder that is removed at the end. */
export async function startPostgres(version: string, stops: Stops): Promise<BenchPostgres> {
  const url = version === '15' ? await start15(stops) : await start18(stops)
  return {
    createDatabase: async (name) => {
      const client = await openClient(url)
      await client.query(`CREATE DATABASE "${name}"`).finally(() => client.end())
      return Object.assign(new URL(url), { pathname: `/${name}` }).href
    },
  }
}

async function start15(stops: Stops): Promise<string> {
  const { url, stop } = await startPostgres15()
  await stops.add(stop)
  return url
}

async function start18(stops: Stops): Promise<string> {
  const dataDir = await mkdtemp(join(tmpdir(), 'store-platform-bench-'))
  await stops.add(() => rm(dataDir, { recursive: true, force: true }))
  const { url, stop } = await startEmbedded({ dataDir })
  await stops.add(stop)
  return administratorUrl(dataDir, url)
}
