import type { FastifyInstance } from 'fastify'
import type { RecordType } from '../engine/endpoints.ts'
import { servedResources } from '../registry.ts'
import { anyOrigin, sendOptions } from '../server/cors.ts'
import { sendTagged } from '../server/send-tagged.ts'
import { endpointsOf } from './endpoints.ts'
import { recordSchemaText } from './xsd.ts'

/** Serves `GET /records.xsd` to anyone: the schema of all REST XML, which changes only with the program. */
export function recordSchema(app: FastifyInstance): void {
  const text = recordSchemaText(addressedTypes())
  app.options('/records.xsd', (_request, reply) => sendOptions(reply, 'GET, HEAD'))
  app.get('/records.xsd', (request, reply) => {
    reply.headers(anyOrigin)
    return sendTagged(request, reply, text, 'application/xml; charset=utf-8', 'public, max-age=3600')
  })
}

/** The types of all requests and answers in the registry. */
function addressedTypes(): RecordType[] {
  const operations = servedResources.flatMap(endpointsOf).flatMap((endpoint) => Object.values(endpoint.operations))
  return operations.flatMap(({ takes, gives }) => [
    ...(takes === undefined ? [] : [takes.type]),
    ...(gives.kind === 'results' ? [] : [gives.type]),
  ])
}
