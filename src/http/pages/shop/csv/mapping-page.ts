import type { FastifyReply } from 'fastify'
import type { Caller } from '../../../../engine/caller.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { type Fault, StoreFailure } from '../../../../foundation/values/failure.ts'
import { missing } from '../../../../shop/csv/lines/columns.ts'
import { type Import, isOfRecords } from '../../../../shop/csv/lines/imports.ts'
import {
  isSecret,
  type Meaning,
  recall,
  remember,
  SECRET,
  type Suggestion,
  suggest,
  targetsFor,
} from '../../../../shop/csv/take-in/mapping.ts'
import { keptParts } from '../../../../shop/csv/take-in/parts.ts'
import { readMapped } from '../../../../shop/csv/take-in/take-in.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { refusedFields } from '../../../html/page-routes.ts'
import { textIn } from '../../../html/request.ts'
import type { PageRequest, Sent } from '../../frame/pages.ts'
import { fieldAt } from '../../records/history-words.ts'
import { seenBy } from '../../records/seen.ts'
import type { Service } from '../../records/services.ts'
import { importOf, isOpenFor, serviceOf } from './import-page.ts'

/** Values of a column that are shown, and how much of each. */
const SAMPLES = 3
const SAMPLE_LENGTH_MAX = 40

/** What a select has for a column that is left out. */
const LEFT_OUT = '-'

/** Asks what the columns of a file mean. What was said of the same headings before, or seems likely, is chosen. */
export async function mappingPage(asked: PageRequest, reply: FastifyReply): Promise<HtmlPage> {
  const { caller, typed } = asked
  const found = await openImport(asked, reply)
  const service = serviceOf(found)
  const { suggestions, isFormer } = suggest(caller, service.resource, found.headings)
  const chosen = await chosenFor(caller, service, found, suggestions)
  const samples = await samplesOf(caller, found)
  const columns = found.headings.map((heading, place) => {
    const { question = '', reason = '', candidates = [] } = suggestions[place] ?? {}
    const field = `column.${place}`
    const isFixed = isSecret(service.resource, heading)
    return {
      field,
      heading,
      question,
      candidates: candidates.map((name) => fieldAt(service, name).label),
      reason: isFixed ? SECRET : reason,
      isFixed,
      samples: isFixed ? [] : (samples[place] ?? []),
      chosen: textIn(typed, field) || (chosen[place] ?? ''),
    }
  })
  return {
    template: '/pages/shop/csv/mapping',
    title: t('What the columns mean'),
    data: {
      found,
      service,
      address: `/admin/csv/${found.id}`,
      isFormer,
      columns,
      asked: columns.filter(({ question }) => question !== '').length,
      labels: Object.fromEntries(
        columns.map(({ field, heading }) => [field, heading || t('A column without a heading')]),
      ),
      groups: groupsFor(caller, service),
      leftOut: LEFT_OUT,
    },
  }
}

/** The import, whose rows are kept. Throws (409) when they are not. */
async function openImport(asked: PageRequest, reply: FastifyReply): Promise<Import> {
  const { found } = await importOf(asked, reply)
  if (found.source !== 'own' && !isOfRecords(found) && isOpenFor(found, asked.caller.now())) return found
  const message = 'What the columns of this file mean cannot be changed any more. Import it again'
  throw new StoreFailure('invalid-state', message)
}

/** For each heading what is chosen: what was said of this file, or of the same headings before, or what is suggested. */
async function chosenFor(
  caller: Caller,
  { resource }: Service,
  { headings, mapping }: Import,
  suggestions: readonly Suggestion[],
): Promise<string[]> {
  const said = mapping === null ? await recall(caller, resource, headings) : null
  const targets = new Set(targetsFor(caller.privileges, resource).map(({ name }) => name))
  return headings.map((heading, place) => {
    const known = mapping?.[place]?.[0] ?? said?.get(heading.toLowerCase())
    if (known !== undefined && (known === '' || targets.has(known))) return known || LEFT_OUT
    const { column = '', question = '', reason = '' } = suggestions[place] ?? {}
    return column || (question !== '' && reason === '' ? '' : LEFT_OUT)
  })
}

/** The first values of each column, for the person who sent the file: others may not be shown them all. */
async function samplesOf(caller: PageRequest['caller'], { id, actor, headings }: Import): Promise<string[][]> {
  const { value: rows } = actor === caller.actor ? await keptParts(caller, id, caller.secrets).next() : { value: [] }
  return headings.map((_, place) => {
    const values = new Set<string>()
    for (const { cells } of rows ?? []) {
      const value = (cells[place] ?? '').trim()
      if (value !== '')
        values.add(value.length > SAMPLE_LENGTH_MAX ? `${value.slice(0, SAMPLE_LENGTH_MAX).toWellFormed()}…` : value)
      if (values.size === SAMPLES) break
    }
    return [...values]
  })
}

/** The columns that may be chosen, as the pages of a record group them. */
function groupsFor({ privileges }: Caller, whole: Service) {
  const service = seenBy(privileges, whole)
  const { sections, lists: all } = service
  const targets = new Set(targetsFor(privileges, whole.resource).map(({ name }) => name))
  const groups = sections.flatMap(({ title, values }) => {
    const names = values.map(({ path }) => path.join('.')).filter((name) => targets.has(name))
    // A closed choice does not show its group, in which labels are shorter.
    const options = names.map((name) => ({ name, label: fieldAt(service, name).label }))
    return options.length === 0 ? [] : [{ title, options }]
  })
  const lists = all.filter(({ name }) => targets.has(name))
  return lists.length === 0 ? groups : [...groups, { title: t('Lists of names'), options: lists }]
}

/** Reads the kept rows by what was chosen, which changes nothing yet, and remembers it for files with the same headings. */
export async function assignColumns(asked: Sent<PageRequest>, reply: FastifyReply): Promise<string> {
  const { caller } = asked
  const found = await openImport(asked, reply)
  const { resource } = serviceOf(found)
  const meanings = meaningsIn(asked, found)
  await remember(caller, resource, found.headings, meanings)
  await readMapped(caller, found, meanings, caller.secrets)
  return `/admin/csv/${found.id}`
}

/** What was chosen for each heading. Throws (400) with every fault. */
function meaningsIn({ caller, typed }: Sent<PageRequest>, found: Import): Meaning[] {
  const { headings } = found
  const { resource } = serviceOf(found)
  const targets = new Set(targetsFor(caller.privileges, resource).map(({ name }) => name))
  const { suggestions } = suggest(caller, resource, headings)
  const faults: Fault[] = []
  const taken = new Map<string, string>()
  const meanings = headings.map((heading, place): Meaning => {
    const field = `column.${place}`
    const column = textIn(typed, field)
    if (isSecret(resource, heading)) return ['', SECRET]
    if (column === LEFT_OUT) return ['', suggestions[place]?.reason || 'was left out on the page before']
    const other = taken.get(column)
    if (column === '') faults.push({ field, problem: 'needs a choice' })
    else if (!targets.has(column)) faults.push({ field, problem: 'means no column that a file may give' })
    else if (other !== undefined) faults.push({ field, problem: `cannot mean ${column}, because “${other}” does` })
    else taken.set(column, heading)
    return [column, '']
  })
  faults.push(...missing(resource, new Set(taken.keys()), 'Choose').map((problem) => ({ field: '', problem })))
  if (faults.length > 0) throw refusedFields(faults)
  return meanings
}
