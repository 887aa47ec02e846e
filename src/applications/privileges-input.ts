import { z } from 'zod'
import type { Access, Privileges } from '../engine/caller.ts'
import { namedObject } from '../values/input.ts'

/** Validates `{"Products": ["read", "write"], …}`; `services` are the registry's names. Null: all privileges. */
export function privilegesInput(services: readonly string[]) {
  return namedObject(
    Object.fromEntries(services.map((service) => [service, accesses.optional().describe(privilegeInWords(service))])),
  )
    .transform((given): Privileges => given as Record<string, Access[]>)
    .nullable()
    .optional()
    .describe(
      'What the application asks of stores. Null, or left out of a new one: everything, also services that come later.',
    )
}

/** What the member of a service says. */
export function privilegeInWords(service: string): string {
  return `What the application may do by \`/${service}\` and the addresses below it. Left out: nothing.`
}

const allowed = 'must be a list of read and write'
const accesses = z
  .array(z.enum(['read', 'write'], allowed), allowed)
  .max(10, allowed)
  .transform((given) => [...new Set(given)].sort())
