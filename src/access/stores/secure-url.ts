import { domainToASCII } from 'node:url'

/** Limits the work on headers of unauthenticated requests. No valid address is longer. */
const LENGTH_READ_MAX = 2048

/**
 * Returns the host of an address for comparison: in lower case, without scheme, `www.`, port, path and trailing dot,
 * because clients write the same address in all these ways (rest-protocol §2). Empty: `text` has no host.
 */
export function normaliseHost(text: string): string {
  const host = text
    .slice(0, LENGTH_READ_MAX)
    .trim()
    .toLowerCase()
    .replace(/^(?:[a-z][a-z0-9+.-]*:)?\/\//, '')
    .replace(/[/\\?#].*$/s, '')
    .replace(/^.*@/s, '')
    .replace(/:\d*$/, '')
    .replace(/\.+$/, '')
    .replace(/^www\./, '')
    .trim()
  return /[^\0-\x7f]/.test(host) ? domainToASCII(host) : host
}

/**
 * Returns a store's address as it is stored: http or https (https by default), with port and path, without a trailing
 * slash. Null: not such an address, or one with credentials, a query, a fragment or a blank.
 */
export function readSecureUrl(text: string): string | null {
  const trimmed = text.trim()
  // URL parsers escape blanks and silently remove tabs and line breaks.
  if (/[\s\p{Cc}]/u.test(trimmed)) return null
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`)
  if (!url || !['http:', 'https:'].includes(url.protocol) || normaliseHost(url.host) === '') return null
  if (url.username !== '' || url.password !== '' || /[?#]/.test(trimmed)) return null
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
