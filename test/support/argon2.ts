import { createRequire } from 'node:module'
import type { Options } from '@node-rs/argon2'

const real: typeof import('@node-rs/argon2') = createRequire(import.meta.url)('@node-rs/argon2')

const hashes = new Map<string, Promise<string>>()
const results = new Map<string, Promise<boolean>>()

/**
 * Stands in the `app` project for `@node-rs/argon2`, of whose CPU time thousands of sign-ins would take minutes. It does
 * what the library does, once for each input, and remembers the result: only the salt of a password that is hashed
 * again is the same. `test/unit/values/secrets.test.ts` tests the library itself.
 */
export function hash(password: string, options: Options): Promise<string> {
  return remembered(hashes, JSON.stringify([password, options]), () => real.hash(password, options))
}

/** Tests look here how many passwords were verified, and set what happens right after the next one. */
export const looks = { count: 0, afterwards: async () => {} }

export async function verify(stored: string, password: string): Promise<boolean> {
  looks.count++
  const fits = await remembered(results, JSON.stringify([stored, password]), () => real.verify(stored, password))
  await looks.afterwards()
  return fits
}

function remembered<Result>(
  known: Map<string, Promise<Result>>,
  key: string,
  work: () => Promise<Result>,
): Promise<Result> {
  const result = known.get(key) ?? work()
  known.set(key, result)
  return result
}
