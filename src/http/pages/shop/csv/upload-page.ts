import type { FastifyReply } from 'fastify'
import { wrongField } from '../../../../engine/definition/refused.ts'
import type { Format } from '../../../../foundation/texts/format.ts'
import { andOf, orOf, type Phrase, type Text, t } from '../../../../foundation/texts/text.ts'
import { columnsOf, isTaken, namingOf } from '../../../../shop/csv/lines/columns.ts'
import { FILE_BYTES_MAX, LINES_MAX } from '../../../../shop/csv/lines/limits.ts'
import type { Decimal } from '../../../../shop/csv/lines/writing.ts'
import { takeIn } from '../../../../shop/csv/take-in/take-in.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { type Form, textIn } from '../../../html/request.ts'
import { receiveFile } from '../../../html/upload.ts'
import type { PageRequest } from '../../frame/pages.ts'
import { seenBy } from '../../records/seen.ts'
import type { Service, Value } from '../../records/services.ts'
import { inputOf } from '../../records/values.ts'

/** The form that takes a file in, and what a file may have. */
export function uploadPage({ caller, writing, typed }: PageRequest, whole: Service): HtmlPage {
  const service = seenBy(caller.privileges, whole)
  const { resource, all, values } = service
  const { key, text } = namingOf(resource)
  const taken = columnsOf(resource).filter(isTaken)
  const takenNames = new Set(taken.map(({ name }) => name))
  const columns = values.map((value) => ({
    name: value.path.join('.'),
    label: value.label,
    notes: [t(value.field.hint), value.explains ?? ''],
    allowed: allowedIn({ ...value, field: { ...value.field, hint: '' } }),
  }))
  const writable = columns.filter(({ name }) => takenNames.has(name))
  return {
    template: '/pages/shop/csv/upload',
    title: t('Import {records} from CSV', { records: all }),
    values: { decimal: textIn(typed, 'decimal') },
    data: {
      service,
      key: key.name,
      text: text?.name ?? null,
      inCode,
      examples: writable.filter(({ name }) => name !== key.name && name !== text?.name).slice(0, 2),
      columns: writable,
      canCreate: resource.methods.includes('POST'),
      canUpdate: resource.methods.includes('PUT'),
      isFormerKnown: resource.formerFile !== undefined,
      templates: [...Object.keys(resource.usualColumns ?? {}), ALL].map((name) => ({
        name,
        title: name === ALL ? t('all columns') : t(name),
      })),
      linesMax: LINES_MAX,
      // What is not said follows from the file and from who sends it.
      ...decimalsFor(writing),
      sizeMax: FILE_BYTES_MAX / 1024 / 1024,
    },
  }
}

/** How the numbers of a file may be written, and what is meant where nobody says it (`likelyDecimal`). */
function decimalsFor({ decimalSign }: Format) {
  const decimals: readonly (readonly [Decimal | '', Phrase])[] = [
    ['', t('As the file shows')],
    ['point', '12.50'],
    ['comma', '12,50'],
  ]
  const decimalHint =
    decimalSign === ','
      ? t('As the file shows: with a comma before decimals, and with a point where commas separate the cells.')
      : t(
          'As the file shows: with a point before decimals. Where semicolons separate the cells, numbers with a comma are read too if only one number can be meant.',
        )
  return { decimals, decimalHint }
}

/** Names for `prose.eta`, which shows them as code. */
function inCode(names: readonly string[]): Text {
  return andOf(names.map((name) => `\`${name}\``))
}

/** The template with every column. */
export const ALL = 'all columns'

const kinds = {
  text: t('Text'),
  integer: t('A whole number'),
  decimal: t('A number'),
  boolean: t('true or false, yes or no'),
  date: t('A date'),
}

function allowedIn(value: Value): Phrase {
  const { access, bounds, kind, names, required } = value.field
  if (access === 'key') return t('A whole number from 1')
  if (names) return t('A number or name')
  const { hint } = inputOf(value)
  const allowed = bounds.values ? orOf(bounds.values.filter((each) => each !== '')) : hint || kinds[kind]
  return required ? t('{allowed}; not empty', { allowed }) : allowed
}

/** What the form says of the file's numbers; null: nothing. */
function decimalIn(fields: Form): Decimal | null {
  const said = textIn(fields, 'decimal')
  if (said === '') return null
  if (said !== 'point' && said !== 'comma') throw wrongField('decimal', 'must be point or comma')
  return said
}

/** Reads the file of the form, which changes nothing yet. Leads on to its preview, or to where a person says what its columns mean. */
export async function upload(
  { caller, writing: sender }: PageRequest,
  { resource }: Service,
  reply: FastifyReply,
): Promise<string> {
  const { id, isMapped } = await receiveFile(reply, FILE_BYTES_MAX, ({ fields, ...file }) =>
    takeIn(caller, resource, { ...file, sender, decimal: decimalIn(fields) }),
  )
  return isMapped ? `/admin/csv/${id}/columns` : `/admin/csv/${id}`
}
