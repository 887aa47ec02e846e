// What pages call what the server knows by a word of its own.

import { type Phrase, type Text, t } from '../texts/text.ts'
import { type BuiltInRole, isBuiltIn, type Privilege } from './roles.ts'

const privileges: Readonly<Record<Privilege, Text>> = {
  Orders: t('Orders'),
  OrderStatus: t('Order statuses'),
  Customers: t('Customers'),
  CustomerGroups: t('Customer groups'),
  Products: t('Products'),
  Category: t('Categories'),
  Manufacturers: t('Manufacturers'),
  Distributors: t('Distributors'),
  GiftRegistries: t('Gift registries'),
  RMA: t('Returns'),
  Webhooks: t('Webhooks'),
  Cost: t('Cost'),
  Settings: t('Settings'),
  Keys: t('Keys'),
  People: t('People'),
}

const roles: Readonly<Record<BuiltInRole, Text>> = {
  owner: t('Owner'),
  manager: t('Manager'),
  orders: t('Orders'),
  catalogue: t('Catalogue'),
  reader: t('Reader'),
}

/** One that the server does not know keeps its name. */
export function privilegeName(privilege: string): Phrase {
  return Object.hasOwn(privileges, privilege) ? privileges[privilege as Privilege] : privilege
}

/** The name of a role: a store calls its own as it likes, but not as one that every store has. */
export function roleName(role: string): Phrase {
  return isBuiltIn(role) ? roles[role] : role
}
