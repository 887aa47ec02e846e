import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { DateTime } from 'luxon'
import type { Config } from '../../foundation/process/settings.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { pageHeaders } from '../html/guard.ts'
import { renderPage } from '../html/page.ts'
import { textIn } from '../html/request.ts'
import { type ApiPart, openOperation, type Response, ref, requestId } from '../server/json/openapi.ts'
import { sendTagged } from '../server/requests/compression.ts'
import { anyOrigin, sendOptions } from '../server/requests/headers.ts'
import { plainHttpOfPages } from '../server/requests/plain-http.ts'
import type { Documentation } from './documentation.ts'
import type { ApiDocument } from './operations.ts'

export interface ReferenceServices {
  config: Pick<Config, 'publicUrl' | 'trustProxy' | 'mailFrom'>
}

/** Adds `/openapi.json` and the pages below `/docs`, for anyone. Both are made at the first request and kept. */
export function reference(app: FastifyInstance, { config }: ReferenceServices, makeDocument: () => ApiDocument): void {
  let text: string | undefined
  const textOf = () => {
    text ??= JSON.stringify(makeDocument())
    return text
  }
  app.get('/openapi.json', async (request, reply) => {
    reply.headers(anyOrigin)
    return sendTagged(request, reply, textOf(), 'application/json; charset=utf-8')
  })
  app.options('/openapi.json', (_request, reply) => sendOptions(reply, 'GET, HEAD'))
  app.register(async (scope) => servePages(scope, config, () => JSON.parse(textOf())))
}

const config = { roles: ['anyone'] } as const
const noMarkdown = 'There is no such Markdown: /llms.txt lists what there is, and /openapi.json has every operation'
const HTML = 'text/html; charset=utf-8'
const { 'cache-control': _, ...headersOfPages } = pageHeaders

/**
 * The pages are the same for everybody, whoever is signed in, so that they can be kept and compressed. The keys that a developer tries
 * operations with are fetched by the page's script.
 */
function servePages(app: FastifyInstance, services: ReferenceServices['config'], makeDocument: () => ApiDocument) {
  const plainHttpOf = plainHttpOfPages(services)
  let making: Promise<Documentation> | undefined
  const documentation = () => {
    making ??= import('./documentation.ts').then(({ makeDocumentation }) => makeDocumentation(makeDocument(), services))
    return making
  }
  app.addHook('onRequest', async (request, reply) => {
    const plainHttp = plainHttpOf(request)
    // Redirects to https, because users type keys into the pages.
    if (plainHttp?.canLeadOn) return reply.redirect(services.publicUrl + request.url)
    if (plainHttp) throw new StoreFailure('insecure-transport', plainHttp.fault)
    reply.headers({ ...anyOrigin, ...headersOfPages, 'cross-origin-opener-policy': 'same-origin' })
  })

  const sendKept = async (request: FastifyRequest, reply: FastifyReply, address: string) => {
    const { htmlOf, fileOf, canonicalOf } = await documentation()
    const file = fileOf(address)
    if (file !== undefined) return sendTagged(request, reply, file.text, file.type)
    const html = htmlOf(address, (page) => renderPage(request, page))
    if (html === undefined) {
      const canonical = canonicalOf(address)
      if (canonical === undefined && address.endsWith('.md')) throw new StoreFailure('unknown-address', noMarkdown)
      return canonical === undefined ? reply.callNotFound() : reply.redirect(encodeURI(canonical))
    }
    return sendTagged(request, reply, html, HTML)
  }
  for (const path of ['/docs', '/llms.txt']) {
    app.get(path, { config }, (request, reply) => sendKept(request, reply, path))
  }
  app.get('/.well-known/security.txt', { config }, (_request, reply) => sendContact(reply, services))
  let client: Promise<Buffer> | undefined
  app.get('/docs/client.tgz', { config }, async (request, reply) => {
    client ??= import('./client-package.ts').then(({ packClient }) => packClient())
    return sendTagged(request, reply, await client, 'application/gzip')
  })
  app.get('/docs/*', { config }, (request, reply) =>
    sendKept(request, reply, `/docs/${(request.params as { '*': string })['*']}`),
  )
  app.get('/docs/search', { config }, async (request, reply) => {
    const page = (await documentation()).search(textIn(request.query, 'q'), textIn(request.query, 'from'))
    return reply.header('cache-control', 'no-cache').type(HTML).send(renderPage(request, page))
  })
  for (const path of ['/docs', '/docs/*']) app.options(path, { config, onRequest }, async () => undefined)
}

/** Answers OPTIONS before a body is read, of whatever type it is. */
const onRequest = async (_request: FastifyRequest, reply: FastifyReply) => sendOptions(reply, 'GET, HEAD')

const CONTACT_DAYS = 90

/** RFC 9116: whom to tell of a weakness. 404 where mails have no sender, because nobody would read it. */
function sendContact(reply: FastifyReply, { mailFrom, publicUrl }: ReferenceServices['config']) {
  if (mailFrom === null) return reply.callNotFound()
  const expires = DateTime.utc().startOf('day').plus({ days: CONTACT_DAYS }).toISO({ suppressMilliseconds: true })
  const lines = [
    `Contact: mailto:${mailFrom.address}`,
    `Expires: ${expires}`,
    'Preferred-Languages: en, de',
    `Canonical: ${publicUrl}/.well-known/security.txt`,
  ]
  return reply.type('text/plain; charset=utf-8').send(`${lines.join('\n')}\n`)
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
          { 200: found('The document.', 'application/json', { type: 'object' }), 304: unmodified },
        ),
      },
      '/docs': {
        get: openOperation(
          'browse',
          'Guides and this reference, as pages',
          'For people with a browser, who need no script to read it; with one, requests can be tried.',
          {
            200: found('The start page.', 'text/html', { type: 'string' }),
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
