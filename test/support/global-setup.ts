import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import type { TestProject } from 'vitest/node'
import { startEmbedded } from '../../src/database/embedded.ts'
import { migrate } from '../../src/database/migrations.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the migrated database that every test file's own is cloned from. */
    templateUrl: string
  }
}

/** One PostgreSQL for the run: an embedded one in a temporary folder, or the server of TEST_DATABASE_URL (a superuser's address). */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  const dataDir = given ? null : await mkdtemp(join(tmpdir(), 'store-platform-test-'))
  const embedded = dataDir ? await startEmbedded({ dataDir, durable: false }) : null
  const serverUrl = given ?? (embedded?.url as string)

  const name = `template_${process.pid}`
  await onServer(serverUrl, `CREATE DATABASE "${name}"`)
  const templateUrl = Object.assign(new URL(serverUrl), { pathname: `/${name}` }).href
  await migrate(templateUrl)
  provide('templateUrl', templateUrl)

  return async () => {
    await onServer(serverUrl, `DROP DATABASE "${name}" WITH (FORCE)`)
    await embedded?.stop()
    if (dataDir) await rm(dataDir, { recursive: true, force: true })
  }
}

async function onServer(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url })
  await client.connect()
  await client.query(sql)
  await client.end()
}
