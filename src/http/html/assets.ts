import { readFile } from 'node:fs/promises'
import { extname } from 'node:path'
import { Readable } from 'node:stream'
import type { FastifyInstance } from 'fastify'
import { isClosed } from '../../access/stores/closing.ts'
import { readFormerLogo } from '../../access/stores/logo.ts'
import type { DataServices } from '../../foundation/database/client.ts'
import { WIDTHS } from '../../foundation/pictures/bounds.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { drawPicture, PICTURES_PATH } from '../../operations/sandbox/pictures.ts'
import { openPicture, type PictureServices } from '../../shop/pictures/pictures.ts'
import { readIds } from '../server/json/parameters.ts'
import { readRange } from '../server/json/problem.ts'
import { sendCompressible, sendTagged } from '../server/requests/compression.ts'
import { pagesFor } from './page-routes.ts'
import { textIn } from './request.ts'

const own = new URL('./assets/', import.meta.url)
const pico = new URL('./css/', new URL(import.meta.resolve('@picocss/pico/package.json')))

const types = { css: 'text/css; charset=utf-8', js: 'text/javascript; charset=utf-8', svg: 'image/svg+xml' } as const
const names = ['app.css', 'icons.css', 'print.css', 'app.js', 'editor.js', 'docs.css', 'docs.js', 'icon.svg'] as const
const files: ReadonlyMap<string, URL> = new Map([
  ['pico.css', new URL('pico.min.css', pico)],
  ...names.map((name) => [name, new URL(name, own)] as const),
])

/** The routes of the files that the pages link to, of the sandbox's pictures, and of the logos of stores, which every invoice has. */
export function assetRoutes(
  app: FastifyInstance,
  services: Pick<DataServices, 'db'> & Pick<PictureServices, 'files'>,
): void {
  // An outage of the database must not take the pictures off a shop's pages.
  const isOpen = async (storeId: number) => !(await isClosed(services.db, storeId).catch(() => false))
  pagesFor(app, 'anyone').get('/assets/:file', async (request, reply) => {
    const { file = '' } = request.params as { file?: string }
    const found = files.get(file)
    if (!found) throw new StoreFailure('not-found', 'There is no such file', { field: 'file' })
    return sendTagged(request, reply, await readFile(found), types[extname(file).slice(1) as keyof typeof types])
  })
  pagesFor(app, 'anyone').get(`/${PICTURES_PATH}:picture`, async (request, reply) => {
    const { picture = '' } = request.params as { picture?: string }
    const drawn = drawPicture(picture)
    if (drawn === null) throw new StoreFailure('not-found', 'There is no such picture', { field: 'picture' })
    return sendTagged(request, reply, Buffer.from(drawn), 'image/svg+xml')
  })
  pagesFor(app, 'anyone').get('/logo/:storeId/:version', async ({ params }, reply) => {
    const version = textIn(params, 'version')
    const isTime = /^\d{1,15}$/.test(version)
    const { storeId } = readIds(params, 'storeId')
    const found = isTime && (await isOpen(storeId)) ? await readFormerLogo(services, storeId, Number(version)) : null
    if (found === null) throw new StoreFailure('not-found', 'There is no such logo', { field: 'version' })
    // What is at an address never changes.
    reply.header('cache-control', 'public, max-age=31536000, immutable').type(found.type)
    return sendCompressible(reply, Buffer.from(found.bytes))
  })
  pagesFor(app, 'anyone').get('/files/:storeId/:name/:width', async ({ params, headers }, reply) => {
    const { name = '', width = '' } = params as Readonly<Record<string, string>>
    const isPath = /^[\w-]{22}$/.test(name) && WIDTHS.some((known) => String(known) === width)
    const ranges = (headers.accept ?? '').toLowerCase().split(',').map(readRange)
    const isWebp = ranges.some((range) => range.type === 'image/webp' && range.quality > 0)
    const { storeId } = readIds(params, 'storeId')
    const found =
      isPath && (await isOpen(storeId)) ? await openPicture(services.files, storeId, name, Number(width), isWebp) : null
    if (found === null) throw new StoreFailure('not-found', 'There is no such picture', { field: 'name' })
    reply.header('cache-control', 'public, max-age=31536000, immutable').header('vary', 'Accept')
    reply.header('content-security-policy', "default-src 'none'; sandbox").header('content-length', found.size)
    return reply.type(found.type).send(Readable.from(found.bytes))
  })
}
