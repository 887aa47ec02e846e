import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { anyOrigin, sendOptions } from '../server/cors.ts'
import type { OpenApiDocument } from '../server/openapi.ts'
import { sendTagged } from '../server/send-tagged.ts'

export interface ReferenceServices {
  config: { readonly publicUrl: string }
}

const HTML = 'text/html; charset=utf-8'
const CSS = 'text/css; charset=utf-8'
const SCRIPT = 'text/javascript; charset=utf-8'

const own = new URL('./page/', import.meta.url)
const swagger = new URL('./static/', import.meta.resolve('@fastify/swagger-ui/package.json'))

/** The page and its files, by address. */
const files: Readonly<Record<string, { readonly file: URL; readonly type: string }>> = {
  '/docs': { file: new URL('index.html', own), type: HTML },
  '/docs/start.js': { file: new URL('start.js', own), type: SCRIPT },
  '/docs/page.css': { file: new URL('page.css', own), type: CSS },
  '/docs/swagger-ui.css': { file: new URL('swagger-ui.css', swagger), type: CSS },
  '/docs/swagger-ui-bundle.js': { file: new URL('swagger-ui-bundle.js', swagger), type: SCRIPT },
}

/** Nothing from elsewhere, no script but the page's files, and requests to this server alone. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

/**
 * `/openapi.json` and `/docs`, for anyone. The document is made when it is first asked for: it changes with the program and
 * its settings alone.
 */
export function reference(
  app: FastifyInstance,
  { config }: ReferenceServices,
  makeDocument: () => OpenApiDocument,
): void {
  let text: string | undefined
  app.get('/openapi.json', async (request, reply) => {
    text ??= JSON.stringify(makeDocument())
    reply.headers(anyOrigin)
    return sendTagged(request, reply, text, 'application/json; charset=utf-8')
  })
  app.options('/openapi.json', (_request, reply) => sendOptions(reply, 'GET, HEAD'))
  app.register(async (scope) => servePage(scope, config))
}

function servePage(app: FastifyInstance, { publicUrl }: ReferenceServices['config']): void {
  const isHttpsOnly = publicUrl.startsWith('https:')
  app.addHook('onRequest', async (request, reply) => {
    // Keys are typed into the page.
    if (isHttpsOnly && request.protocol !== 'https') return reply.redirect(`${publicUrl}/docs`)
    reply.headers({
      ...anyOrigin,
      'content-security-policy': CONTENT_SECURITY_POLICY,
      'referrer-policy': 'no-referrer',
    })
  })
  for (const [address, { file, type }] of Object.entries(files)) {
    app.get(address, async (request, reply) => sendTagged(request, reply, await readFile(file), type))
    app.options(address, (_request, reply) => sendOptions(reply, 'GET, HEAD'))
  }
}
