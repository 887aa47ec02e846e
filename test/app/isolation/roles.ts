import { allows } from '../../../src/access/applications/privileges.ts'
import type { Privileges } from '../../../src/engine/caller.ts'
import type { Need } from '../../../src/http/server/json/roles.ts'
import { builtInRoles } from '../../../src/shop/staff/roles.ts'
import type { GuardedRoute } from '../../support/guarded-routes.ts'
import type { OwnRole } from '../../support/signed-in.ts'

/** Roles of a store's own, for what no built-in role separates. */
export const ownRoles: readonly OwnRole[] = [
  { Name: 'Order desk', Privileges: { Orders: ['read'] } },
  { Name: 'Packer', Privileges: { Orders: ['write'] } },
  { Name: 'Stock', Privileges: { Products: ['write'], Webhooks: ['write'] } },
  { Name: 'Returns', Privileges: { RMA: ['write'], GiftRegistries: ['read'], Settings: ['read'] } },
  { Name: 'Keys', Privileges: { Keys: ['read'] } },
]

/** All roles of the tests, with what they may do. */
export const allRoles: readonly { readonly role: string; readonly privileges: Privileges }[] = [
  ...Object.entries(builtInRoles).map(([role, { privileges }]) => ({ role, privileges })),
  ...ownRoles.map(({ Name, Privileges: given }) => ({
    role: Name,
    // Writing includes reading (src/shop/staff/store-roles.ts).
    privileges: Object.fromEntries(
      Object.entries(given).map(([name, accesses]) => [
        name,
        accesses.includes('write') ? (['read', 'write'] as const) : accesses,
      ]),
    ),
  })),
]

/** What an address needs beyond its route, because of what it names. */
const ofRecord: readonly (readonly [path: RegExp, need: Need])[] = [
  // The import of `openSide` is of products.
  [/^\/admin\/csv\/[^/]+/, ['Products', 'write']],
  // The delivery of `openSide` tells of an order.
  [/^\/admin\/webhooks\/[^/]+\/deliveries\/[^/]+$/, ['Orders', 'read']],
  [/^\/admin\/orders\/slips\?.*kind=invoice/, ['Customers', 'read']],
]

/** Whether somebody with these privileges may use the route, at this address. */
export function mayUse(
  privileges: Privileges,
  { needs, forOwners }: Pick<GuardedRoute, 'needs' | 'forOwners'>,
  address: string,
): boolean {
  if (forOwners && privileges !== builtInRoles.owner.privileges) return false
  const all = [...needs, ...ofRecord.flatMap(([path, need]) => (path.test(address) ? [need] : []))]
  return all.every(([privilege, access]) => allows(privileges, privilege, access))
}

/** The route of an address: of several that fit, the one with the most parts that are no identifiers. */
export function routeOf(routes: readonly GuardedRoute[], method: string, address: string): GuardedRoute | undefined {
  const parts = address.split('?', 1)[0]?.split('/') ?? []
  const fitting = routes.filter(({ method: of, url }) => {
    const pattern = url.split('/')
    const fits = (part: string, at: number) => part.startsWith(':') || part === parts[at]
    return of === method && pattern.length === parts.length && pattern.every(fits)
  })
  const identifiers = ({ url }: GuardedRoute) => url.split(':').length
  return fitting.toSorted((one, other) => identifiers(one) - identifiers(other))[0]
}
