import { once } from 'node:events'
import type { Server } from 'node:http'
import { setTimeout as delay, setImmediate as immediate } from 'node:timers/promises'
import type { FastifyInstance } from 'fastify'
import type { Log } from '../../../foundation/process/log.ts'
import { cannotListen } from '../../../foundation/process/port.ts'
import type { Config } from '../../../foundation/process/settings.ts'
import { type Part, type Shutdown, STOP_TIMEOUT_MS } from '../../../foundation/process/shutdown.ts'
import { plainServer } from './plain-http.ts'

/** The application at its ports. It stops after the drain. */
export function webServer(
  app: FastifyInstance,
  { host, port, httpPort }: Pick<Config, 'host' | 'port' | 'httpPort'>,
  { log, drain }: { log: Log; drain: Shutdown['drain'] },
): Part {
  const plain = plainServer(app)
  return {
    async start() {
      await app.ready()
      await app.listen({ host, port }).catch((error) => {
        throw cannotListen({ host, port, setting: 'PORT' }, error)
      })
      if (httpPort === null) return
      await once(plain.listen({ host, port: httpPort }), 'listening').catch((error) => {
        throw cannotListen({ host, port: httpPort, setting: 'HTTP_PORT' }, error)
      })
      log.info({ host, port: httpPort }, 'Server listening by plain http too')
    },
    async stop() {
      await drain()
      await closeServers(app, plain, log)
    },
  }
}

/** Accepts no more connections, closes idle ones, and waits a bounded time for requests in progress. */
async function closeServers(app: FastifyInstance, plain: Server, log: Log): Promise<void> {
  const closed = app.close()
  plain.close()
  while (app.server.listening || plain.listening) await immediate()
  const isDrained = await Promise.race([app.drained().then(() => true), delay(STOP_TIMEOUT_MS, false)])
  if (!isDrained) log.warn('requests were cut off that took longer than the time for stopping')
  // Includes connections that never sent a request.
  for (const server of [app.server, plain]) server.closeAllConnections()
  await closed
}
