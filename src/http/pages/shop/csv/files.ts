import type { FastifyReply } from 'fastify'
import { t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { columnsOf, hiddenColumns, isTaken } from '../../../../shop/csv/lines/columns.ts'
import { listLines } from '../../../../shop/csv/lines/imports.ts'
import { languageFor, textIn } from '../../../html/request.ts'
import type { PageRequest } from '../../frame/pages.ts'
import { type CsvCell, exportForm, sendCsv } from '../../records/csv-form.ts'
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
  return sendCsv(reply, name, exportForm, {
    columns: columns.map((each) => ({ name: each, label: t(each) })),
    rows: [],
  })
}

/** Lines that are read at a time. */
const BATCH = 500

const problemColumns = [
  { name: 'Line', label: t('Line') },
  { name: 'Column', label: t('Column') },
  { name: 'Value', label: t('Value') },
  { name: 'Problem', label: t('Problem') },
]

/** Sends what is wrong with the lines of a file, a problem a line. */
export async function sendProblems(asked: PageRequest, reply: FastifyReply): Promise<FastifyReply> {
  const { found, isHidden } = await importOf(asked, reply)
  const { id } = found
  const { sayProblem } = languageFor(reply.request)
  async function* rows() {
    for (let after: number | undefined = 0; after !== undefined; ) {
      const lines = await listLines(asked.caller, id, { outcomes: ['refused', 'failed'], after, limit: BATCH })
      yield lines.flatMap(({ line, problems }) =>
        problems
          .filter(([column]) => !isHidden(column))
          .map(([column, value, problem]): CsvCell[] => [line, column, value, sayProblem(problem)]),
      )
      after = lines.length < BATCH ? undefined : lines.at(-1)?.line
    }
  }
  const form = { ...exportForm, headings: 'words' } as const
  return sendCsv(reply, `import-${id}-errors.csv`, form, { columns: problemColumns, rows: rows() })
}
