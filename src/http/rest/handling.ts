import type { FastifyReply, FastifyRequest } from 'fastify'
import { oneOf, unknownName } from '../../engine/changing/ignored.ts'
import type { Operation, Query } from '../../engine/definition/endpoints.ts'
import { wrongParameter } from '../../engine/definition/filters.ts'
import { Handling } from '../../engine/definition/handling.ts'
import type { JsonSchema } from '../../engine/definition/json-schema.ts'
import { INT32_MAX } from '../../foundation/values/int32.ts'
import { type Candidate, candidateOf } from '../../foundation/values/nearest.ts'
import { preferenceIn, tellingOf } from '../../foundation/values/preferences.ts'
import type { Parameter } from '../server/json/openapi.ts'

// How a request is read: as its application is, unless it says otherwise (RFC 7240 §4.4).

/** The query parameters that an operation reads: their schemas by their names in small letters. */
export interface KnownParameters {
  readonly schemas: ReadonlyMap<string, JsonSchema>
  readonly candidates: readonly Candidate[]
}

export function knownParameters(parameters: readonly Pick<Parameter, 'name' | 'schema'>[]): KnownParameters {
  const schemas = new Map(parameters.map(({ name, schema }) => [name.toLowerCase(), schema]))
  return { schemas, candidates: [...schemas.keys()].map((name) => candidateOf(name)) }
}

/**
 * Decides how the request is read, and says so where it asked. Throws a 400 that names all unknown parameters of a strict
 * request, and pages that are none, unless it takes records: then what is wrong with those is told with them.
 */
export function handlingOf(
  request: FastifyRequest,
  reply: FastifyReply,
  { takes, query, known }: Pick<Operation, 'takes'> & { readonly query: Query; readonly known: KnownParameters },
): Handling {
  const preferred = preferenceIn(request.headers.prefer, 'handling')
  const isKnown = preferred === 'strict' || preferred === 'lenient'
  const tellsNobody = request.method !== 'GET' && 'tells' in tellingOf(request.headers.prefer)
  const applied = [...(isKnown ? [`handling=${preferred}`] : []), ...(tellsNobody ? ['notify=none'] : [])]
  if (applied.length > 0) reply.header('preference-applied', applied.join(', '))
  const isStrict = isKnown ? preferred === 'strict' : request.isOfNewApplication
  const handling = new Handling(isStrict)
  if (query.size > 0) noteParameters(handling, query, known)
  if (takes === undefined && handling.refusals.length > 0) throw oneOf(handling.refusals)
  return handling
}

function noteParameters(handling: Handling, query: Query, known: KnownParameters): void {
  const { isStrict } = handling
  for (const [name, given] of query) {
    const schema = known.schemas.get(name)
    if (schema === undefined && !isStrict) handling.ignore(name)
    if (name === '' || !isStrict) continue
    if (schema === undefined) {
      const nearest = handling.nearest(name, known.candidates)
      const what = 'a parameter of this address'
      handling.refuse(unknownName(name, { name, what, nearest, code: 'unknown-parameter' }))
    } else if (isBeyond(name, given, schema)) {
      const problem = `must be a whole number from 1 to ${schema.maximum ?? INT32_MAX}`
      handling.refuse(wrongParameter(name, given, problem, 'out-of-range'))
    }
  }
}

/** Whether a lenient request would get another page. What is no whole number is refused where it is read. */
function isBeyond(name: string, given: string, { maximum = INT32_MAX }: JsonSchema): boolean {
  const isPage = (name === 'limit' || name === 'offset') && /^[+-]?\d+$/.test(given.trim())
  return isPage && (Number(given) < 1 || Number(given) > Number(maximum))
}

const IGNORED_BYTES_MAX = 1_024

/** Tells the caller and the log of calls what was ignored: names alone, percent-encoded, of at most 1 kB. */
export function reportIgnored(request: FastifyRequest, reply: FastifyReply, ignored: readonly string[]): void {
  request.ignored = ignored
  let header = ''
  for (const name of ignored) {
    const longer = header + (header === '' ? '' : ', ') + encodeURIComponent(name)
    if (longer.length > IGNORED_BYTES_MAX) break
    header = longer
  }
  reply.header('x-ignored', header)
}
