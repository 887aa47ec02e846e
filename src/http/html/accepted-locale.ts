import { Negotiator } from '@fastify/accept-negotiator'
import { LRUCache } from 'lru-cache'
import { type Locale, localeTags } from '../../foundation/texts/language.ts'

/** The locales by what browsers ask for: a language alone means its first one. */
const byTag: ReadonlyMap<string, Locale> = new Map([
  ...localeTags.map((tag) => [tag, tag] as const),
  ['en', 'en-US'],
  ['de', 'de-DE'],
])

const negotiator = new Negotiator({ supportedValues: [...byTag.keys()], cache: new LRUCache({ max: 1000 }) })

/**
 * Returns the locale that `Accept-Language` prefers (RFC 9110 §12.5.4); American English if it asks for none of them. A region that there
 * is none for counts as its language (RFC 4647 §3.4).
 */
export function acceptedLocale(header = ''): Locale {
  const asked = header.replace(/\b([a-z]{2,3})-[\w-]+([^,]*)/gi, '$&,$1$2')
  return byTag.get(negotiator.negotiate(asked) ?? '') ?? 'en-US'
}
