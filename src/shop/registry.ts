import { accessesOf, namedPrivileges } from '../access/applications/privileges.ts'
import type { Privileges } from '../engine/caller.ts'
import type { Endpoint } from '../engine/definition/endpoints.ts'
import type { Resource } from '../engine/definition/resource.ts'
import { categories } from './resources/categories/categories.ts'
import { customerGroups } from './resources/customer-groups/customer-groups.ts'
import { customers } from './resources/customers/customers.ts'
import { distributors } from './resources/distributors/distributors.ts'
import { giftRegistries } from './resources/gift-registries/gift-registries.ts'
import { manufacturers } from './resources/manufacturers/manufacturers.ts'
import { paymentMethods, returnMethods, returnReasons, returnStatuses } from './resources/name-lists/name-lists.ts'
import { orderStatuses } from './resources/order-statuses/order-statuses.ts'
import { checkoutEndpoints } from './resources/orders/checkout/checkout.ts'
import { orders } from './resources/orders/orders.ts'
import { products } from './resources/products/products.ts'
import { rma } from './resources/rma/rma.ts'
import { webhooks } from './webhooks/webhooks.ts'

/**
 * The services whose records belong to the store: export and import carry them. Ordered by reference: a record refers
 * to earlier services (or to its own).
 */
export const resources = [
  categories,
  manufacturers,
  distributors,
  customerGroups,
  products,
  customers,
  orderStatuses,
  orders,
  giftRegistries,
  rma,
] as const satisfies readonly Resource[]

/** What export and import carry: the resources, and settings that orders and returns refer to. */
export const transferredResources = [
  paymentMethods,
  returnReasons,
  returnMethods,
  returnStatuses,
  ...resources,
] as const satisfies readonly Resource[]

/**
 * Every service that the engine serves: routes, privileges, the reference and the conformance suite read this. Webhooks
 * belong to an application's subscription, which does not move with a store.
 */
export const servedResources = [...resources, webhooks] as const satisfies readonly Resource[]

export type Service = (typeof servedResources)[number]['service']

/** Endpoints of a service that stand on its definition, which could not import them. */
export function furtherEndpointsOf(resource: Resource): readonly Endpoint[] {
  return resource === orders ? checkoutEndpoints : []
}

/** What the privileges of applications may name. */
export const privilegedServices: readonly string[] = [
  ...servedResources.map(({ service }) => service),
  ...Object.keys(namedPrivileges),
]

/** Throws for an unknown name. */
export function resourceNamed(service: string): Resource {
  const resource = servedResources.find((one) => one.service === service)
  if (!resource) throw new Error(`There is no service ${service}`)
  return resource
}

/** The service whose records a field of `resource` names by number: the definitions of what is named say so. Null: none. */
export function targetOf({ table }: Resource, path: string): Resource | null {
  const found = resources.find((each: Resource) =>
    each.referrers.some((referrer) => referrer.table === table && referrer.fields.includes(path)),
  )
  return found ?? null
}

/** All privileges by name, those that null does not cover too. */
export const allPrivileges: NonNullable<Privileges> = Object.fromEntries(
  privilegedServices.map((name) => [name, accessesOf(name)]),
)
