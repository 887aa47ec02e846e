import { domainToASCII } from 'node:url'

/** Strangers send these headers: what is longer than any address costs no more than one. */
const LENGTH_READ_MAX = 2048

/**
 * The part of a store's address that is compared: the host in lower case, without scheme, `www.`, port, path and
 * trailing dot (rest-protocol §2: clients write the same address in all these ways). Empty: there is no host in `text`.
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
 * A store's address as it is kept: http or https (https where `text` has no scheme), no trailing slash; a port and a
 * path stay. Null: not such an address, or one with credentials, query, fragment or a blank inside.
 */
export function readSecureUrl(text: string): string | null {
  const trimmed = text.trim()
  // Parsers escape a blank, and leave out tabs and line ends without a word.
  if (/[\s\p{Cc}]/u.test(trimmed)) return null
  const url = URL.parse(/^[a-z][a-z0-9+.-]*:\/\//i.test(trimmed) ? trimmed : `https://${trimmed}`)
  if (!url || !['http:', 'https:'].includes(url.protocol) || normaliseHost(url.host) === '') return null
  if (url.username !== '' || url.password !== '' || /[?#]/.test(trimmed)) return null
  return `${url.origin}${url.pathname}`.replace(/\/+$/, '')
}
