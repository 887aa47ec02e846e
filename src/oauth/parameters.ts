import { OAuthRefusal } from './refusal.ts'

/** What a query or a form holds. Names match without regard to case (rest-protocol 9.2). */
export interface Parameters {
  /**
   * Null: absent, or without a value, which is the same (RFC 6749 3.1). Refuses a repeated parameter, and one that is not
   * validly percent-encoded.
   */
  value(name: string): string | null
  /** As it was sent, percent-encoded or not; null: absent. Refuses a repeated parameter. */
  raw(name: string): string | null
}

interface ReadParameters {
  /** A parameter may be repeated with the same value, and counts once. One without a value is absent, repeated or not. */
  readonly areRepeatsTaken?: boolean
}

/** Of `a=1&b=2`, whatever else it holds. */
export function readParameters(text: string, { areRepeatsTaken = false }: ReadParameters = {}): Parameters {
  const sent = new Map<string, string[]>()
  for (const [name, raw] of text.split('&').map(partsOf)) {
    const known = sent.get(name)
    if (known) known.push(raw)
    else sent.set(name, [raw])
  }
  const raw = (name: string): string | null => {
    const all = (sent.get(name) ?? []).filter((one) => one !== '' || !areRepeatsTaken)
    const counted = areRepeatsTaken ? new Set(all.map((one) => decode(one) ?? one)).size : all.length
    const how = areRepeatsTaken ? ' with different values' : ''
    if (counted > 1) throw new OAuthRefusal('invalid_request', `${name} is sent more than once${how}`)
    return all[0] ?? null
  }
  return { raw, value: (name) => decoded(name, raw(name)) }
}

function partsOf(parameter: string): [name: string, raw: string] {
  const equals = parameter.indexOf('=')
  if (equals === -1) return [nameOf(parameter), '']
  return [nameOf(parameter.slice(0, equals)), parameter.slice(equals + 1)]
}

/** One that cannot be read is none that anybody asks for. */
function nameOf(encoded: string): string {
  return (decode(encoded) ?? '').toLowerCase()
}

function decoded(name: string, raw: string | null): string | null {
  if (raw === null || raw === '') return null
  const value = decode(raw)
  if (value === null) throw new OAuthRefusal('invalid_request', `${name} is not validly percent-encoded`)
  return value
}

/** `application/x-www-form-urlencoded`; null: it is not. */
export function decode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** The first where it has the parameter, else the second. */
export function firstOf(first: Parameters, second: Parameters): Parameters {
  return {
    value: (name) => first.value(name) ?? second.value(name),
    raw: (name) => first.raw(name) ?? second.raw(name),
  }
}

/** Refuses an absent one. */
export function required(parameters: Parameters, name: string): string {
  const value = parameters.value(name)
  if (value === null) throw new OAuthRefusal('invalid_request', `${name} is missing`)
  return value
}

/** What follows the `?` of an address. */
export function queryOf({ url }: { readonly url: string }): string {
  const start = url.indexOf('?')
  return start === -1 ? '' : url.slice(start + 1).replace(/#.*$/s, '')
}
