import { readRange } from '../server/json/problem.ts'

export type Format = 'json' | 'xml'

const mediaTypes: Readonly<Record<Format, readonly string[]>> = {
  json: ['application/json', 'text/json'],
  xml: ['application/xml', 'text/xml'],
}

/**
 * The format that `Accept` prefers; at equal quality, the one that a more specific range names. JSON for a tie, without a
 * preference, and where neither is accepted (rest-protocol §2).
 */
export function acceptedFormat(accept: string | undefined): Format {
  // A wildcard alone prefers neither.
  if (accept === undefined || !/json|xml/i.test(accept)) return 'json'
  const ranges = accept.toLowerCase().split(',').map(readRange)
  const [json, xml] = [preference(ranges, 'json'), preference(ranges, 'xml')]
  const isNearer = xml.quality === json.quality && xml.quality > 0 && xml.distance < json.distance
  return xml.quality > json.quality || isNearer ? 'xml' : 'json'
}

/**
 * The quality of the most specific ranges that match the format (RFC 9110 §12.5.1). `distance` 0: they name a type of the format;
 * 1: their subtype is a wildcard; 2: both parts are.
 */
function preference(ranges: readonly ReturnType<typeof readRange>[], format: Format) {
  const byDistance = [mediaTypes[format], ['application/*', 'text/*'], ['*/*']].map((names) =>
    ranges.filter(({ type }) => names.includes(type)).map((range) => range.quality),
  )
  const distance = byDistance.findIndex((qualities) => qualities.length > 0)
  return { distance, quality: Math.max(0, ...(byDistance[distance] ?? [])) }
}

/** The format of a body by its Content-Type: one of the four types, or a type built on JSON or XML. Null for any other. */
export function bodyFormat(mediaType: string): Format | null {
  if (mediaTypes.json.includes(mediaType) || mediaType.endsWith('+json')) return 'json'
  if (mediaTypes.xml.includes(mediaType) || mediaType.endsWith('+xml')) return 'xml'
  return null
}
