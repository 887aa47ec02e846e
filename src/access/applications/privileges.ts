import type { Access, Privileges } from '../../engine/caller.ts'
import type { ValueField } from '../../engine/definition/fields.ts'

/**
 * What an application may do beside reading and writing records, with the accesses that there are. An application and a store's consent
 * have to name it: null, which is everything else, does not cover it.
 */
export const namedPrivileges = { Checkout: ['read', 'write'], CheckoutPrices: ['write'] } as const satisfies Readonly<
  Record<string, readonly Access[]>
>

export type NamedPrivilege = keyof typeof namedPrivileges

export function accessesOf(privilege: string): readonly Access[] {
  return isNamed(privilege) ? namedPrivileges[privilege] : ['read', 'write']
}

function isNamed(privilege: string): privilege is NamedPrivilege {
  return Object.hasOwn(namedPrivileges, privilege)
}

/** Whether the privileges of a caller, an application or a consent include this access. */
export function allows(privileges: Privileges, service: string, access: Access): boolean {
  if (privileges === null) return !isNamed(service)
  return privileges[service]?.includes(access) === true
}

/** Whether they include reading the records of this service. */
export function mayRead(privileges: Privileges, { privilege }: { readonly privilege: string }): boolean {
  return allows(privileges, privilege, 'read')
}

/** Returns the intersection: the privileges that the application requests and the merchant agreed to. Null: all but named ones. */
export function bothOf(asked: Privileges, agreed: Privileges): Privileges {
  const listed = asked ?? agreed
  return listed && pick(listed, (service, access) => allows(asked, service, access) && allows(agreed, service, access))
}

/** Returns what an application that names its privileges requests beyond what was agreed to. Null: it requests all. */
export function beyond(asked: Privileges, agreed: Privileges): Privileges {
  return asked && pick(asked, (service, access) => !allows(agreed, service, access))
}

function pick(privileges: NonNullable<Privileges>, isWanted: (service: string, access: Access) => boolean) {
  const picked = Object.entries(privileges).map(([service, accesses]) => {
    return [service, accesses.filter((access) => isWanted(service, access))] as const
  })
  return Object.fromEntries(picked.filter(([, accesses]) => accesses.length > 0))
}

/** Whether the application requests more than was agreed to. All exceeds any list, because services may be added. */
export function exceeds(asked: Privileges, agreed: Privileges): boolean {
  const more = beyond(asked, agreed)
  return more === null ? agreed !== null : Object.keys(more).length > 0
}

/** Whether somebody of a store with these privileges may give others what is asked. An owner's null covers named privileges too. */
export function mayGive(own: Privileges, asked: Privileges): boolean {
  return own === null || !exceeds(asked, own)
}

/** Whether both allow the same, regardless of how they are written. */
export function samePrivileges(one: Privileges, other: Privileges): boolean {
  return !exceeds(one, other) && !exceeds(other, one)
}

/** Returns the same without what only a store itself agrees to. */
export function withoutNamed(privileges: Privileges): Privileges {
  return privileges && pick(privileges, (service) => !isNamed(service))
}

/** Whether people of a store with these privileges are shown the field of a record that they may read. */
export function shows(privileges: Privileges, { needs }: Pick<ValueField, 'needs'>): boolean {
  return needs === undefined || allows(privileges, needs, 'read')
}
