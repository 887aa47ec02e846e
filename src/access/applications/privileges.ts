import type { Access, Privileges } from '../../engine/caller.ts'
import type { ValueField } from '../../engine/definition/fields.ts'

/** Whether the privileges include this access to the service. */
export function allows(privileges: Privileges, service: string, access: Access): boolean {
  return privileges === null || privileges[service]?.includes(access) === true
}

/** Whether they include reading the records of this service. */
export function mayRead(privileges: Privileges, { privilege }: { readonly privilege: string }): boolean {
  return allows(privileges, privilege, 'read')
}

/** Returns the intersection: the privileges that the application requests and the merchant agreed to. Null: all. */
export function bothOf(asked: Privileges, agreed: Privileges): Privileges {
  if (asked === null || agreed === null) return asked ?? agreed
  const shared = Object.entries(asked).map(([service, accesses]) => {
    return [service, accesses.filter((access) => agreed[service]?.includes(access))] as const
  })
  return Object.fromEntries(shared.filter(([, accesses]) => accesses.length > 0))
}

/** Whether the application requests more than was agreed to. All exceeds any list, because services may be added. */
export function exceeds(asked: Privileges, agreed: Privileges): boolean {
  if (agreed === null) return false
  if (asked === null) return true
  return Object.entries(asked).some(([service, accesses]) => {
    return accesses.some((access) => !agreed[service]?.includes(access))
  })
}

/** Whether both allow the same, regardless of how they are written. */
export function samePrivileges(one: Privileges, other: Privileges): boolean {
  return !exceeds(one, other) && !exceeds(other, one)
}

/** Whether people of a store with these privileges are shown the field of a record that they may read. */
export function shows(privileges: Privileges, { needs }: Pick<ValueField, 'needs'>): boolean {
  return needs === undefined || allows(privileges, needs, 'read')
}
