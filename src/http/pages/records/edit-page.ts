import type { FastifyRequest } from 'fastify'
import { changeRecord, deleteRecord } from '../../../engine/changing/change.ts'
import { referencesTo } from '../../../engine/changing/referrers.ts'
import { Handling } from '../../../engine/definition/handling.ts'
import { getRecord } from '../../../engine/reading/read.ts'
import { type Text, t } from '../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../foundation/values/failure.ts'
import { writingOf } from '../../html/numbers.ts'
import type { HtmlPage } from '../../html/page.ts'
import { inFormFields } from '../../html/page-routes.ts'
import { type CallerServices, type Form, formOf, merchantCaller, textIn } from '../../html/request.ts'
import type { Wire } from '../frame/request.ts'
import { ifUnchanged, tagOf } from '../frame/unchanged.ts'
import { type Codes, codedPaths, noCodes, readCodes } from './codes.ts'
import { type Changes, changesOf, isTypedAs, listTyped, rowsOf, valuesTyped, withEdited } from './form.ts'
import { plainOf } from './plain-html.ts'
import { idIn, namedReferences } from './record-page.ts'
import { formReferences, lookUp, namesFor, withNumbers } from './references.ts'
import type { Section, Service, Value } from './services.ts'
import { type Input, inputOf, isTicked, isWritable, meaningsInList, meaningsOf, titleOf, typedOf } from './values.ts'

/** Fields of a form that lists of a record may add up to; the server takes 2,000 in all. */
export const FIELDS_MAX = 1_500

/** The part of the record that the address names, or its first. */
function sectionIn(request: FastifyRequest, service: Service): Section {
  const slug = textIn(request.query, 'section')
  const section = slug === '' ? service.sections[0] : service.sections.find((each) => each.slug === slug)
  if (section === undefined) throw new StoreFailure('not-found', 'There is no such part of the record')
  return section
}

/**
 * The form of a section. With `typed`, it shows that, for the record that it was shown with. Where somebody else has changed the
 * record meanwhile (`isOutdated`), it is for the record as it is now: it shows stored values beside those that were typed,
 * and a list as it is stored, since the rows typed may be of other items.
 */
export async function editPage(
  request: FastifyRequest,
  services: CallerServices,
  service: Service,
  { typed = null, isOutdated = false }: { typed?: Form | null; isOutdated?: boolean } = {},
): Promise<HtmlPage> {
  const id = idIn(request)
  const section = sectionIn(request, service)
  const caller = merchantCaller(request, services)
  const text = await getRecord(caller, service.resource, id)
  const record = JSON.parse(text) as Wire
  const { list } = section
  const writing = writingOf(request)
  const storedList = list === null ? {} : listTyped(list, record, writing)
  const stored = { ...valuesTyped(section.values, record, writing), ...storedList }
  const isTooLong = Object.keys(stored).length > FIELDS_MAX
  const sent = typed === null || (isOutdated && list !== null) ? null : withEdited(typed)
  const { form, choices } = isTooLong
    ? { form: {}, choices: new Map() }
    : await lookUp(caller, section, sent ?? stored, textIn(sent, 'lookup'))
  const title = t('{record}: {part}', { record: titleOf(service, record), part: section.title })
  const codes = await readCodes(caller, codedPaths({ values: section.values, lists: list === null ? [] : [list] }))
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
      etag: tagOf(text, typed, isOutdated),
      address: `${service.path}/${id}/edit?section=${section.slug}`,
      moreAddress: `${service.path}/${id}/edit/rows?section=${section.slug}`,
      back: `${service.path}/${id}`,
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
export async function save(request: FastifyRequest, services: CallerServices, service: Service): Promise<string> {
  const section = sectionIn(request, service)
  const advice =
    section.list === null
      ? 'Compare what you typed with what is stored now, and save again'
      : 'The form shows the list as it is now. Make your changes again'
  const caller = merchantCaller(request, services)
  return saveChanges(request, services, service, {
    changesIn: async (form, record) =>
      changesOf(section, await withNumbers(caller, section, withEdited(form)), record, writingOf(request)),
    advice,
  })
}

/** Saves what a form changes in its record, under the form's entity tag, and returns the address of the record. */
export async function saveChanges(
  request: FastifyRequest,
  services: CallerServices,
  service: Service,
  { changesIn, advice }: { changesIn: (form: Form, record: Wire) => Changes | Promise<Changes>; advice: string },
): Promise<string> {
  const id = idIn(request)
  const { resource, path } = service
  const caller = merchantCaller(request, services)
  const form = formOf(request)
  const text = await getRecord(caller, resource, id)
  const precondition = ifUnchanged(form, service.one.key, advice)
  precondition(text)
  const changes = await changesIn(form, JSON.parse(text))
  if (Object.keys(changes.body).length === 0) return `${path}/${id}`
  const change = { kind: 'update', id, body: changes.body, handling: tellingAll() } as const
  await changeRecord(caller, resource, change, { precondition }).catch(inFormFields(changes.nameOf))
  return `${path}/${id}?notice=record-saved`
}

/** The form of a new record: its values, which the query may give; lists are added afterwards. */
export async function newPage(
  request: FastifyRequest,
  services: CallerServices,
  service: Service,
  typed: Form,
): Promise<HtmlPage> {
  const writing = writingOf(request)
  const defaults = Object.fromEntries(
    service.values.map(({ path, field }) => {
      const asked = textIn(request.query, path.join('.'))
      // An address has a point, whoever opens it.
      const isDecimal = field.kind === 'decimal' && /^-?\d+\.\d+$/.test(asked)
      return [path.join('.'), (isDecimal ? writing.typed(asked) : asked) || typedOf(field.default, writing)]
    }),
  )
  const caller = merchantCaller(request, services)
  const all = { values: service.values, list: null }
  const sent = Object.keys(typed).length === 0 ? defaults : withEdited(typed)
  const { form: values, choices } = await lookUp(caller, all, sent, textIn(sent, 'lookup'))
  const codes = await readCodes(caller, codedPaths(all))
  // Browsers say nothing of a required field that is folded.
  const isToSee = ({ value: { field }, name }: { value: Value; name: string }) =>
    field.required ||
    (field.kind === 'boolean'
      ? isTicked(values, name) !== (field.default === true)
      : textIn(values, name) !== typedOf(field.default, writing))
  const sections = service.sections
    .filter(({ list }) => list === null)
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
      moreAddress: `${service.path}/new`,
      labels: labelsOf(service),
      isTicked,
      choices,
      nameOf: await namesFor(caller, formReferences(all, values)),
    },
  }
}

export async function create(request: FastifyRequest, services: CallerServices, service: Service): Promise<string> {
  const caller = merchantCaller(request, services)
  const all = { values: service.values, list: null }
  const form = await withNumbers(caller, all, withEdited(formOf(request)))
  const changes = changesOf(all, form, null, writingOf(request))
  const change = { kind: 'create', body: changes.body, handling: tellingAll() } as const
  const id = await changeRecord(caller, service.resource, change).catch(inFormFields(changes.nameOf))
  return `${service.path}/${id}?notice=record-created`
}

/** The question before a record is deleted: what becomes of the records that refer to it. */
export async function deletePage(
  request: FastifyRequest,
  services: CallerServices,
  service: Service,
): Promise<HtmlPage> {
  const id = idIn(request)
  const caller = merchantCaller(request, services)
  const { resource } = service
  const [text, found] = await Promise.all([getRecord(caller, resource, id), referencesTo(caller, resource, id)])
  const references = await namedReferences(caller, found)
  const title = titleOf(service, JSON.parse(text))
  return {
    template: '/pages/records/delete',
    title: t('Delete {name}', { name: title }),
    data: {
      service,
      id,
      cleared: references.filter(({ rule }) => rule === 'clear'),
      refusing: references.filter(({ rule }) => rule === 'refuse'),
    },
  }
}

export async function remove(request: FastifyRequest, services: CallerServices, service: Service): Promise<string> {
  const id = idIn(request)
  await deleteRecord(merchantCaller(request, services), service.resource, id)
  return `${service.path}?notice=record-deleted`
}
