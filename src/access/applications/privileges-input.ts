import { z } from 'zod'
import type { Access, Privileges } from '../../engine/caller.ts'
import { namedObject } from '../../foundation/values/input.ts'

/** Validates `{"Products": ["read", "write"], …}`; `services` are the registry's names. Null: all privileges. */
export function privilegesInput(services: readonly string[]) {
  return namedObject(
    Object.fromEntries(services.map((service) => [service, accesses.optional().describe(privilegeInWords(service))])),
  )
    .transform((given): Privileges => given as Record<string, Access[]>)
    .nullable()
    .optional()
    .describe(
      'The privileges that the application requests from stores. Null, or left out on creation: everything, including services that come later.',
    )
}

/** What the member of a service says. */
export function privilegeInWords(service: string): string {
  const under = readUnderOther[service]
  if (under !== undefined)
    return `Taken, and nothing depends on it: \`/${service}\` is read with the privilege ${under}.`
  return `The access to \`/${service}\` and the addresses below it: \`read\`, \`write\` or both. Left out: none.`
}

/** The privileges of services that have none of their own. */
const readUnderOther: Readonly<Record<string, string>> = { OrderStatus: 'Orders' }

const allowed = 'must be a list of read and write'
const accesses = z
  .array(z.enum(['read', 'write'], allowed), allowed)
  .max(10, allowed)
  .transform((given) => [...new Set(given)].sort())
