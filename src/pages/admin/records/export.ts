import { Readable } from 'node:stream'
import type { FastifyReply, FastifyRequest } from 'fastify'
import { disarm } from '../../../csv/cells.ts'
import type { Caller } from '../../../engine/caller.ts'
import { refused } from '../../../engine/definition/refused.ts'
import type { Query } from '../../../engine/reading/paging.ts'
import { type Behind, getRecords, listOrdered, type OrderedPage } from '../../../engine/reading/read.ts'
import type { JsonText } from '../../../engine/reading/representations.ts'
import { type CallerServices, merchantCaller, textIn } from '../../../html/request.ts'
import { valueIn } from '../../../values/json.ts'
import { chosenIn } from './chosen.ts'
import { fileTypes } from './files.ts'
import { askedIn, isColumn, orderOf } from './list-page.ts'
import { textSeenBy } from './seen.ts'
import type { Service } from './services.ts'
import type { Wire } from './values.ts'

/** Records that are read at a time. A file of any size takes no more memory. */
const BATCH = 100

/**
 * Sends the records of a list as a file, as the address filters and sorts them, or those that it names by `ids`: whole, a JSON text a line, or their values as CSV
 * with wire names as its headings. Records that change while the file is read are in it as they were or as they are.
 */
export async function sendFile(
  request: FastifyRequest,
  reply: FastifyReply,
  services: CallerServices,
  service: Service,
): Promise<FastifyReply> {
  const format = textIn(request.query, 'format')
  if (format !== 'csv' && format !== 'ndjson') throw refused('format', 'format must be csv or ndjson')
  const caller = merchantCaller(request, services)
  const { filters, sort } = askedIn(request.query, service)
  const isChosen = Object.hasOwn(request.query as object, 'ids')
  const read = isChosen
    ? chosenReader(caller, service, chosenIn(request.query))
    : reader(caller, service, new Map(Object.entries(filters)), sort)
  // A filter that cannot be read is refused before the file begins.
  const first = await read(null)
  const seen = textSeenBy(caller.privileges, service.resource)
  const name = `${service.resource.service.toLowerCase()}-${services.now().toISOString().slice(0, 10)}.${format}`
  return reply
    .type(fileTypes[format])
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(
      Readable.from(format === 'csv' ? csvOf(service, pagesFrom(first, read)) : linesOf(pagesFrom(first, read), seen)),
    )
}

type ReadPage = (behind: Behind | null) => Promise<OrderedPage>

function reader(caller: Caller, service: Service, query: Query, sort: string): ReadPage {
  const order = orderOf(service, sort).order.by
  return (behind) => listOrdered(caller, service.resource, query, { order, behind, limit: BATCH })
}

function chosenReader(caller: Caller, { resource }: Service, ids: readonly number[]): ReadPage {
  return async () => ({ records: await getRecords(caller, resource, ids), next: null })
}

async function* pagesFrom(first: OrderedPage, read: ReadPage): AsyncGenerator<readonly JsonText[]> {
  for (let page = first; ; page = await read(page.next)) {
    yield page.records
    if (page.next === null) return
  }
}

async function* linesOf(
  pages: AsyncIterable<readonly JsonText[]>,
  seen: (text: string) => string,
): AsyncGenerator<string> {
  for await (const records of pages)
    if (records.length > 0) yield `${records.map((text) => seen(String(text))).join('\n')}\n`
}

async function* csvOf({ values }: Service, pages: AsyncIterable<readonly JsonText[]>): AsyncGenerator<string> {
  // Loaded with the first file, because a start does not need it.
  const { stringify } = await import('csv-stringify/sync')
  const columns = values.filter(isColumn)
  // Spreadsheets take a file without a byte order mark for one in the computer's own encoding.
  yield stringify([columns.map(({ path }) => path.join('.'))], { bom: true })
  for await (const records of pages) {
    const rows = records.map((text) => {
      const record = JSON.parse(String(text)) as Wire
      return columns.map(({ path, field }) => {
        const value = String(valueIn(record, path) ?? '')
        return field.kind === 'text' ? disarm(value) : value
      })
    })
    yield stringify(rows)
  }
}
