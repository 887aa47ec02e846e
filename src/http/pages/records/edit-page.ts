import { changeRecord, deleteRecord } from '../../../engine/changing/change.ts'
import { referencesTo } from '../../../engine/changing/referrers.ts'
import { Handling } from '../../../engine/definition/handling.ts'
import { type Text, t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import type { HtmlPage } from '../../html/page.ts'
import { inFormFields } from '../../html/page-routes.ts'
import { type Form, textIn } from '../../html/request.ts'
import { type PageRequest, type RecordRequest, requireUnchanged, type Sent } from '../frame/pages.ts'
import { type Codes, codedPaths, noCodes, readCodes } from './codes.ts'
import { type Changes, changesOf, isTypedAs, listTyped, rowsOf, valuesTyped, withEdited } from './form.ts'
import { plainOf } from './plain-html.ts'
import { namedReferences } from './record-page.ts'
import { formReferences, lookUp, namesFor, withNumbers } from './references.ts'
import { type Section, type Service, type Value, valuesNamed } from './services.ts'
import { type Input, inputOf, isTicked, isWritable, meaningsInList, meaningsOf, titleOf, typedOf } from './values.ts'

/** Fields of a form that lists of a record may add up to; the server takes 2,000 in all. */
export const FIELDS_MAX = 1_500

/** The part of the record that the address names, or its first. */
function sectionIn(query: unknown, service: Service): Section {
  const slug = textIn(query, 'section')
  const section = slug === '' ? service.sections[0] : service.sections.find((each) => each.slug === slug)
  if (section === undefined) throw new StoreFailure('not-found', 'There is no such part of the record')
  return section
}

/**
 * The form of a section. Where somebody else has changed the record meanwhile, it shows stored values beside those that were typed,
 * and a list as it is stored, since the rows typed may be of other items.
 */
export async function editPage(
  { caller, id, record, query, writing, typed, isOutdated }: RecordRequest,
  service: Service,
): Promise<HtmlPage> {
  const section = sectionIn(query, service)
  const { list } = section
  const storedList = list === null ? {} : listTyped(list, record, writing)
  const stored = { ...valuesTyped(section.values, record, writing), ...storedList }
  const isTooLong = Object.keys(stored).length > FIELDS_MAX
  const sent = typed === null || (isOutdated && list !== null) ? null : withEdited(typed)
  const { form, choices } = isTooLong
    ? { form: {}, choices: new Map() }
    : await lookUp(caller, section, sent ?? stored, textIn(sent, 'lookup'))
  const title = t('{record}: {part}', { record: titleOf(service, record), part: section.title })
  const codes = await readCodes(caller, codedPaths({ ...section, lists: list === null ? [] : [list] }))
  const fields = fieldsOf(section.values, 'update', form, isOutdated ? stored : null, codes)
  return {
    template: '/pages/records/edit',
    title,
    values: form,
    assets: editorsOf(section),
    data: {
      fields,
      plainOf,
      meanings: [...meaningsOf(fields.map(({ value }) => value)), ...(list === null ? [] : meaningsInList(list))],
      rows: list === null || isTooLong ? null : rowsOf(list, form, textIn(form, 'add')),
      isTooLong,
      address: `${service.path}/${id}/edit?section=${section.slug}`,
      moreAddress: `${service.path}/${id}/edit/rows?section=${section.slug}`,
      back: `${service.path}/${id}`,
      picture: section.values.find(({ path }) => path[0] === service.resource.pictureIn)?.label ?? null,
      inputOf: inputsWith(codes),
      isWritable,
      isTicked,
      labels: labelsOf(section),
      choices,
      nameOf: await namesFor(caller, formReferences(section, form)),
    },
  }
}

/** The script of plain editors, for a form that has one. */
function editorsOf({ values }: Pick<Section, 'values'>): string[] {
  return values.some(({ field }) => field.isHtml) ? ['editor.js'] : []
}

/** The form's field for a value: a choice of names where a list of the store has them. */
function inputsWith(codes: Codes) {
  return (value: Value, typed = ''): Input => {
    const choices = codes.choicesFor(value, typed)
    return choices === null ? inputOf(value, typed) : { type: 'select', attributes: {}, choices, hint: '' }
  }
}

/** The fields of a form, each with what is stored if that is not what was typed. */
export function fieldsOf(
  values: readonly Value[],
  kind: 'create' | 'update',
  form: Form,
  stored: Record<string, string> | null,
  codes: Codes = noCodes,
) {
  const inputWith = inputsWith(codes)
  return values
    .filter((value) => isWritable(value, kind))
    .map((value) => {
      const name = value.path.join('.')
      const now = stored?.[name]
      const typed = value.field.kind === 'boolean' ? String(isTicked(form, name)) : textIn(form, name)
      const isOther = now !== undefined && value.field.access !== 'wo' && !isTypedAs(value, typed, now)
      const storedNow = isOther ? (codes.textAt(name, now) ?? now) : null
      return { value, name, input: inputWith(value, textIn(form, name)), stored: storedNow }
    })
}

export function labelsOf({ values }: Pick<Section, 'values'>): Record<string, Text> {
  return Object.fromEntries(values.map(({ path, label }) => [path.join('.'), label]))
}

/** A strict reading names all that is wrong, and a form sends nothing that it could refuse besides. */
const tellingAll = () => new Handling(true)

/** Saves the form of a section, unless the record has been changed since the form was shown. */
export async function save(asked: Sent<RecordRequest>, service: Service): Promise<string> {
  const { caller, record, query, typed, writing } = asked
  const section = sectionIn(query, service)
  const advice =
    section.list === null
      ? 'Compare what you typed with what is stored now, and save again'
      : 'The form shows the list as it is now. Make your changes again'
  return saveChanges(asked, service, {
    changesIn: async () => changesOf(section, await withNumbers(caller, section, withEdited(typed)), record, writing),
    advice,
  })
}

/** Saves what a form changes in its record, under the form's entity tag, and returns the address of the record. */
export async function saveChanges(
  asked: Sent<RecordRequest>,
  { resource, path, one }: Service,
  { changesIn, advice }: { changesIn: () => Changes | Promise<Changes>; advice: string },
): Promise<string> {
  const { caller, id } = asked
  const precondition = requireUnchanged(asked, one.key, advice)
  const changes = await changesIn()
  if (Object.keys(changes.body).length === 0) return `${path}/${id}`
  const change = { kind: 'update', id, body: changes.body, handling: tellingAll() } as const
  await changeRecord(caller, resource, change, { precondition }).catch(inFormFields(changes.nameOf))
  return `${path}/${id}?notice=record-saved`
}

/** What a new record is asked for first, and all that its form has: its values, and the list of which it is asked for a first item. */
function askedOf({ values, lists, special }: Service) {
  const list = lists.find(({ name }) => special.asks.includes(name)) ?? null
  const first = list?.values.find(({ refersTo }) => refersTo !== null)
  const asked = special.asks.flatMap((name): readonly Value[] => {
    if (name !== list?.name) return valuesNamed(values, [name])
    return first ? [{ ...first, path: [name, '0', ...first.path], field: { ...first.field, access: 'rw' } }] : []
  })
  return { asked, all: { values, list } }
}

/** The form of a new record, whose values the query may give. */
export async function newPage({ caller, query, writing, typed }: PageRequest, service: Service): Promise<HtmlPage> {
  const country = service.values.find(({ field }) => field.isCountry)
  // An address begins with the country of the shop.
  const defaultOf = (value: Value) => (value === country ? caller.store.country : typedOf(value.field.default, writing))
  const defaults = Object.fromEntries(
    service.values.map((value) => {
      const { path, field } = value
      const asked = textIn(query, path.join('.'))
      // An address has a point, whoever opens it.
      const isDecimal = field.kind === 'decimal' && /^-?\d+\.\d+$/.test(asked)
      return [path.join('.'), (isDecimal ? writing.typed(asked) : asked) || defaultOf(value)]
    }),
  )
  const { asked, all } = askedOf(service)
  const sent = typed === null || Object.keys(typed).length === 0 ? defaults : withEdited(typed)
  const { form: values, choices } = await lookUp(caller, all, sent, textIn(sent, 'lookup'))
  const codes = await readCodes(caller, codedPaths({ ...all, lists: [] }))
  // Browsers say nothing of a required field that is folded.
  const isToSee = ({ value, name }: { value: Value; name: string }) =>
    value.field.required ||
    (value.field.kind === 'boolean'
      ? isTicked(values, name) !== (value.field.default === true)
      : textIn(values, name) !== defaultOf(value))
  const others = service.sections.map((section) => {
    return { ...section, values: section.values.filter((value) => !asked.includes(value)) }
  })
  const sections = [{ title: '', values: asked }, ...others]
    .map((section) => ({ ...section, fields: fieldsOf(section.values, 'create', values, null, codes) }))
    .filter(({ fields }) => fields.length > 0)
    .map((section) => ({ ...section, isOpen: section.fields.some(isToSee) }))
    .map((section) => ({ ...section, meanings: meaningsOf(section.fields.map(({ value }) => value)) }))
  return {
    template: '/pages/records/new',
    title: t('New {record}', { record: service.one }),
    values,
    assets: editorsOf(service),
    data: {
      service,
      plainOf,
      sections,
      isBrief: asked.length > 0,
      moreAddress: `${service.path}/new`,
      labels: labelsOf(service),
      isTicked,
      choices,
      nameOf: await namesFor(caller, formReferences(all, values)),
    },
  }
}

export async function create({ caller, typed, writing }: Sent<PageRequest>, service: Service): Promise<string> {
  const { all } = askedOf(service)
  const form = await withNumbers(caller, all, withEdited(typed))
  const changes = changesOf(all, form, null, writing)
  const change = { kind: 'create', body: changes.body, handling: tellingAll() } as const
  const id = await changeRecord(caller, service.resource, change).catch(inFormFields(changes.nameOf))
  return `${service.path}/${id}?notice=record-created`
}

/** The question before a record is deleted: what becomes of the records that refer to it. */
export async function deletePage({ caller, id, record }: RecordRequest, service: Service): Promise<HtmlPage> {
  const references = await namedReferences(caller, await referencesTo(caller, service.resource, id))
  return {
    template: '/pages/records/delete',
    title: t('Delete {name}', { name: titleOf(service, record) }),
    data: {
      service,
      cleared: references.filter(({ rule }) => rule === 'clear'),
      refusing: references.filter(({ rule }) => rule === 'refuse'),
    },
  }
}

export async function remove({ caller, id }: RecordRequest, { resource, path }: Service): Promise<string> {
  await deleteRecord(caller, resource, id)
  return `${path}?notice=record-deleted`
}
