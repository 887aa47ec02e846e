/** Returns what the server says of what it refuses, in English, with `{1}` for each value. */
export function refusals(): ReadonlySet<string> {
  return new Set()
}
