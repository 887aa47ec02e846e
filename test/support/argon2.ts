import { createRequire } from 'node:module'
import type { Options } from '@node-rs/argon2'

const real: typeof import('@node-rs/argon2') = createRequire(import.meta.url)('@node-rs/argon2')

const hashes = new Map<string, Promise<string>>()
const results = new Map<string, Promise<boolean>>()

/**
 * Replaces `@node-rs/argon2` in the project `app`: the library computes each hash and each verification once in a worker,
 * and its result is remembered, because the thousands of sign-ins would take minutes of CPU time. The only difference: a
 * password that is hashed twice has the same salt. `test/unit/foundation/values/secrets.test.ts` uses the library itself.
 */
export function hash(password: string, options: Options): Promise<string> {
  return remembered(hashes, JSON.stringify([password, options]), () => real.hash(password, options))
}

/** The number of verifications so far, and what a test wants to happen right after the next ones. */
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
