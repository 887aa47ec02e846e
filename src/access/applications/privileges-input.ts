import { z } from 'zod'
import type { Access, Privileges } from '../../engine/caller.ts'
import { namedObject } from '../../foundation/values/input.ts'
import { accessesOf, type NamedPrivilege } from './privileges.ts'

/** Validates `{"Products": ["read", "write"], …}`; `services` are the registry's names. Null: all privileges. */
export function privilegesInput(services: readonly string[]) {
  const member = (service: string) => accesses(service).optional().describe(privilegeInWords(service))
  return namedObject(Object.fromEntries(services.map((service) => [service, member(service)])))
    .transform((given): Privileges => given as Record<string, Access[]>)
    .nullable()
    .optional()
    .describe(
      'The privileges that the application requests from stores. Null, or left out on creation: everything, including services that come later, except `Checkout` and `CheckoutPrices`, which have to be named.',
    )
}

/** What the member of a service says. */
export function privilegeInWords(service: string): string {
  const own = ofTheirOwn[service]
  if (own !== undefined) return own
  const under = readUnderOther[service]
  if (under !== undefined)
    return `Taken, and nothing depends on it: \`/${service}\` is read with the privilege ${under}.`
  return `The access to \`/${service}\` and the addresses below it: \`read\`, \`write\` or both. Left out: none.`
}

const ofTheirOwn: Readonly<Record<string, string>> = {
  Checkout: '`read`: work out what an order would cost; `write`: place orders. Every store has to agree to it by name.',
  CheckoutPrices:
    '`write`: place orders with prices, discounts, dates and statuses of its own, as a marketplace or a till does. Every store has to agree to it by name.',
} satisfies Readonly<Record<NamedPrivilege, string>>

/** The privileges of services that have none of their own. */
const readUnderOther: Readonly<Record<string, string>> = { OrderStatus: 'Orders' }

function accesses(service: string) {
  const known = accessesOf(service)
  const allowed = `must be a list of ${known.join(' and ')}`
  return z
    .array(z.enum(known, allowed), allowed)
    .max(10, allowed)
    .transform((given) => [...new Set(given)].sort())
}
