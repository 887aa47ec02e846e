import { hash, verify } from '@node-rs/argon2'

/** OWASP's parameters for argon2id, the library's default algorithm: 19 MiB, two passes, one lane. */
const figures = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** A well-formed hash that costs as much as a real one and that no known password matches. */
const nobodysHash = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** Returns the hash to store, `$argon2id$…`. Runs outside the event loop, with as many threads as libuv has. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFKC'), figures)
}

/** Whether the password matches. For null (no account or password), returns false after the same time. */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const fits = await verify(stored ?? nobodysHash, password.normalize('NFKC'))
  return fits && stored !== null
}
