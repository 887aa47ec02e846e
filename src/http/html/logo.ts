import type { FastifyInstance } from 'fastify'
import { readLogo } from '../../access/stores/logo.ts'
import type { DataServices } from '../../foundation/database/client.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { readIds } from '../server/json/parameters.ts'
import { sendCompressible } from '../server/requests/compression.ts'
import { pagesFor } from './page-routes.ts'
import { textIn } from './request.ts'

/** Adds the address of the logos of stores, which are open to everybody, because every invoice has one. */
export function logoRoute(app: FastifyInstance, services: Pick<DataServices, 'db'>): void {
  pagesFor(app, 'anyone').get('/logo/:storeId/:version', async ({ params }, reply) => {
    const { storeId = 0 } = readIds(params, 'storeId')
    const version = textIn(params, 'version')
    const found = /^\d{1,15}$/.test(version) ? await readLogo(services, storeId, Number(version)) : null
    if (found === null) throw new StoreFailure('not-found', 'There is no such logo', { field: 'version' })
    // What is at an address never changes.
    reply.header('cache-control', 'public, max-age=31536000, immutable').type(found.type)
    return sendCompressible(reply, Buffer.from(found.bytes))
  })
}
