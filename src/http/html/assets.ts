import { readFile } from 'node:fs/promises'
import type { FastifyInstance } from 'fastify'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { drawPicture, PICTURES_PATH } from '../../operations/sandbox/pictures.ts'
import { sendTagged } from '../server/requests/compression.ts'
import { pagesFor } from './page-routes.ts'

const own = new URL('./assets/', import.meta.url)
const pico = new URL('./css/', new URL(import.meta.resolve('@picocss/pico/package.json')))

const files: Readonly<Record<string, { readonly file: URL; readonly type: string }>> = {
  'pico.css': { file: new URL('pico.min.css', pico), type: 'text/css; charset=utf-8' },
  'app.css': { file: new URL('app.css', own), type: 'text/css; charset=utf-8' },
  'print.css': { file: new URL('print.css', own), type: 'text/css; charset=utf-8' },
  'app.js': { file: new URL('app.js', own), type: 'text/javascript; charset=utf-8' },
  'editor.js': { file: new URL('editor.js', own), type: 'text/javascript; charset=utf-8' },
  'docs.css': { file: new URL('docs.css', own), type: 'text/css; charset=utf-8' },
  'docs.js': { file: new URL('docs.js', own), type: 'text/javascript; charset=utf-8' },
  'icon.svg': { file: new URL('icon.svg', own), type: 'image/svg+xml' },
}

/** The routes of the files that the pages link to, and of the sandbox's pictures. */
export function assetRoutes(app: FastifyInstance): void {
  pagesFor(app, 'anyone').get('/assets/:file', async (request, reply) => {
    const { file = '' } = request.params as { file?: string }
    const found = Object.hasOwn(files, file) ? files[file] : undefined
    if (!found) throw new StoreFailure('not-found', 'There is no such file', { field: 'file' })
    return sendTagged(request, reply, await readFile(found.file), found.type)
  })
  pagesFor(app, 'anyone').get(`/${PICTURES_PATH}:picture`, async (request, reply) => {
    const { picture = '' } = request.params as { picture?: string }
    const drawn = drawPicture(picture)
    if (drawn === null) throw new StoreFailure('not-found', 'There is no such picture', { field: 'picture' })
    return sendTagged(request, reply, Buffer.from(drawn), 'image/svg+xml')
  })
}
