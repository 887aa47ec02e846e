import { Readable } from 'node:stream'
import { stringify } from 'csv-stringify/sync'
import type { FastifyReply } from 'fastify'
import { wrongField } from '../../../engine/definition/refused.ts'
import type { Language } from '../../../foundation/texts/language.ts'
import { type Phrase, type Text, t } from '../../../foundation/texts/text.ts'
import { decimalsOf } from '../../../foundation/values/currency.ts'
import { disarm } from '../../../shop/csv/lines/cells.ts'
import type { Writing } from '../../html/numbers.ts'
import { languageFor, textIn } from '../../html/request.ts'

/** The files that a list can be taken along as. */
export const fileTypes = {
  csv: 'text/csv; charset=utf-8; header=present',
  ndjson: 'application/x-ndjson; charset=utf-8',
} as const

/** The addresses of the list at `path` as a file, with these filters, for the template of the same name. */
export function filesOf(path: string, asked: Readonly<Record<string, string>>) {
  return Object.keys(fileTypes).map((format) => ({
    address: `${path}/export?${new URLSearchParams({ ...asked, format })}`,
    name: format.toUpperCase(),
  }))
}

/** What an address may say about how a CSV file is written, and its words on pages. */
export const csvChoices = {
  headings: { words: t('In words'), names: t('As programs name them') },
  separator: { comma: t('Comma'), semicolon: t('Semicolon'), tab: t('Tab') },
  decimal: { point: t('Point: 12.50'), comma: t('Comma: 12,50') },
} as const

/** How a CSV file is written. */
export type CsvForm = { readonly [Name in keyof typeof csvChoices]: keyof (typeof csvChoices)[Name] }

const separatorSigns = { comma: ',', semicolon: ';', tab: '\t' } as const

/** As exports have always been, and an import reads best. */
export const exportForm: CsvForm = { headings: 'names', separator: 'comma', decimal: 'point' }

/** What spreadsheets of the reader's country open without a question: where decimals have a comma, cells have semicolons. */
export function spreadsheetForm({ decimalSign }: Writing): CsvForm {
  return decimalSign === ','
    ? { headings: 'words', separator: 'semicolon', decimal: 'comma' }
    : { headings: 'words', separator: 'comma', decimal: 'point' }
}

/** The form that an address asks for; of what it leaves out, `otherwise`. Throws a 400 for what there is not. */
export function csvFormIn(query: unknown, otherwise: CsvForm): CsvForm {
  const chosen = Object.entries(csvChoices).map(([name, choices]) => {
    const given = textIn(query, name)
    if (given !== '' && !Object.hasOwn(choices, given)) {
      throw wrongField(name, `must be ${Object.keys(choices).join(' or ')}`)
    }
    return [name, given || otherwise[name as keyof CsvForm]]
  })
  return Object.fromEntries(chosen)
}

export interface CsvColumn {
  readonly name: string
  readonly label: Text
  /** Whether its numbers have all decimals of the currency, as in a ledger. */
  readonly isMoney?: true
}

interface CsvFile {
  readonly columns: readonly CsvColumn[]
  readonly rows: AsyncIterable<readonly (readonly CsvCell[])[]> | readonly []
  /** Of columns of money. Absent: there are none. */
  readonly currency?: string
}

/** Numbers get the decimal sign of the file; texts that a spreadsheet would take for a formula an apostrophe. */
export type CsvCell = Phrase | number

/** Sends a file of these columns, as its rows come. */
export function sendCsv(reply: FastifyReply, name: string, form: CsvForm, file: CsvFile): FastifyReply {
  return reply
    .type(fileTypes.csv)
    .header('content-disposition', `attachment; filename="${name}"`)
    .send(Readable.from(textsOf(form, file, languageFor(reply.request))))
}

async function* textsOf(
  form: CsvForm,
  { columns, rows, currency }: CsvFile,
  { say }: Language,
): AsyncGenerator<string> {
  const delimiter = separatorSigns[form.separator]
  const decimals = currency === undefined ? 0 : decimalsOf(currency)
  const cellOf = (cell: CsvCell, at: number) => {
    if (typeof cell !== 'number') return disarm(say(cell))
    const [, given = ''] = String(cell).split('.')
    const text = columns[at]?.isMoney && given.length < decimals ? cell.toFixed(decimals) : String(cell)
    return form.decimal === 'comma' ? text.replace('.', ',') : text
  }
  // Spreadsheets take a file without a byte order mark for one in the computer's own encoding.
  const headings = columns.map(({ name, label }) => (form.headings === 'words' ? say(label) : name))
  yield stringify([headings], { bom: true, delimiter })
  for await (const some of rows) {
    const cells = some.map((row) => row.map(cellOf))
    if (cells.length > 0) yield stringify(cells, { delimiter })
  }
}
