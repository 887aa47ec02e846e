import { PassThrough, type Readable } from 'node:stream'
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { z } from 'zod'
import type { Db } from '../database/client.ts'
import type { Caller } from '../engine/caller.ts'
import { exportRecords } from '../engine/transfer/export.ts'
import { type ImportOptions, importRecords } from '../engine/transfer/import.ts'
import { readLines } from '../engine/transfer/lines.ts'
import { transferredResources } from '../registry.ts'
import { readIds } from '../server/parameters.ts'
import { operatorCaller } from '../stores/stores.ts'
import { StoreFailure } from '../values/failure.ts'
import { namedObject, readInput } from '../values/input.ts'
import { createImportReport, type ImportReport } from './import-report.ts'
import { writeText } from './write-text.ts'

export interface TransferServices {
  db: Db
  now: () => Date
}

const NDJSON = 'application/x-ndjson'
/** So much of a report waits for a client that sends its whole file before it reads the answer. */
const REPORT_BYTES = 1024 * 1024

export const importQuery = namedObject({ events: z.enum(['true', 'false'], 'must be true or false').optional() })

/** Moving a store in and out, as lines of `TransferLine` (engine/transfer.ts) of any number. */
export async function transferRoutes(app: FastifyInstance, services: TransferServices) {
  streamBodies(app)

  // A line `{"end": …}` closes a complete export; without it the download was cut off.
  app.get('/admin/stores/:id/export', { exposeHeadRoute: false }, async (request, reply) => {
    const caller = await callerOf(request, services)
    const file = new PassThrough()
    void runExport(caller, file, request)
    return reply.type(NDJSON).send(file)
  })

  // The answer is a report that begins while the body is still being read, so it is 200 whatever becomes of the lines.
  app.post('/admin/stores/:id/import', { config: { streamed: true } }, async (request, reply) => {
    if (!request.body) throw notNdjson()
    const { events } = readInput(importQuery, request.query, 'The query')
    const caller = await callerOf(request, services)
    const stream = new PassThrough({ highWaterMark: REPORT_BYTES })
    const options = { raising: events === 'true' }
    void runImport(caller, request.body as Readable, createImportReport(stream, services.now), request, options)
    return reply.type(NDJSON).send(stream)
  })
}

function streamBodies(app: FastifyInstance): void {
  app.removeAllContentTypeParsers()
  app.addContentTypeParser(NDJSON, (_request, payload, done) => done(null, payload))
  app.addContentTypeParser('*', (_request, _payload, done) => done(notNdjson(), undefined))
}

function notNdjson(): StoreFailure {
  return new StoreFailure('unsupported-media-type', `Content-Type must be ${NDJSON}: one JSON object a line`, {
    field: 'Content-Type',
  })
}

async function callerOf(request: FastifyRequest, services: TransferServices): Promise<Caller> {
  const { id } = readIds(request.params, 'id')
  const caller = await operatorCaller(services, id)
  request.caller = caller
  return caller
}

/** Whatever goes wrong cuts the file off: without its end line nobody takes it for whole. */
async function runExport(caller: Caller, file: PassThrough, { log }: FastifyRequest): Promise<void> {
  try {
    await exportRecords(caller, transferredResources, (lines) => writeText(file, lines))
    file.end()
  } catch (error) {
    if (file.destroyed) log.info('the export ended with its client')
    else log.error({ err: error }, 'the export failed')
    file.destroy()
  }
}

async function runImport(
  caller: Caller,
  body: Readable,
  report: ImportReport,
  { log, raw }: FastifyRequest,
  options: ImportOptions,
): Promise<void> {
  try {
    report.start()
    const counts = await importRecords(caller, transferredResources, readLines(body), report, options)
    await report.done(counts)
    log.info({ storeId: caller.store.id, ...counts }, 'import')
  } catch (error) {
    if (raw.destroyed && !raw.complete) {
      log.info('the import ended with its client; what was stored stays')
    } else {
      log.error({ err: error }, 'the import failed')
      await report.failed('The server could not go on. What is stored stays: run the import again')
    }
  }
  report.end()
}
