import { type Header, type Ref, ref, retryAfter } from '../../server/openapi.ts'

const number = { type: 'integer', minimum: 0 }

export const headers = {
  'X-Request-Id': {
    description: 'Names the request; the log has it. A short one that was sent is kept.',
    required: true,
    schema: { type: 'string', pattern: '^[A-Za-z0-9._-]{1,64}$' },
  },
  'X-RateLimit-Limit': {
    description: 'How many requests the bucket of application and store holds.',
    required: true,
    schema: number,
  },
  'X-RateLimit-Remaining': {
    description: 'How many more may come at once.',
    required: true,
    schema: number,
  },
  'RateLimit-Policy': {
    description: 'The same bucket: `q` requests, empty after `w` seconds without any.',
    required: true,
    schema: { type: 'string', pattern: String.raw`^"default";q=\d+;w=\d+$` },
  },
  RateLimit: {
    description: 'The same state: `r` requests remain; after `t` seconds there are more.',
    required: true,
    schema: { type: 'string', pattern: String.raw`^"default";r=\d+;t=\d+$` },
  },
  ...retryAfter,
  'WWW-Authenticate': {
    description:
      'Where an Authorization header, or no credentials at all, were sent; with `error` for a Bearer token that was refused, or whose application lacks the privilege.',
    schema: {
      type: 'string',
      enum: ['Bearer', 'Bearer error="invalid_token"', 'Bearer error="insufficient_scope"'],
    },
  },
  Allow: {
    description: 'The methods that the address takes.',
    required: true,
    schema: { type: 'string' },
  },
  ETag: {
    description: 'Of this representation of the record, compressed or not, strong.',
    required: true,
    schema: { type: 'string', pattern: '^"[^"]+"$' },
  },
  Link: {
    description: 'The address of the next page, by its cursor; absent: this is the last page.',
    schema: { type: 'string', pattern: '^<[^>]+>; rel="next"$' },
  },
  'X-Total-Count': {
    description: 'How many records match in all, where `Prefer: count=exact` asked for it.',
    schema: number,
  },
  'Preference-Applied': {
    description: 'With X-Total-Count.',
    schema: { type: 'string', const: 'count=exact' },
  },
  'Idempotency-Replayed': {
    description: 'This is the stored answer of the first request with the Idempotency-Key.',
    schema: { type: 'string', const: 'true' },
  },
} satisfies Readonly<Record<string, Header>>

export type HeaderName = keyof typeof headers

/** Headers of every answer to a request counted in the bucket. */
export const bucketHeaders: readonly HeaderName[] = [
  'X-RateLimit-Limit',
  'X-RateLimit-Remaining',
  'RateLimit-Policy',
  'RateLimit',
]

export function headerRefs(names: readonly HeaderName[]): Readonly<Record<string, Ref>> {
  return Object.fromEntries(names.map((name) => [name, ref('headers', name)]))
}
