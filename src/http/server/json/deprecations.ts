import { addressOf, type Deprecation } from '../../../access/applications/deprecations.ts'
import type { Response } from './openapi.ts'

/** Returns the headers of an answer to a call that uses it (RFC 9745, RFC 8594). */
export function deprecationHeaders(deprecation: Deprecation, publicUrl: string): Record<string, string> {
  return {
    deprecation: `@${deprecation.since.getTime() / 1_000}`,
    sunset: deprecation.sunset.toUTCString(),
    link: `<${publicUrl}${addressOf(deprecation)}>; rel="deprecation"`,
  }
}

/** Describes them, with those of an answer. `when`: for which calls they come. */
export function withDeprecation<Answer extends { readonly response: Response }>(answer: Answer, when: string): Answer {
  const header = (description: string, example: string) => ({
    description: `${description} ${when}`,
    schema: { type: 'string', examples: [example] },
  })
  const headers = {
    ...answer.response.headers,
    Deprecation: header(
      'Since when the way of the call is deprecated (RFC 9745), in seconds since 1970.',
      '@1796083200',
    ),
    Sunset: header('From when on it may stop (RFC 8594).', 'Sat, 01 Jan 2028 00:00:00 GMT'),
    Link: header('What to do instead: `rel="deprecation"`.', '</docs/changelog>; rel="deprecation"'),
  }
  return { ...answer, response: { ...answer.response, headers } }
}
