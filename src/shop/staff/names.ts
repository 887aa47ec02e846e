// What pages call what the server knows by a word of its own.

import type { NamedPrivilege } from '../../access/applications/privileges.ts'
import type { Resource } from '../../engine/definition/resource.ts'
import { capital, labelOf, plural } from '../../foundation/texts/label.ts'
import { type Phrase, type Text, t } from '../../foundation/texts/text.ts'
import { servedResources } from '../registry.ts'
import { type administrationPrivileges, type BuiltInRole, isBuiltIn } from './roles.ts'

/** What the records of a service are called. */
export interface ServiceWords {
  /** One of them, and all, in a sentence. */
  readonly one: Text
  readonly all: Text
  /** The same as titles. */
  readonly oneTitle: Text
  readonly allTitle: Text
}

/** Names that the words of the wire do not give. */
const spoken: Readonly<Record<string, { one: string; all: string }>> = {
  RMA: { one: 'return', all: 'returns' },
  OrderStatus: { one: 'order status', all: 'order statuses' },
}

export function serviceWords({ service, typeName }: Pick<Resource, 'service' | 'typeName'>): ServiceWords {
  const one = spoken[service]?.one ?? labelOf(typeName).toLowerCase()
  const all = spoken[service]?.all ?? plural(one)
  return { one: t(one), all: t(all), oneTitle: t(capital(one)), allTitle: t(capital(all)) }
}

const ofAdministration: Readonly<Record<keyof typeof administrationPrivileges, Text>> = {
  Cost: t('Cost'),
  Settings: t('Settings'),
  Keys: t('Keys'),
  People: t('People'),
}

const ofCheckout: Readonly<Record<NamedPrivilege, Text>> = {
  Checkout: t('Placing orders'),
  CheckoutPrices: t('Placing orders with own prices'),
}

const privileges: ReadonlyMap<string, Text> = new Map([
  ...servedResources.map((resource) => [resource.service, serviceWords(resource).allTitle] as const),
  ...Object.entries({ ...ofCheckout, ...ofAdministration }),
])

const roles: Readonly<Record<BuiltInRole, Text>> = {
  owner: t('Owner'),
  manager: t('Manager'),
  orders: t('Orders'),
  catalogue: t('Catalogue'),
  reader: t('Reader'),
}

/** One that the server does not know keeps its name. */
export function privilegeName(privilege: string): Phrase {
  return privileges.get(privilege) ?? privilege
}

/** The name of a role: a store calls its own as it likes, but not as one that every store has. */
export function roleName(role: string): Phrase {
  return isBuiltIn(role) ? roles[role] : role
}
