import type { Caller } from '../../engine/caller.ts'
import { customerErased, type EventKind } from '../../engine/definition/event-kinds.ts'
import { type Field, fieldSet, type ObjectType, oneOf } from '../../engine/definition/fields.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import { raise } from '../../engine/recording/events.ts'
import { categories } from '../resources/categories/categories.ts'
import { customerGroups } from '../resources/customer-groups/customer-groups.ts'
import { customers } from '../resources/customers/customers.ts'
import { distributors } from '../resources/distributors/distributors.ts'
import { giftRegistries } from '../resources/gift-registries/gift-registries.ts'
import { manufacturers } from '../resources/manufacturers/manufacturers.ts'
import { orders } from '../resources/orders/orders.ts'
import { products } from '../resources/products/products.ts'
import { rma } from '../resources/rma/rma.ts'

/** The services of whose records events tell. */
const notifiedResources: readonly Resource[] = [
  customers,
  orders,
  products,
  rma,
  categories,
  manufacturers,
  distributors,
  customerGroups,
  giftRegistries,
]

/** The service of whose records a kind tells. */
export function resourceOf({ service, name }: EventKind): Resource {
  const resource = notifiedResources.find((one) => one.service === service)
  if (resource === undefined) throw new Error(`${name} tells of no record`)
  return resource
}

/** What stands in the place of the record of a customer that was erased: in XML a Customer with no other member. */
const erasedCustomer: ObjectType = {
  typeName: customers.typeName,
  partName: 'ErasedCustomer',
  description: 'What is left of a customer that was erased.',
  fields: fieldSet({ CustomerID: customers.fields.get('CustomerID') as Field }),
}

/** Raises Customer Erased in the transaction of a change. */
export function raiseErased(caller: Caller, id: number): void {
  raise(caller, customerErased, customers, id, { body: JSON.stringify({ CustomerID: id }) })
}

/** What the body of an event of a kind is. */
export function bodyType(kind: EventKind): ObjectType {
  return kind === customerErased ? erasedCustomer : resourceOf(kind)
}

/** The record of an event. Its members say which service it is of; a selection of a few may be of several, and is of the first. */
export const eventRecord = oneOf(
  'EventRecord',
  {
    types: [...notifiedResources, erasedCustomer],
    of: (given) => {
      const names = Object.keys(given)
      const isOf = ({ fields }: Resource) => names.every((name) => fields.get(name) !== undefined)
      return notifiedResources.find(isOf) ?? customers
    },
  },
  'The record as it was when the event happened, with every member that reads have; of Customer Erased the number alone.',
)
