/**
 * Where a person goes after signing in: `given` where it is a path of this server, else `otherwise`. What leads to another
 * host is never followed, however it is written (`//host`, `/\host`, a control character between).
 */
export function returnAddress(given: unknown, otherwise: string): string {
  if (typeof given !== 'string' || !/^\/(?![/\\])[\x21-\x7e]*$/.test(given)) return otherwise
  const base = 'http://here.invalid'
  return URL.parse(given, base)?.origin === base ? given : otherwise
}
