import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { sendTagged } from '../server/compression.ts'
import { anyOrigin, sendOptions } from '../server/headers.ts'
import { type ApiPart, openOperation, type Response, ref, requestId } from '../server/openapi.ts'
import { plainHttpOfPages } from '../server/plain-http.ts'
import { StoreFailure } from '../values/failure.ts'

export interface ReferenceServices {
  config: { readonly publicUrl: string; readonly trustProxy: readonly string[] }
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

/** Allows nothing from other hosts, no script but the page's files, and requests to this server only. */
const CONTENT_SECURITY_POLICY =
  "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'; " +
  "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

/** Adds `/openapi.json` and `/docs`, for anyone. The document is created on the first request and cached. */
export function reference(app: FastifyInstance, { config }: ReferenceServices, makeDocument: () => object): void {
  let text: string | undefined
  app.get('/openapi.json', async (request, reply) => {
    text ??= JSON.stringify(makeDocument())
    reply.headers(anyOrigin)
    return sendTagged(request, reply, text, 'application/json; charset=utf-8')
  })
  app.options('/openapi.json', (_request, reply) => sendOptions(reply, 'GET, HEAD'))
  app.register(async (scope) => servePage(scope, config))
}

function servePage(app: FastifyInstance, config: ReferenceServices['config']): void {
  const plainHttpOf = plainHttpOfPages(config)
  app.addHook('onRequest', async (request, reply) => {
    const plainHttp = plainHttpOf(request)
    // Redirects to https, because users type keys into the page.
    if (plainHttp?.canLeadOn) return reply.redirect(`${config.publicUrl}/docs`)
    if (plainHttp) throw new StoreFailure('insecure-transport', plainHttp.fault)
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

export function describeReference(): ApiPart {
  return {
    tags: [],
    paths: {
      '/openapi.json': {
        get: openOperation(
          'showDescription',
          'This reference, as OpenAPI 3.1',
          'For generators of clients and other tools. It changes only with the program.',
          {
            200: found('The document.', 'application/json', { type: 'object' }),
            304: unmodified,
          },
        ),
      },
      '/docs': {
        get: openOperation(
          'browse',
          'This reference, as a page',
          'For people with a browser; requests can be tried from it.',
          {
            200: found('The page.', 'text/html', { type: 'string' }),
            302: { description: 'To its https address, where PUBLIC_URL is one.' },
            304: unmodified,
          },
        ),
      },
    },
    components: {},
  }
}

const headers = { ...requestId, ETag: ref('headers', 'ETag') }
const unmodified: Response = { description: 'The caller already has the current version.', headers }

function found(description: string, type: string, schema: { readonly type: string }): Response {
  return { description, headers, content: { [type]: { schema } } }
}
