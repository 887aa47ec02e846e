import { freePort, type Run, runServer, serverKeys } from '../../../support/run-server.ts'

/** The server in a process of its own, which a test may kill and start again. */
export interface ServerProcess {
  readonly baseUrl: string
  /** Comes back when it accepts requests. */
  readonly start: () => Promise<void>
  /** With SIGKILL; comes back when it is gone. */
  readonly kill: () => Promise<void>
  /** Sends SIGTERM. */
  readonly terminate: () => void
  /** All that the processes wrote. */
  readonly output: () => string
}

/** Notified may be what listens on this machine. */
export async function serverProcess(
  databaseUrl: string,
  settings: Record<string, string> = {},
): Promise<ServerProcess> {
  const port = await freePort()
  const runs: Run[] = []
  return {
    baseUrl: `http://127.0.0.1:${port}`,
    start: async () => {
      const run = runServer({
        PORT: String(port),
        DATABASE_URL: databaseUrl,
        ...serverKeys,
        OUTBOUND_ALLOW: '127.0.0.0/8',
        LOG_LEVEL: 'error',
        ...settings,
      })
      runs.push(run)
      await run.shows('Base address')
    },
    kill: async () => {
      await runs.at(-1)?.end('SIGKILL')
    },
    terminate: () => void runs.at(-1)?.process.kill('SIGTERM'),
    output: () => runs.map(({ output }) => output()).join('\n'),
  }
}
