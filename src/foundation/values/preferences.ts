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

/** What a caller's `tells` is by `Prefer: notify=none`, to be spread: customers are not told of what the request changes. */
export function tellingOf(prefer: string | readonly string[] | undefined) {
  return preferenceIn(prefer, 'notify') === 'none' ? ({ tells: 'nobody' } as const) : {}
}
