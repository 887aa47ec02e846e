import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { JsonText } from '../../../engine/definition/endpoints.ts'
import { refused } from '../../../engine/definition/refused.ts'
import { type Behind, getRecords, listOrdered, type OrderedPage } from '../../../engine/reading/read.ts'
import { valueIn } from '../../../foundation/values/json.ts'
import { textIn } from '../../html/request.ts'
import type { PageRequest, Wire } from '../frame/pages.ts'
import { chosenIn } from './chosen.ts'
import { type CsvCell, csvFormIn, exportForm, fileTypes, sendCsv } from './csv-form.ts'
import { askedIn, isColumn, orderOf } from './list-page.ts'
import { listedOf } from './search.ts'
import { textSeenBy } from './seen.ts'
import type { Service } from './services.ts'

/** Records that are read at a time. A file of any size takes no more memory. */
const BATCH = 100

/**
 * Sends the records of a list as a file, as the address filters and sorts them, or those that it names by `ids`: whole, a JSON text a line, or their values as CSV
 * with wire names as its headings, unless the address asks for another form. Records that change while the file is read are in it as they
 * were or as they are.
 */
export async function sendFile(asked: PageRequest, whole: Service, reply: FastifyReply): Promise<FastifyReply> {
  const { caller, query } = asked
  const service = listedOf(caller.privileges, whole)
  const format = textIn(query, 'format')
  if (format !== 'csv' && format !== 'ndjson') throw refused('format', 'format must be csv or ndjson')
  const form = csvFormIn(query, exportForm)
  const pages = await pagesAsked(asked, service)
  const name = `${service.resource.service.toLowerCase()}-${caller.now().toISOString().slice(0, 10)}.${format}`
  if (format === 'csv') return sendCsv(reply, name, form, csvOf(service, pages))
  return reply
    .type(fileTypes[format])
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(Readable.from(linesOf(pages, textSeenBy(caller.privileges, service.resource))))
}

/**
 * The records of a list as the address filters and sorts them, or those that it names by `ids`, a hundred at a time. What is asked wrongly
 * is refused before the first.
 */
export async function pagesAsked(
  { caller, query }: PageRequest,
  service: Service,
): Promise<AsyncGenerator<readonly JsonText[]>> {
  const { resource } = service
  const { filters, sort } = askedIn(query, service)
  const { by: order } = orderOf(service, sort).order
  const chosen = Object.hasOwn(query as object, 'ids') ? chosenIn(query) : null
  const read: ReadPage = async (behind) =>
    chosen === null
      ? listOrdered(caller, resource, new Map(Object.entries(filters)), { order, behind, limit: BATCH })
      : { records: await getRecords(caller, resource, chosen), next: null }
  return pagesFrom(await read(null), read)
}

type ReadPage = (behind: Behind | null) => Promise<OrderedPage>

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

function csvOf({ values }: Service, pages: AsyncIterable<readonly JsonText[]>): Parameters<typeof sendCsv>[3] {
  const columns = values.filter(isColumn)
  const cellOf = (value: unknown) => (typeof value === 'number' ? value : String(value ?? ''))
  const rows = rowsOf(pages, (record: Wire) => [columns.map(({ path }) => cellOf(valueIn(record, path)))])
  return { columns: columns.map(({ path, label }) => ({ name: path.join('.'), label })), rows }
}

/** The rows of a file that its records make. */
export async function* rowsOf<Known>(
  pages: AsyncIterable<readonly JsonText[]>,
  cellsOf: (record: Known) => readonly (readonly CsvCell[])[],
) {
  for await (const records of pages) yield records.flatMap((text) => cellsOf(JSON.parse(String(text))))
}
