import { request } from 'undici'
import { runServer, type Run as Server } from '../../test/support/run-server.ts'
import { operatorKey } from '../../test/support/services.ts'
import { until } from './processes.ts'
import type { Run } from './run.ts'

/** The settings of the servers, and of the commands beside them. */
export interface Settings extends Record<string, string> {
  readonly DATABASE_URL: string
  readonly DATABASE_DIRECT_URL: string
}

/** The drain is longer than the balancer's two checks, and the time-out of one. */
export const DRAIN_SECONDS = 6

export function settingsOf(poolerPort: number, databasePort: number, password: string): Settings {
  const url = (port: number) => `postgresql://store:${password}@127.0.0.1:${port}/store`
  return {
    DATABASE_URL: url(poolerPort),
    DATABASE_DIRECT_URL: url(databasePort),
    // Debian 12 has PgBouncer 1.18, which keeps none.
    DATABASE_PREPARED_STATEMENTS: 'false',
    DRAIN_SECONDS: String(DRAIN_SECONDS),
    OPERATOR_KEY: operatorKey,
    SECRET_KEY: 'secret-key-of-the-tests-secret-key',
    OUTBOUND_ALLOW: '127.0.0.0/8',
    LOG_LEVEL: 'warn',
  }
}

export interface ClusterServer {
  /** Of another tree than before, where one is given. */
  readonly start: (tree?: URL) => Promise<void>
  /** By SIGTERM; comes back when the process has ended by itself. */
  readonly stop: () => Promise<void>
  /** By SIGKILL. */
  readonly kill: () => Promise<void>
  readonly untilReady: () => Promise<unknown>
}

export function serverOn(run: Run, port: number, settings: Settings): ClusterServer {
  const started: Server[] = []
  let tree: URL | undefined
  const kill = async () => {
    started.at(-1)?.process.kill('SIGKILL')
    await started.at(-1)?.exited
  }
  run.add(kill)
  return {
    kill,
    start: async (other = tree) => {
      tree = other
      const server = runServer({ ...settings, PORT: String(port) }, tree)
      started.push(server)
      await server.shows('Base address')
    },
    stop: async () => {
      started.at(-1)?.process.kill('SIGTERM')
      const code = await started.at(-1)?.exited
      if (code !== 0) throw new Error(`A server ended with ${code}:\n${started.at(-1)?.output()}`)
    },
    untilReady: () =>
      until(
        'a server that is ready',
        async () => {
          const answer = await request(`http://127.0.0.1:${port}/readyz`)
          await answer.body.dump()
          return answer.statusCode === 200
        },
        { everyMs: 50 },
      ),
  }
}
