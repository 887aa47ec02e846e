import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/foundation/database/migrations.ts'
import { databasesOf, dropDatabase, onServer } from './database.ts'
import { guardVersions } from './version-guard.ts'

declare module 'vitest' {
  interface ProvidedContext {
    /** Address of the migrated database that the tests' databases are cloned from. */
    templateUrl: string
  }
}

interface TestServer {
  readonly url: string
  readonly close: () => Promise<void>
}

interface Template {
  readonly url: string
  readonly drop: () => Promise<void>
}

/** The template, and how many projects use it: each project loads this module anew. */
const run = globalThis as { testTemplate?: { readonly made: Promise<Template>; users: number } }

/**
 * One PostgreSQL for the projects of a run: an embedded one in a temporary folder, or the server of TEST_DATABASE_URL (the
 * address of a role that may create databases).
 */
export default async function setup({ provide }: TestProject): Promise<() => Promise<void>> {
  run.testTemplate ??= { made: makeTemplate(), users: 0 }
  const template = run.testTemplate
  template.users++
  const { url, drop } = await template.made
  provide('templateUrl', url)
  return async () => {
    template.users--
    if (template.users === 0) await drop()
  }
}

async function makeTemplate(): Promise<Template> {
  const given = process.env.TEST_DATABASE_URL
  const server = given ? { url: given, close: async () => {} } : await startServer()
  const name = `template_${process.pid}`
  const url = Object.assign(new URL(server.url), { pathname: `/${name}` }).href
  try {
    await onServer(server.url, `CREATE DATABASE "${name}"`)
    await migrate(url)
    await guardVersions(url)
  } catch (error) {
    await server.close()
    throw error
  }
  return {
    url,
    drop: async () => {
      // The workers' databases are left to the end of the run.
      if (given) for (const each of await databasesOf(server.url, name)) await dropDatabase(server.url, each)
      await server.close()
    },
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
