import { allows, type NamedPrivilege, namedPrivileges } from '../../access/applications/privileges.ts'
import type { Access, Privileges } from '../../engine/caller.ts'
import type { FieldSet } from '../../engine/definition/fields.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import { type Text, t } from '../../foundation/texts/text.ts'
import { type Service, servedResources } from '../registry.ts'

/** What people of a store may do beside reading and writing the records of its services, with what pages say of it. */
export const administrationPrivileges = {
  Cost: t('what goods cost the store'),
  Settings: t('the settings and the audit log'),
  Keys: t('applications, the key of cartAPI and the secrets of webhooks'),
  People: t('people and roles'),
} as const

export type Privilege = Service | NamedPrivilege | keyof typeof administrationPrivileges

const servicePrivileges = [...new Set(servedResources.map(({ privilege }) => privilege))] as readonly Service[]

/** What pages say of privileges whose name does not say it. */
export const privilegeWords = {
  Checkout: t('let applications place orders'),
  CheckoutPrices: t('let applications place orders with prices of their own'),
  ...administrationPrivileges,
} as const

/** Everything that a role may name: the services, as for applications, and the administration. */
export const privilegeNames: readonly Privilege[] = [
  ...servicePrivileges,
  ...(Object.keys(namedPrivileges) as NamedPrivilege[]),
  ...(Object.keys(administrationPrivileges) as (keyof typeof administrationPrivileges)[]),
]

const READ: readonly Access[] = ['read']
const ALL: readonly Access[] = ['read', 'write']

function of(names: readonly Privilege[], accesses: readonly Access[]): Readonly<Record<string, readonly Access[]>> {
  return Object.fromEntries(names.map((name) => [name, accesses]))
}

/** The roles that every store has: their privileges, of which null are all, and what they are for. */
export const builtInRoles = {
  owner: { privileges: null, summary: t('Everything, people included') },
  manager: {
    privileges: of([...servicePrivileges, 'Cost', 'Settings'], ALL),
    summary: t('Everything but people, roles, applications and keys'),
  },
  orders: {
    privileges: {
      ...of(['Orders', 'RMA', 'Customers', 'GiftRegistries'], ALL),
      ...of(['CustomerGroups', 'Products'], READ),
    },
    summary: t('Orders, returns and customers'),
  },
  catalogue: {
    privileges: {
      ...of(['Products', 'Category', 'Manufacturers', 'Distributors', 'Cost'], ALL),
      ...of(['CustomerGroups'], READ),
    },
    summary: t('Products, their prices and stock, categories, manufacturers and distributors'),
  },
  reader: { privileges: of([...servicePrivileges, 'Cost'], READ), summary: t('Sees all records, and changes nothing') },
} as const satisfies Record<string, { privileges: Privileges; summary: Text }>

export type BuiltInRole = keyof typeof builtInRoles

export function isBuiltIn(name: string): name is BuiltInRole {
  return Object.hasOwn(builtInRoles, name)
}

/** A role as an account has it: one of every store, or the store's own with its privileges. */
export interface RoleOfAccount {
  readonly role: string
  /** Null: the role is built in. */
  readonly ownPrivileges: Privileges
}

/** What an account with the role may do; null: everything. Throws for a built-in role that does not exist. */
export function privilegesOf({ role, ownPrivileges }: RoleOfAccount): Privileges {
  if (ownPrivileges !== null) return ownPrivileges
  if (!isBuiltIn(role)) throw new Error(`There is no role ${role}`)
  return builtInRoles[role].privileges
}

/** Whether somebody sees the service's records, and all of them. */
export function seesAll(privileges: Privileges, resource: Resource): boolean {
  return neededFor(resource).every((needed) => allows(privileges, needed, 'read'))
}

/** The privileges without which somebody does not see all of a service's records, such as Orders, Customers and Cost. */
export function neededFor({ privilege, fields }: Resource): string[] {
  return [...new Set([privilege, ...needsIn(fields)])]
}

function needsIn({ leaves }: FieldSet): string[] {
  return leaves.flatMap(({ field }) => (field.kind === 'list' ? needsIn(field.fields) : (field.needs ?? [])))
}

/**
 * Returns what somebody with the role may let an application do: nobody grants more than they have, and an application reads every field
 * of its services. Null: everything.
 */
export function grantableBy(role: RoleOfAccount): Privileges {
  const own = privilegesOf(role)
  if (own === null) return null
  const seen = (name: string) =>
    servedResources.every((resource: Resource) => resource.privilege !== name || seesAll(own, resource))
  return Object.fromEntries(Object.entries(own).filter(([name]) => seen(name)))
}
