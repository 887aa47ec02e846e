import type { FastifyReply } from 'fastify'
import { z } from 'zod'
import { fieldsWithout } from '../../../../engine/definition/fields.ts'
import { t } from '../../../../foundation/texts/text.ts'
import { namedObject, readInput, text } from '../../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../../foundation/values/int32.ts'
import { valueIn } from '../../../../foundation/values/json.ts'
import { runInSlices, type Steps } from '../../../../foundation/values/slices.ts'
import type { PersonNamed } from '../../../../shop/erasure/person.ts'
import { services as ofPersons, treatmentOf } from '../../../../shop/erasure/personal.ts'
import { takeOut } from '../../../../shop/erasure/remains.ts'
import { resourceNamed } from '../../../../shop/registry.ts'
import { billedTo } from '../../../../shop/resources/orders/buyer.ts'
import { type HtmlPage, renderPage } from '../../../html/page.ts'
import { actorOf } from '../../../html/request.ts'
import { wholeNumber } from '../../../server/json/parameters.ts'
import type { PageRequest, Wire } from '../../frame/pages.ts'
import { codedPaths, readCodes } from '../../records/codes.ts'
import { namesFor, referencesIn } from '../../records/references.ts'
import { type Parts, pathOf, serviceOf, type Value } from '../../records/services.ts'
import { isSet, itemsIn, titleOf } from '../../records/values.ts'

/** The services with everything that is stored of a person, also what no other page shows. */
const services = ofPersons.map((name) => {
  const resource = resourceNamed(name)
  const fields = fieldsWithout(resource.storedFields, (access) => access === 'sent' || access === 'wo')
  const service = serviceOf({ ...resource, fields: { ...fields, shown: fields } })
  return { ...service, ...withoutShop(service, name) }
})

/** Without what is of the shop alone, such as what goods cost it. */
function withoutShop({ values, lists }: Parts, at: string): Parts {
  const isOfShop = ({ path, field }: Value) =>
    field.needs?.includes('Cost') || treatmentOf(`${at}.${path.join('.')}`) === 'other'
  return {
    values: values.filter((value) => !isOfShop(value)),
    lists: lists.map((list) => ({ ...list, ...withoutShop(list, `${at}.${list.name}`) })),
  }
}

const number = wholeNumber(1, INT32_MAX)
const query = z.union(
  [namedObject({ customerId: number }), namedObject({ orderId: number }), namedObject({ phone: text(50) })],
  'must have customerId, orderId or phone',
)

/** Whom the address of a page names, and what it ends in. */
export function namedIn(asked: PageRequest): { named: PersonNamed; search: string } {
  const named: PersonNamed = readInput(query, asked.query, 'The query')
  return { named, search: String(new URLSearchParams(asked.query as Record<string, string>)) }
}

/** Shows what is stored of a person, to be printed for them. */
export async function personPage(asked: PageRequest, { request }: FastifyReply): Promise<HtmlPage> {
  const { caller } = asked
  const { named, search } = namedIn(asked)
  const person = await takeOut(caller, named, actorOf(request))
  const { customerId, customer, orders, giftRegistries, returns } = person
  const own = customer === null ? [] : [customer]
  const all: readonly (readonly Wire[])[] = [own, orders, giftRegistries, returns]
  const parts = services.map((service, at) => ({ service, records: all[at] ?? [] }))
  const references = parts.flatMap(({ service, records }) =>
    records.flatMap((record) => [...referencesIn(service, record)]),
  )
  const [first = {}] = [...own, ...orders]
  const guest = new URLSearchParams(
    'phone' in named ? { phone: named.phone } : { order: String(person.records.Orders[0]) },
  )
  const title = t('Data of {name}', { name: billedTo({ BillingEmail: first.Email, ...first }) || '–' })
  const data = {
    ...person,
    at: caller.now(),
    codes: await readCodes(caller, services.flatMap(codedPaths)),
    nameOf: await namesFor(caller, references),
    imageOf: () => null,
    file: `/admin/stores/${caller.store.id}/${customerId === null ? `guests/data?${guest}` : `customers/${customerId}/data`}`,
    search,
    pathOf,
    titleOf,
    isSet,
    valueIn,
    itemsIn,
  }
  const show = (service: object, record: Wire) =>
    renderPage(request, { template: '/pages/shop/privacy/record', title, data: { ...data, service, record } })
  const sections = await runInSlices(shownIn(parts, show))
  return { template: '/pages/shop/privacy/person', title, data: { ...data, sections } }
}

/** Shows one record after the other: hundreds at once would hold up everybody else. */
function* shownIn<Service>(
  parts: readonly { readonly service: Service; readonly records: readonly Wire[] }[],
  show: (service: Service, record: Wire) => string,
): Steps<{ service: Service; shown: string[] }[]> {
  const sections: { service: Service; shown: string[] }[] = []
  for (const { service, records } of parts) {
    const shown: string[] = []
    for (const record of records) {
      shown.push(show(service, record))
      yield
    }
    sections.push({ service, shown })
  }
  return sections
}
