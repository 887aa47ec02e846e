/** The value of a preference in a header Prefer, in small letters; null: it is not there. The first of a name counts (RFC 7240 §2). */
export function preferenceIn(prefer: string | readonly string[] | undefined, name: string): string | null {
  if (prefer === undefined) return null
  const form = new RegExp(String.raw`^\s*${name}\s*=\s*"?([\w-]*)"?\s*(?:;|$)`, 'i')
  for (const one of String(prefer).split(',')) {
    const [, value] = form.exec(one) ?? []
    if (value !== undefined) return value.toLowerCase()
  }
  return null
}
