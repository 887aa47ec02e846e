import type { FastifyReply } from 'fastify'
import { fieldsWithout } from '../../../../engine/definition/fields.ts'
import { type Phrase, t } from '../../../../foundation/texts/text.ts'
import { StoreFailure } from '../../../../foundation/values/failure.ts'
import { namedObject, readInput, text } from '../../../../foundation/values/input.ts'
import { INT32_MAX } from '../../../../foundation/values/int32.ts'
import { valueIn } from '../../../../foundation/values/json.ts'
import type { PersonNamed } from '../../../../shop/erasure/person.ts'
import { services as ofPersons, treatmentOf } from '../../../../shop/erasure/personal.ts'
import { readErasedAt, takeOut } from '../../../../shop/erasure/remains.ts'
import { resourceNamed } from '../../../../shop/registry.ts'
import { billedTo } from '../../../../shop/resources/orders/buyer.ts'
import type { HtmlPage } from '../../../html/page.ts'
import { actorOf } from '../../../html/request.ts'
import { wholeNumber } from '../../../server/json/parameters.ts'
import type { PageRequest, Wire } from '../../frame/request.ts'
import { codedPaths, readCodes } from '../../records/codes.ts'
import { namesFor, referencesIn } from '../../records/references.ts'
import { type List, type Parts, pathOf, type Service, serviceOf } from '../../records/services.ts'
import { isSet, itemsIn, titleOf } from '../../records/values.ts'

/** The services with everything that is personal or belongs to it, also what no other page shows. */
const services = ofPersons.map((name): Service => {
  const resource = resourceNamed(name)
  const fields = fieldsWithout(resource.storedFields, (access) => access === 'sent' || access === 'wo')
  const service = serviceOf({ ...resource, fields: { ...fields, shown: fields } })
  return { ...service, ...personalIn(service, name) }
})

function personalIn({ values, lists }: Parts, at: string): Parts {
  return {
    values: values.filter(({ path }) => treatmentOf(`${at}.${path.join('.')}`) !== 'other'),
    lists: lists.map((list) => ({ ...list, ...personalIn(list, `${at}.${list.name}`) })),
  }
}

/** What is set of a record or an item. */
interface Told {
  readonly values: readonly { readonly value: Service['values'][number]; readonly shown: unknown }[]
  readonly lists: readonly { readonly list: List; readonly items: readonly Told[] }[]
}

function toldOf({ values, lists }: Parts, record: Wire): Told {
  const all = values.map((value) => ({ value, shown: valueIn(record, value.path) }))
  const told = lists.map((list) => ({ list, items: itemsIn(record, list).map((item) => toldOf(list, item)) }))
  return {
    values: all.filter(({ value, shown }) => isSet(value.field, shown)),
    lists: told.filter(({ items }) => items.length > 0),
  }
}

const query = namedObject({
  customer: wholeNumber(1, INT32_MAX).optional(),
  order: wholeNumber(1, INT32_MAX).optional(),
  phone: text(50).optional(),
})

/** Whom the address of a page names. Throws a 404 for nobody. */
export function namedIn(asked: PageRequest): PersonNamed {
  const { customer, order, phone } = readInput(query, asked.query, 'The query')
  if (customer !== undefined) return { customerId: customer }
  if (order !== undefined) return { orderId: order }
  if (phone !== undefined) return { phone }
  throw new StoreFailure('not-found', 'Name the person by customer, order or phone', { field: 'customer' })
}

/** What the address of a page of a person ends in. */
export function queryOf(named: PersonNamed): string {
  if ('customerId' in named) return `customer=${named.customerId}`
  return String(new URLSearchParams('orderId' in named ? { order: String(named.orderId) } : { ...named }))
}

/** Shows what is stored of a person, to be printed for them. */
export async function personPage(asked: PageRequest, { request }: FastifyReply): Promise<HtmlPage> {
  const { caller } = asked
  const named = namedIn(asked)
  const person = await takeOut(caller, named, actorOf(request))
  const { customerId, customer, orders, giftRegistries, returns } = person
  const records: readonly (readonly Wire[])[] = [customer === null ? [] : [customer], orders, giftRegistries, returns]
  const parts = services.map((service, at) => ({
    service,
    records: (records[at] ?? []).map((record) => ({ title: titleOf(service, record), ...toldOf(service, record) })),
  }))
  const references = services.flatMap((service, at) =>
    (records[at] ?? []).flatMap((record) => [...referencesIn(service, record)]),
  )
  const [first] = [...(customer === null ? [] : [customer]), ...orders]
  const name: Phrase = first === undefined ? '' : billedTo({ BillingEmail: first.Email, ...first })
  const own = `/admin/stores/${caller.store.id}`
  return {
    template: '/pages/shop/privacy/person',
    title: name === '' ? t('Data of a person') : t('Data of {name}', { name }),
    data: {
      ...person,
      parts,
      at: caller.now(),
      erasedAt: await erasedAtOf(caller, person),
      codes: await readCodes(caller, services.flatMap(codedPaths)),
      nameOf: await namesFor(caller, references),
      imageOf: () => null,
      pathOf,
      back: customerId === null ? `/admin/orders/${person.records.Orders[0]}` : `/admin/customers/${customerId}`,
      file: customerId === null ? `${own}/guests/data?${queryOf(named)}` : `${own}/customers/${customerId}/data`,
      erasing: `/admin/settings/privacy/erase?${queryOf(named)}`,
    },
  }
}

/** When the person was erased; null: something is stored still. */
export function erasedAtOf(
  caller: PageRequest['caller'],
  { customerId, records }: { customerId: number | null; records: { readonly Orders: readonly number[] } },
): Promise<Date | null> {
  return customerId === null
    ? readErasedAt(caller, 'Orders', records.Orders[0] ?? 0)
    : readErasedAt(caller, 'Customers', customerId)
}
