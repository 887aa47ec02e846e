import { PassThrough, type Readable, type Writable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import { operatorCaller } from '../../access/stores/caller-store.ts'
import type { Caller } from '../../engine/caller.ts'
import { exportRecords } from '../../engine/transfer/export.ts'
import { type ImportWatch, importRecords } from '../../engine/transfer/import.ts'
import { readLines } from '../../engine/transfer/lines.ts'
import type { Db, Transaction } from '../../foundation/database/client.ts'
import type { Files } from '../../foundation/files/files.ts'
import { StoreFailure } from '../../foundation/values/failure.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import { erasedAmong } from '../../shop/personal/refuse.ts'
import type { PictureServices } from '../../shop/pictures/pictures.ts'
import { exportPictures, takePictures } from '../../shop/pictures/transfer.ts'
import { transferredResources } from '../../shop/registry.ts'
import type { CallerServices } from '../html/request.ts'
import { ofOwner, operatorRoute } from '../html/route-groups.ts'
import type { BodyType, JsonAnswer } from '../server/json/json-routes.ts'
import { type Content, requestId } from '../server/json/openapi.ts'
import { unsupportedMedia } from '../server/requests/receive.ts'

export const NDJSON = 'application/x-ndjson'
const ndjson: Content = { [NDJSON]: { schema: { type: 'string' } } }

/** A response of JSON lines, which the handler sends. */
function lines(description: string): JsonAnswer<never> {
  return { response: { description, headers: requestId, content: ndjson }, write: (value) => value }
}

/** The buffer of a report, for a client that sends its whole file before it reads the response. */
const REPORT_BYTES = 1024 * 1024

const importQuery = namedObject({
  events: z
    .enum(['true', 'false'], 'must be true or false')
    .default('false')
    .describe('`true`: changes made by the import are recorded as events, and webhooks are notified.'),
})

/** Records that one request may name. */
const IDS_MAX = 500
const serviceNames = transferredResources.map(({ service }) => service)
const idsWanted = `must be at most ${IDS_MAX} ids, with commas between them`

const exportQuery = namedObject({
  service: z
    .enum(serviceNames, `must be one of ${serviceNames.join(', ')}`)
    .optional()
    .describe('Only the records of this service.'),
  ids: z
    .string(idsWanted)
    .regex(/^\d{1,10}(,\d{1,10})*$/, idsWanted)
    .transform((given) => given.split(',').map(Number))
    .pipe(z.array(z.number().max(INT32_MAX, idsWanted)).max(IDS_MAX, idsWanted))
    .optional()
    .describe('Only these records of `service`, without the rows of their ledgers.'),
})

const recordLines: BodyType<Readable, unknown> = {
  describe: () => ({ description: 'In the format of an export.', content: ndjson }),
  read: ({ body }) => body as Readable,
}

export interface TransferServices extends CallerServices, PictureServices {
  backgroundDb: Db
}

/** A transfer may take an hour, so it takes no connection from requests. */
function transferCaller({ backgroundDb, secrets, now }: TransferServices, storeId: number): Promise<Caller> {
  return operatorCaller({ db: backgroundDb, secrets, now }, storeId)
}

/** At a time, in one process: each holds a connection that deliveries could use. */
const TRANSFERS_MAX = 2
const underWay = new WeakMap<Db, number>()

/** Runs a transfer while its answer is being sent. Throws `unavailable` while two are under way. */
function begin({ backgroundDb }: TransferServices, transfer: () => Promise<void>): void {
  const count = underWay.get(backgroundDb) ?? 0
  if (count >= TRANSFERS_MAX) {
    const message = `${TRANSFERS_MAX} imports and exports are under way; try again when one of them has ended`
    throw new StoreFailure('unavailable', message, { retryAfterSeconds: 60 })
  }
  underWay.set(backgroundDb, count + 1)
  void transfer().finally(() => underWay.set(backgroundDb, (underWay.get(backgroundDb) ?? 1) - 1))
}

/** The routes that export and import a store as any number of `TransferLine` lines (engine/transfer.ts). */
export const transferRoutes = [
  operatorRoute('GET /admin/stores/:id/export', {
    ...ofOwner,
    id: 'exportStore',
    summary: 'Stream a store out',
    description:
      'Streams all records of a store as JSON lines: what `POST /admin/stores/{id}/import` takes. Changes that are made meanwhile may be in it or not; at most two transfers run at a time (503). Also for owners who have shown their password in the last 15 minutes, and while the store is closed.',
    query: exportQuery,
    answers: { 200: lines('Records, one per line; the line `{"end": …}` ends a complete file.') },
    isStreamed: true,
    run: async ({ request, reply, ids, query }, services: TransferServices) => {
      if (query.ids !== undefined && query.service === undefined) {
        throw new StoreFailure('missing-field', 'ids needs service', { field: 'service' })
      }
      const caller = await transferCaller(services, ids.id)
      const file = new PassThrough()
      begin(services, () => runExport(caller, { file, query, files: services.files }, request))
      request.caller = caller
      reply.header('content-disposition', `attachment; filename="store-${ids.id}.ndjson"`)
      return reply.type(NDJSON).send(file)
    },
  }),
  operatorRoute('POST /admin/stores/:id/import', {
    roles: ['operator-key'],
    id: 'importStore',
    summary: 'Stream a store in',
    description:
      'Stores the records of an export, whose numbers stay. A line that is refused does not stop the others, and an order that gets the invoice number of another is stored and told as `warned`; sending a file again updates the same records. Lines of records whose person was erased are passed over: `passed` counts them. At most two transfers run at a time (503).',
    ids: { id: 'The store.' },
    query: importQuery,
    body: recordLines,
    answers: { 200: lines('A report: `progress`, `refused` for each refused line, and finally `done` or `failed`.') },
    isStreamed: true,
    // The report starts while the body is still being read, so the status is 200 whether or not lines are refused.
    run: async ({ request, reply, ids, query, body }, services: TransferServices) => {
      const sent = body()
      const caller = await transferCaller(services, ids.id)
      const report = new PassThrough({ highWaterMark: REPORT_BYTES })
      const raising = query.events === 'true'
      const pictures = takePictures({ ...services, db: services.backgroundDb }, ids.id)
      begin(services, () => runImport(caller, { lines: sent, report, raising }, pictures, request))
      request.caller = caller
      return reply.type(NDJSON).send(report)
    },
  }),
]

/** Lets the routes of `app` read bodies of any length as streams. */
export function streamBodies(app: FastifyInstance): void {
  app.addHook('preHandler', ({ method, body }, _reply, done) => {
    done(method === 'POST' && !body ? notNdjson() : undefined)
  })
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(NDJSON, (_request, payload, done) => done(null, payload))
  app.addContentTypeParser('*', (_request, _payload, done) => done(notNdjson(), undefined))
}

function notNdjson() {
  return unsupportedMedia('Content-Type', `Content-Type must be ${NDJSON}: one JSON object a line`)
}

/** Truncates the file on any error: without its end line it is recognizably incomplete. */
async function runExport(
  caller: Caller,
  { file, query, files }: { file: PassThrough; query: z.output<typeof exportQuery>; files: Files },
  { log }: FastifyRequest,
): Promise<void> {
  try {
    const { service, ids = null } = query
    const wanted = transferredResources.filter((resource) => service === undefined || resource.service === service)
    const write = (lines: string) => writeText(file, lines)
    const writeFirst = async (db: Transaction) =>
      service === undefined ? exportPictures(db, files, caller.store.id, write) : 0
    await exportRecords(caller, wanted, write, ids, writeFirst)
    file.end()
  } catch (error) {
    if (file.destroyed) log.info('the export ended with its client')
    else log.error({ err: error }, 'the export failed')
    file.destroy()
  }
}

const PROGRESS_INTERVAL_MS = 500

/**
 * Writes the report of an import, one JSON object per line: `progress` at intervals, `refused` for each refused line,
 * `warned` for what is stored and worth a look, finally `done`, or `failed` if the server could not continue. When the client has disconnected, writes nothing.
 */
async function runImport(
  caller: Caller,
  { lines: body, report, raising }: { lines: Readable; report: PassThrough; raising: boolean },
  pictures: ReturnType<typeof takePictures>,
  { log, raw }: FastifyRequest,
): Promise<void> {
  let shownAtMs = 0
  const write = async (line: object) => {
    if (!report.destroyed) await writeText(report, `${JSON.stringify(line)}\n`)
  }
  const progress = async ({ lines, stored }: { lines: number; stored: number }) => {
    const nowMs = caller.now().getTime()
    // Skips progress while the client is not reading.
    if (nowMs - shownAtMs < PROGRESS_INTERVAL_MS || report.writableNeedDrain) return
    shownAtMs = nowMs
    await write({ progress: { lines, stored } })
  }
  const watch: ImportWatch = {
    progress,
    storeOther: pictures.store,
    refused: (refused) => write({ refused }),
    warned: (warned) => write({ warned }),
  }
  try {
    // The first line sends the response's headers.
    void write({ progress: { lines: 0, stored: 0 } })
    const lines = readLines(body, undefined, pictures.rewrite)
    const counts = await importRecords(caller, transferredResources, lines, watch, { raising, passesOver: erasedAmong })
    await write({ done: counts })
    log.info({ storeId: caller.store.id, ...counts }, 'import')
  } catch (error) {
    if (raw.destroyed && !raw.complete) {
      log.info('the import ended with its client; what was stored stays')
    } else {
      log.error({ err: error }, 'the import failed')
      await write({ failed: { message: 'The server could not go on. What is stored stays: run the import again' } })
    }
  }
  report.end()
}

/** Writes, and waits for the stream to drain if its buffer is full. Throws if the stream is already closed. */
export async function writeText(stream: Writable, text: string): Promise<void> {
  if (stream.destroyed) throw new Error('The stream is closed')
  if (stream.write(text)) return
  const { promise, resolve } = Promise.withResolvers<void>()
  const go = () => {
    stream.off('drain', go).off('close', go)
    resolve()
  }
  stream.on('drain', go).on('close', go)
  return promise
}
