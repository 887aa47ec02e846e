import type { FastifyReply } from 'fastify'
import { mayRead } from '../../../access/applications/privileges.ts'
import type { Caller } from '../../../engine/caller.ts'
import { NAMED_MAX, type References, referencesTo } from '../../../engine/changing/referrers.ts'
import type { Referrer } from '../../../engine/definition/links.ts'
import { valueIn } from '../../../foundation/values/json.ts'
import { services as ofPersons } from '../../../shop/erasure/personal.ts'
import { readErasedAt } from '../../../shop/erasure/remains.ts'
import { allowFrames, allowImages } from '../../html/guard.ts'
import type { HtmlPage } from '../../html/page.ts'
import type { RecordRequest, Wire } from '../frame/pages.ts'
import { codedPaths, readCodes } from './codes.ts'
import { kindsOf, readEvents } from './events.ts'
import { newestHistory } from './history.ts'
import { frameHeight, htmlValues } from './html-frame.ts'
import { imagesOf } from './images.ts'
import { readTitles } from './names.ts'
import { namesFor, referencesIn } from './references.ts'
import { recordSeenBy, seenBy } from './seen.ts'
import { type List, pathOf, type Service, serviceOfTable, type Value } from './services.ts'
import { isNumber, isSet, isWritable, itemsIn, plainText, titleOf } from './values.ts'

/** Longer texts have the whole width of a page. */
const LINE_LENGTH_MAX = 70
/** Of a part of which two stand beside one another. */
const SMALL_FACTS = 6
const SMALL_COLUMNS = 3

/** The page of one record: what is set of it, by sections that have a form each, and which records refer to it. */
export async function recordPage(
  { caller, id, record }: RecordRequest,
  service: Service,
  reply: FastifyReply,
): Promise<HtmlPage> {
  const { resource, special } = service
  const referrers = resource.referrers.filter((one) => {
    return !special.referrers.includes(one.table) && mayRead(caller.privileges, referringService(one).resource)
  })
  const [references, history, events, codes, erasedAt] = await Promise.all([
    referencesTo(caller, { ...resource, referrers }, id),
    newestHistory(caller, [{ recordType: resource.table, recordId: id }]),
    kindsOf(service).length === 0 ? null : readEvents(caller, service, id, null),
    readCodes(caller, codedPaths(service)),
    ofPersons.some((name) => name === resource.service) ? readErasedAt(caller, resource.service, id) : null,
  ])
  const images = await imagesOf(service, record, caller)
  if (images.origins.length > 0) allowImages(reply, images.origins)
  const framed = framedIn(record)
  if (htmlValues(service).some((value) => framed(value) !== null)) allowFrames(reply)
  const { parts = [], ...extraData } = await special.read(caller, record)
  return {
    template: '/pages/records/record',
    title: titleOf(service, record),
    data: {
      service,
      record,
      ...partsOf(service, record),
      json: JSON.stringify(recordSeenBy(caller.privileges, resource)(record), null, 2),
      extras: { template: special.template, partsTemplate: special.partsTemplate, parts, ...extraData },
      framed,
      isLong: isLongIn(record),
      imageOf: (address: string) => images.addresses.get(address.trim()) ?? null,
      references: await namedReferences(caller, references),
      nameOf: await namesFor(caller, referencesIn(service, record)),
      codes,
      events,
      hasReferrers: referrers.length > 0 && special.template === null,
      history,
      erasedAt,
      canEdit: resource.methods.includes('PUT'),
      canDelete: resource.methods.includes('DELETE'),
      valueIn,
      itemsIn,
      isSet,
      isNumber,
      pathOf,
    },
  }
}

function isLongIn(record: Wire) {
  return ({ path, field }: Value) => field.kind === 'text' && plainText(valueIn(record, path)).length > LINE_LENGTH_MAX
}

/** The frames of values that hold HTML; null: it is shown as text, such as one that is words alone. */
function framedIn(record: Wire) {
  return ({ path, field }: Value) => {
    const text = plainText(valueIn(record, path))
    return field.isHtml && /[<&]/.test(text) ? { name: path.join('.'), height: frameHeight(text) } : null
  }
}

/** The sections of a record with what is set in them, and what stands folded at the end of its page. */
function partsOf({ sections, values, special }: Service, record: Wire) {
  const isTechnical = (path: readonly string[]) => special.technical.includes(path.join('.'))
  const isFilled = ({ path, field }: Value) => isSet(field, valueIn(record, path))
  const isLong = isLongIn(record)
  const shown = sections.map((section) => {
    const { values, list } = section
    const set = values.filter((value) => !isTechnical(value.path) && value.field.access !== 'wo' && isFilled(value))
    if (list === null) {
      const hasForm = values.some((value) => isWritable(value, 'update'))
      const isSmall = set.length <= SMALL_FACTS && !set.some(isLong)
      return { ...section, shown: set, items: [], columns: [], isSmall, hasForm }
    }
    const items = itemsIn(record, list)
    const columns = columnsOf(list, items)
    const isSmall =
      columns.length <= SMALL_COLUMNS && list.lists.length === 0 && !columns.some(({ field }) => field.isImage)
    const hasForm = list.field.access === 'rw'
    return { ...section, shown: set, items, columns, isSmall, hasForm }
  })
  return { sections: shown, technical: values.filter((value) => isTechnical(value.path) && isFilled(value)) }
}

/** What some item of a list has set, and what names the items. */
function columnsOf({ values }: List, items: readonly Wire[]): Value[] {
  return values.filter(
    ({ path, field }) =>
      field.access !== 'wo' && (field.access === 'key' || items.some((item) => isSet(field, valueIn(item, path)))),
  )
}

/** Whose records refer to this one, by their names. */
export function namedReferences(caller: Caller, found: readonly References[]) {
  const { privileges } = caller
  const some = found.filter(({ ids }) => ids.length > 0)
  return Promise.all(
    some.map(async ({ referrer, ids: all }) => {
      const from = referringService(referrer)
      const ids = all.slice(0, NAMED_MAX)
      const names = mayRead(privileges, from.resource)
        ? await readTitles(caller, seenBy(privileges, from), ids)
        : new Map<number, string>()
      const records = ids.map((id) => ({ id, name: names.get(id) || String(id) }))
      return { from, rule: referrer.rule, records, isMore: all.length > NAMED_MAX }
    }),
  )
}

function referringService({ table }: Referrer): Service {
  const from = serviceOfTable(table)
  if (from === null) throw new Error(`No service has the records of ${table}`)
  return from
}
