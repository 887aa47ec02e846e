import type { LightMyRequestResponse } from 'fastify'

/** Differ between any two answers: times, ids of requests, and what is left of a bucket. */
const others = [
  'date',
  'x-request-id',
  'x-ratelimit-remaining',
  'ratelimit',
  'content-length',
  'set-cookie',
  'retry-after',
  // A text for the log, which repeats the value as far as a header can; the body has it too.
  'x-error-reason',
]

/**
 * An answer as whoever sent the request can tell it from another one: what the request itself named is left out, because it may be
 * repeated.
 */
export function told({ statusCode, headers, body }: LightMyRequestResponse, named: readonly (number | string)[]) {
  const longestFirst = named.map(String).toSorted((a, b) => b.length - a.length)
  const without = (text: string) => longestFirst.reduce(withoutWord, text)
  return {
    status: statusCode,
    headers: Object.entries(headers)
      .filter(([name]) => !others.includes(name))
      .map(([name, value]) => `${name}: ${/^(link|location)$/.test(name) ? without(String(value)) : value}`)
      .toSorted(),
    body: without(body).replace(/name="(_csrf|OneTimeKey)" value="[^"]*"/g, ''),
  }
}

function withoutWord(text: string, word: string): string {
  const ways = new Set([word, encodeURIComponent(word), inHtml(word)])
  return [...ways].reduce(
    (rest, way) =>
      rest.replace(new RegExp(`(?<![\\w.-])${way.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}(?![\\w.-])`, 'g'), '{named}'),
    text,
  )
}

function inHtml(text: string): string {
  const entities: Readonly<Record<string, string>> = {
    '&': '&amp;',
    '<': '&lt;',
    '>': '&gt;',
    '"': '&quot;',
    "'": '&#39;',
  }
  return text.replace(/[&<>"']/g, (character) => entities[character] ?? '')
}
