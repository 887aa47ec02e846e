/**
 * A wire name in words: `BillingFirstName` is `Billing first name`. Without the name of the type that it belongs to, as long
 * as something is left: `CategoryName` of a Category is `Name`.
 */
export function labelOf(name: string, typeName = ''): string {
  const own =
    name.startsWith(typeName) && /^[A-Z]/.test(name.slice(typeName.length)) ? name.slice(typeName.length) : name
  const words = own.split(/(?<=[a-z])(?=[A-Z0-9])|(?<=[A-Z0-9])(?=[A-Z][a-z])/)
  return words.map((word, at) => (at === 0 || /^[A-Z]{2}/.test(word) ? word : word.toLowerCase())).join(' ')
}

export function plural(words: string): string {
  if (/[^aeiou]y$/.test(words)) return `${words.slice(0, -1)}ies`
  return /s$/.test(words) ? words : `${words}s`
}

export function capital(words: string): string {
  return words.charAt(0).toUpperCase() + words.slice(1)
}
