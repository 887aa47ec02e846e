import Fastify, { type InjectOptions } from 'fastify'
import { diskFiles } from '../../../../src/foundation/files/disk.ts'
import { createDecoder } from '../../../../src/foundation/pictures/decoder.ts'
import { openPages } from '../../../../src/http/html/page-routes.ts'
import { registerOperatorRoutes } from '../../../../src/http/operator/routes.ts'
import { adminRoutes } from '../../../../src/http/pages/routes.ts'
import { createMetrics } from '../../../../src/http/server/figures/metrics.ts'
import { noteRequests } from '../../../../src/http/server/requests/request-log.ts'
import { openAccess } from '../../../support/access.ts'
import { workerDatabase } from '../../../support/database.ts'

/** The operator's routes alone; everything logged is kept. */
export async function openAdmin({ publicUrl = 'http://localhost:3000', openDatabase = workerDatabase } = {}) {
  const { services: access, clock, close: closeAccess } = await openAccess(openDatabase)
  const config = { ...access.config, publicUrl, sandbox: false, trustProxy: ['127.0.0.1'] }
  const csvImports = { wake: () => {}, soon: async () => {} }
  const pictures = { files: diskFiles('/nowhere'), decoder: createDecoder() }
  const operatorKey = 'operator-key-for-tests'
  const services = { ...access, ...pictures, backgroundDb: access.db, config, csvImports, operatorKey }
  const log: string[] = []
  const app = Fastify({
    bodyLimit: 10_485_760,
    trustProxy: '127.0.0.1',
    logger: { level: 'trace', stream: { write: (line) => log.push(line) } },
  })
  noteRequests(app, createMetrics())
  app.register(async (scope) => {
    await openPages(scope, services)
    scope.register(registerOperatorRoutes, services)
    scope.register(adminRoutes, services)
  })
  await app.ready()

  /** A request with the operator's key, unless `options` have other headers. */
  function call(method: 'GET' | 'POST' | 'PUT' | 'DELETE', url: string, body?: unknown, options: InjectOptions = {}) {
    const headers = { authorization: `Bearer ${services.operatorKey}`, ...options.headers }
    const payload = body === undefined ? {} : { payload: body as object }
    return app.inject({ method, url, ...payload, ...options, headers })
  }

  async function close() {
    await app.close()
    await closeAccess()
  }

  return { app, services, clock, log, call, close }
}
