import { Readable } from 'node:stream'
import type { FastifyReply } from 'fastify'
import type { Caller } from '../../../../engine/caller.ts'
import type { Language } from '../../../../foundation/texts/language.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { disarm } from '../../../../shop/csv/lines/cells.ts'
import { columnsOf, hiddenColumns, isTaken } from '../../../../shop/csv/lines/columns.ts'
import { listLines } from '../../../../shop/csv/lines/imports.ts'
import { languageFor, textIn } from '../../../html/request.ts'
import type { PageRequest } from '../../frame/request.ts'
import { fileTypes } from '../../records/files.ts'
import type { Service } from '../../records/services.ts'
import { importOf } from './import-page.ts'
import { ALL } from './upload-page.ts'

/** Sends a file with only headings. */
export async function sendTemplate(
  { caller, query }: PageRequest,
  { resource, path }: Service,
  reply: FastifyReply,
): Promise<FastifyReply> {
  const wanted = textIn(query, 'columns')
  const hidden = new Set(hiddenColumns(caller.privileges, resource).map(({ name }) => name))
  const all = columnsOf(resource).filter(isTaken)
  const chosen = wanted === ALL ? all.map(({ name }) => name) : resource.usualColumns?.[wanted]
  const columns = chosen?.filter((name) => !hidden.has(name))
  if (columns === undefined) throw new StoreFailure('not-found', 'There is no such template')
  const name = `${path.slice('/admin/'.length)}-${wanted.replaceAll(' ', '-')}.csv`
  return sendCsv(
    reply,
    name,
    (async function* () {
      yield [columns]
    })(),
  )
}

/** Lines that are read at a time. */
const BATCH = 500

/** Sends what is wrong with the lines of a file, a problem a line. */
export async function sendProblems(asked: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { found, isHidden } = await importOf(asked, reply)
  const { id } = found
  const rows = problemRows(asked.caller, id, isHidden, languageFor(reply.request))
  return sendCsv(reply, `import-${id}-errors.csv`, rows)
}

async function* problemRows(
  caller: Caller,
  id: number,
  isHidden: (column: string) => boolean,
  { say, sayProblem }: Language,
): AsyncGenerator<string[][]> {
  yield [[t('Line'), t('Column'), t('Value'), t('Problem')].map(say)]
  for (let after: number | undefined = 0; after !== undefined; ) {
    const lines = await listLines(caller, id, { outcomes: ['refused', 'failed'], after, limit: BATCH })
    yield lines.flatMap(({ line, problems }) =>
      problems
        .filter(([column]) => !isHidden(column))
        .map(([column, value, problem]) => [String(line), ...[column, value, sayProblem(problem)].map(disarm)]),
    )
    after = lines.length < BATCH ? undefined : lines.at(-1)?.line
  }
}

async function sendCsv(
  reply: FastifyReply,
  name: string,
  rows: AsyncGenerator<readonly (readonly string[])[]>,
): Promise<FastifyReply> {
  // Loaded with the first file, because a start does not need it.
  const { stringify } = await import('csv-stringify/sync')
  async function* texts() {
    // Spreadsheets take a file without a byte order mark for one in the computer's own encoding.
    let bom = true
    for await (const some of rows) {
      if (some.length > 0) yield stringify(some as string[][], { bom })
      bom = false
    }
  }
  return reply
    .type(fileTypes.csv)
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(Readable.from(texts()))
}
