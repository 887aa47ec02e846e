import type { ListField } from '../../../src/engine/definition/fields.ts'
import type { NestedSubResource, Resource } from '../../../src/engine/definition/resource.ts'
import { servedResources } from '../../../src/shop/registry.ts'
import type { Wire } from '../conformance/samples.ts'
import type { Side } from './two-stores.ts'

export type Id = number | string

/** No record ever has this id; it has as many digits as those of the other store. */
export const UNKNOWN = 400_000

/** Every record of a store that an address can name, by the part of the address that ends in its identifier. */
const atAddresses: Readonly<Record<string, (side: Side) => Id>> = {
  '/admin/webhooks/:id': ofService('Webhooks'),
  '/admin/webhooks/:id/deliveries/:deliveryId': ({ deliveryId }) => deliveryId,
  '/admin/csv/:id': ({ importId }) => importId,
  '/admin/outbox/:id': ({ mailId }) => mailId,
  '/admin/modules/rest-api/:subscriptionId': ({ subscriptionId }) => subscriptionId,
  '/admin/customers/:id/notes/:noteId': ({ noteId }) => noteId,
  '/admin/orders/drafts/:id': ({ draftId }) => draftId,
  '/admin/orders/:id/returns/:rmaId': ofService('RMA'),
  '/admin/orders/:id/shipments/:shipmentId': firstShipment,
  '/admin/orders/:id/payments/:transactionId': firstTransaction,
  '/admin/orders/:id/credit-notes/:transactionId': firstTransaction,
  '/admin/orders/:id/mails/:mailId': ({ mailId }) => mailId,
  '/admin/stores/:id': ({ store }) => store.id,
  '/admin/stores/:id/subscriptions/:subscriptionId': ({ subscriptionId }) => subscriptionId,
  '/admin/stores/:id/customers/:customerId': ofService('Customers'),
  '/admin/stores/:id/users/:userId': ({ userId }) => userId,
  '/admin/applications/:id': ({ application }) => application.id,
  '/developers/applications/:id': ({ application }) => application.own.Id,
  '/developers/test-stores/:id': ({ testStoreId }) => testStoreId,
  '/developers/inboxes/:id': ({ inbox }) => inbox.id,
  '/account/tokens/:id': ({ merchantToken }) => merchantToken,
  '/developers/account/tokens/:id': ({ developerToken }) => developerToken,
  '/developers/inbox/:name': ({ inbox }) => inbox.name,
  '/developers/inbox/:name/:messageId': ({ inbox }) => inbox.messageId,
  '/developers/applications/:id/calls/:subscriptionId': ({ subscriptionId }) => subscriptionId,
  '/account/orders/:id': ofService('Orders'),
  '/account/orders/:id/credit-notes/:transactionId': firstTransaction,
  '/admin/people/:id': ({ userId }) => userId,
  '/admin/people/invitations/:id': ({ invitationId }) => invitationId,
  '/admin/people/roles/:id': ({ roleId }) => roleId,
  '/Webhooks/:id/Deliveries/:deliveryid': ({ deliveryId }) => deliveryId,
}

/** The same in every store and for everybody: files, the statuses, and the accounts that the operator alone names. */
export const shared = [
  '/assets/:file',
  '/assets/sandbox/:picture',
  '/OrderStatus/:id',
  '/admin/orderstatus/:id',
  '/admin/developers/:id',
]

/**
 * What the last identifier of an address may name in a store: one record, or the items of a list in it. Null: the table above lacks
 * a row for the address.
 */
export function identifiersAt(path: string): ((side: Side) => readonly Id[]) | null {
  const end = path.indexOf('/', path.lastIndexOf(':'))
  const prefix = end === -1 ? path : path.slice(0, end)
  const one = atAddresses[prefix] ?? recordAt(prefix) ?? historyAt(prefix)
  return one === null ? itemsAt(prefix) : (side) => [one(side)]
}

/** The address with identifiers of what the store has, or of what there never was. */
export function filled(path: string, side: Side | null): string {
  return [...path.matchAll(/:\w+/g)].reduce((address, { 0: name, index }) => {
    const known = side && identifiersAt(path.slice(0, index + name.length))?.(side)
    return address.replace(name, encodeURIComponent(String(known?.[0] ?? UNKNOWN)))
  }, path)
}

function ofService(service: string): (side: Side) => number {
  return ({ records }) => records.get(service)?.id ?? 0
}

/** The first shipment of the order; 0 is the only one of each. */
function firstShipment({ records }: Side): Id {
  const [first] = (records.get('Orders')?.record.ShipmentList ?? []) as { ShipmentID: number }[]
  return first?.ShipmentID ?? 0
}

function firstTransaction({ records }: Side): Id {
  const [first] = (records.get('Orders')?.record.TransactionList ?? []) as { TransactionIndexID: number }[]
  return first?.TransactionIndexID ?? 0
}

/** A record of a service in REST or on a page, from its definition. */
function recordAt(path: string): ((side: Side) => Id) | null {
  const resource = servedResources.find(
    ({ service }) =>
      (path.startsWith(`/${service}/:`) && path.split('/').length === 3) ||
      path === `/admin/${service.toLowerCase()}/:id`,
  )
  return resource === undefined ? null : ofService(resource.service)
}

/** An entry of the history of a record, on a page. */
function historyAt(path: string): ((side: Side) => Id) | null {
  const resource = servedResources.find(({ service }) => path === `/admin/${service.toLowerCase()}/:id/history/:entry`)
  return resource === undefined ? null : ({ historyIds }) => historyIds.get(resource.table) ?? 0
}

/** The items of a list in a record, from the definition of the service. */
function itemsAt(path: string): ((side: Side) => readonly Id[]) | null {
  const [, service, , name] = path.split('/')
  const resource: Resource | undefined = servedResources.find((one) => one.service === service)
  const sub = resource?.subResources[name ?? '']
  if (resource === undefined || sub?.kind !== 'nested') return null
  const { list } = sub as NestedSubResource
  const { key = '' } = resource.fields.get(list) as ListField
  return ({ records }) => ((records.get(resource.service)?.record[list] ?? []) as Wire[]).map((item) => item[key] as Id)
}
