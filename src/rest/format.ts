export type Format = 'json' | 'xml'

const mediaTypes: Readonly<Record<Format, readonly string[]>> = {
  json: ['application/json', 'text/json'],
  xml: ['application/xml', 'text/xml'],
}

/** The format that `Accept` prefers; JSON for a tie, for no preference and where neither is accepted (rest-protocol 2). */
export function acceptedFormat(accept: string | undefined): Format {
  if (accept === undefined) return 'json'
  const ranges = accept.toLowerCase().split(',').map(readRange)
  return quality(ranges, 'xml') > quality(ranges, 'json') ? 'xml' : 'json'
}

/** Whether refusals are wanted as problem details (RFC 9457): by that name alone, since old clients accept anything. */
export function acceptsProblem(accept: string | undefined): boolean {
  const ranges = accept?.toLowerCase().split(',').map(readRange) ?? []
  return ranges.some(({ type, quality }) => type === PROBLEM_TYPE && quality > 0)
}

export const PROBLEM_TYPE = 'application/problem+json'

interface Range {
  readonly type: string
  readonly quality: number
}

function readRange(text: string): Range {
  const [type = '', ...parameters] = text.split(';').map((part) => part.trim())
  const given = parameters.find((parameter) => parameter.startsWith('q='))
  const quality = given === undefined ? 1 : Number(given.slice(2))
  return { type, quality: quality >= 0 && quality <= 1 ? quality : 0 }
}

/** A range that names one of the types counts before one with a wildcard. */
function quality(ranges: readonly Range[], format: Format): number {
  const types = mediaTypes[format]
  for (const names of [types, ['application/*', 'text/*'], ['*/*']]) {
    const qualities = ranges.filter(({ type }) => names.includes(type)).map((range) => range.quality)
    if (qualities.length > 0) return Math.max(...qualities)
  }
  return 0
}

/** What a Content-Type says of a body: one of the four types, or a type that is built on JSON or XML; null: another. */
export function bodyFormat(mediaType: string): Format | null {
  if (mediaTypes.json.includes(mediaType) || mediaType.endsWith('+json')) return 'json'
  if (mediaTypes.xml.includes(mediaType) || mediaType.endsWith('+xml')) return 'xml'
  return null
}
