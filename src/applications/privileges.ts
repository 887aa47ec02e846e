import type { Access, Privileges } from '../engine/caller.ts'

/** Whether these privileges hold this access to a service. */
export function allows(privileges: Privileges, service: string, access: Access): boolean {
  return privileges === null || privileges[service]?.includes(access) === true
}

/** What stands in both: what the application asks for, as far as the subscription agreed to it. Null: everything. */
export function bothOf(asked: Privileges, agreed: Privileges): Privileges {
  if (asked === null || agreed === null) return asked ?? agreed
  const shared = Object.entries(asked).map(([service, accesses]) => {
    return [service, accesses.filter((access) => agreed[service]?.includes(access))] as const
  })
  return Object.fromEntries(shared.filter(([, accesses]) => accesses.length > 0))
}

/** Whether more is asked for than was agreed to. Everything is more than any list: services may be added. */
export function exceeds(asked: Privileges, agreed: Privileges): boolean {
  if (agreed === null) return false
  if (asked === null) return true
  return Object.entries(asked).some(([service, accesses]) => {
    return accesses.some((access) => !agreed[service]?.includes(access))
  })
}

/** Whether both allow the same, however it is written. */
export function samePrivileges(one: Privileges, other: Privileges): boolean {
  return !exceeds(one, other) && !exceeds(other, one)
}
