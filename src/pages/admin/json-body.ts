import type { FastifyInstance } from 'fastify'

const BODY_LIMIT_BYTES = 1_048_576

/** Bodies of this scope are JSON of at most 1 MB; an empty one is none, as clients send it with DELETE. */
export function readJsonBodies(app: FastifyInstance) {
  const parse = app.getDefaultJsonParser('error', 'error')
  app.removeAllContentTypeParsers()
  app.addContentTypeParser<string>(
    'application/json',
    { parseAs: 'string', bodyLimit: BODY_LIMIT_BYTES },
    (request, body, done) => {
      if (body.trim() === '') done(null, undefined)
      else parse(request, body, done)
    },
  )
}
