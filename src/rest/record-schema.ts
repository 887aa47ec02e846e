import type { FastifyInstance } from 'fastify'
import { anyOrigin, sendOptions } from '../html/cors.ts'
import { servedResources } from '../resources/index.ts'
import type { RecordType } from './body.ts'
import { endpointsOf } from './endpoints.ts'
import { digest, isNamed } from './entity-tags.ts'
import { recordSchemaText } from './xsd.ts'

/** `GET /records.xsd`: the schema of all XML that REST takes and gives, for anyone; it changes with the program alone. */
export function recordSchema(app: FastifyInstance): void {
  const text = recordSchemaText(addressedTypes())
  const etag = `"${digest(text)}"`
  app.options('/records.xsd', (_request, reply) => sendOptions(reply, 'GET, HEAD'))
  app.get('/records.xsd', (request, reply) => {
    reply.headers({ ...anyOrigin, 'cache-control': 'public, max-age=3600', etag })
    if (isNamed(etag, request.headers['if-none-match'])) return reply.code(304).send()
    return reply.type('application/xml; charset=utf-8').send(text)
  })
}

/** What the addresses of the registry take and give. */
function addressedTypes(): RecordType[] {
  const operations = servedResources.flatMap(endpointsOf).flatMap((endpoint) => Object.values(endpoint.operations))
  return operations.flatMap(({ takes, gives }) => [
    ...(takes === undefined ? [] : [takes.type]),
    ...(gives.kind === 'results' ? [] : [gives.type]),
  ])
}
