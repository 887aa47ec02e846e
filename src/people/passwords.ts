import { hash, verify } from '@node-rs/argon2'

/** OWASP's figures for argon2id, which is the library's default algorithm: 19 MiB, two passes, one lane. */
const figures = { memoryCost: 19_456, timeCost: 2, parallelism: 1 }

/** Well-formed and of the same cost as a real one; no known password leads to it. */
const nobodysHash = `$argon2id$v=19$m=19456,t=2,p=1$${'A'.repeat(22)}$${'A'.repeat(43)}`

/** The form to store, `$argon2id$…`. Runs beside the event loop, as many at once as libuv has threads. */
export function hashPassword(password: string): Promise<string> {
  return hash(password.normalize('NFKC'), figures)
}

/** Null (nobody of that name, or no password) is always false, and takes as long as a wrong password. */
export async function verifyPassword(stored: string | null, password: string): Promise<boolean> {
  const fits = await verify(stored ?? nobodysHash, password.normalize('NFKC'))
  return fits && stored !== null
}
