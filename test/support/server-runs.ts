import { join } from 'node:path'
import { request } from 'undici'
import { afterEach, beforeEach, expect } from 'vitest'
import { folderOfTest } from './folders.ts'
import { freePort, type Run, runServer, serverKeys } from './run-server.ts'

export const operatorKey = serverKeys.OPERATOR_KEY

/** The body that creates a store. */
export const newStore = JSON.stringify({
  Name: 'Shop',
  SecureURL: 'https://shop.example',
  Email: 'a@shop.example',
  Password: 'a password of the owner',
})

/** Servers as processes, which share a folder and a port and end with the test. */
export function serverRuns() {
  let folder: string
  let port: number
  let runs: Run[]
  beforeEach(async () => {
    folder = folderOfTest()
    port = await freePort()
    runs = []
  })
  const end = async () => {
    for (const each of runs) await each.end()
  }
  afterEach(end)

  function run(settings: Record<string, string> = {}): Run {
    const started = runServer({ DATA_DIR: join(folder, 'data'), PORT: String(port), ...settings })
    runs.push(started)
    return started
  }

  return {
    folder: () => folder,
    port: () => port,
    run,
    end,
    /** A server that accepts requests. */
    start: async (settings: Record<string, string> = {}): Promise<Run> => {
      const started = run(settings)
      await started.shows('Base address')
      return started
    },
    /** What a start says that ends with the exit code 1: words, and neither a stack nor a line for programs. */
    failure: async (settings: Record<string, string>): Promise<string> => {
      const failed = run(settings)
      expect(await failed.exited).toBe(1)
      expect(failed.output()).not.toMatch(/^ +at |^\{/m)
      return failed.output()
    },
    get: async (path: string, from = port) => {
      const { statusCode, body } = await request(`http://127.0.0.1:${from}${path}`)
      return { status: statusCode, body: await body.text() }
    },
    createStore: async (): Promise<void> => {
      const headers = { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' }
      const answer = await request(`http://127.0.0.1:${port}/admin/stores`, { method: 'POST', headers, body: newStore })
      expect(answer.statusCode).toBe(201)
    },
  }
}
