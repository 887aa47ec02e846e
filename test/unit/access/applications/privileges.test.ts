import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bothOf, exceeds, samePrivileges } from '../../../../src/access/applications/privileges.ts'
import type { Access, Privileges } from '../../../../src/engine/caller.ts'

const services = ['Products', 'Orders', 'Customers']
const accesses: readonly Access[] = ['read', 'write']

const privileges: fc.Arbitrary<Privileges> = fc.option(
  fc.dictionary(fc.constantFrom(...services), fc.subarray([...accesses])),
)

/** Every right that there is, of these services and of one that nobody has named. */
const rights = [...services, 'Later'].flatMap((service) => accesses.map((access) => [service, access] as const))

function holds(given: Privileges, [service, access]: (typeof rights)[number]): boolean {
  return given === null || given[service]?.includes(access) === true
}

test('a right counts when the application asks for it and the subscription agreed to it, and no other does', () => {
  fc.assert(
    fc.property(privileges, privileges, (asked, agreed) => {
      const both = bothOf(asked, agreed)
      for (const right of rights) expect(holds(both, right)).toBe(holds(asked, right) && holds(agreed, right))
    }),
  )
})

test('more is asked than agreed exactly where some right is asked that was not agreed to', () => {
  fc.assert(
    fc.property(privileges, privileges, (asked, agreed) => {
      expect(exceeds(asked, agreed)).toBe(rights.some((right) => holds(asked, right) && !holds(agreed, right)))
    }),
  )
})

test('everything is more than a list of all that there is today', () => {
  const all = Object.fromEntries(services.map((service) => [service, accesses]))
  expect(exceeds(null, all)).toBe(true)
  expect(exceeds(all, null)).toBe(false)
})

test('two are the same when they hold the same rights, in whatever order and with whatever empty lists', () => {
  expect(samePrivileges({ Orders: ['read', 'write'], Products: [] }, { Orders: ['write', 'read'] })).toBe(true)
  expect(samePrivileges({}, null)).toBe(false)
  fc.assert(
    fc.property(privileges, privileges, (one, other) => {
      expect(samePrivileges(one, other)).toBe(rights.every((right) => holds(one, right) === holds(other, right)))
    }),
  )
})
