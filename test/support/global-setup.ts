import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/database/migrations.ts'
import { dropDatabase, onServer } from './database.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the migrated database that every test file's own is cloned from. */
    templateUrl: string
  }
}

interface TestServer {
  readonly url: string
  readonly close: () => Promise<void>
}

/** One PostgreSQL for the run: an embedded one in a temporary folder, or the server of TEST_DATABASE_URL (the address of a role that may create databases). */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  const given = process.env.TEST_DATABASE_URL
  const server = given ? { url: given, close: async () => {} } : await startServer()
  const name = `template_${process.pid}`
  const templateUrl = Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  try {
    await onServer(server.url, `CREATE DATABASE "${name}"`)
    await migrate(templateUrl)
  } catch (error) {
    await server.close()
    throw error
  }
  provide('templateUrl', templateUrl)

  return async () => {
    await dropDatabase(server.url, name)
    await server.close()
  }
}

async function startServer(): Promise<TestServer> {
  const file = fileURLToPath(new URL('./server.ts', import.meta.url))
  // Detached: a terminal's Ctrl-C must not reach it.
  const child = spawn(process.execPath, [file], { detached: true, stdio: ['pipe', 'pipe', 'inherit'] })
  const exited = once(child, 'exit')
  const url = await text(child.stdout)
  if (url === '') throw new Error('The PostgreSQL server for the tests did not start')
  return {
    url,
    close: async () => {
      child.stdin.end()
      await exited
    },
  }
}
