import { OAuthRefusal } from './refusal.ts'

interface ParameterOptions {
  /** A parameter may be repeated with the same value, and counts once. One without a value is absent, repeated or not. */
  readonly areRepeatsTaken?: boolean
  /** Has the parameters that are absent here. */
  readonly fallback?: Parameters
}

/** The parameters of a query or a form. Names match without regard to case (rest-protocol §9.2). */
export class Parameters {
  readonly #sent: Map<string, { readonly raw: string }[]>
  readonly #options: ParameterOptions

  constructor(text: string, options: ParameterOptions = {}) {
    this.#sent = Map.groupBy(text.split('&').map(partsOf), ({ name }) => name)
    this.#options = options
  }

  /** The value as it was sent, percent-encoded or not; null: absent. Refuses a repeated parameter. */
  raw(name: string): string | null {
    const { areRepeatsTaken = false } = this.#options
    const all = (this.#sent.get(name) ?? []).map(({ raw }) => raw).filter((raw) => raw !== '' || !areRepeatsTaken)
    const counted = areRepeatsTaken ? new Set(all.map((raw) => decode(raw) ?? raw)).size : all.length
    const how = areRepeatsTaken ? ' with different values' : ''
    if (counted > 1) throw new OAuthRefusal('invalid_request', `${name} is sent more than once${how}`)
    return all[0] ?? null
  }

  /** Null: absent or without a value (RFC 6749 §3.1). Refuses a repeated parameter, and invalid percent-encoding. */
  value(name: string): string | null {
    const raw = this.raw(name) ?? ''
    const value = decode(raw)
    if (value === null) throw new OAuthRefusal('invalid_request', `${name} is not validly percent-encoded`)
    return value === '' ? (this.#options.fallback?.value(name) ?? null) : value
  }

  required(name: string): string {
    const value = this.value(name)
    if (value === null) throw new OAuthRefusal('invalid_request', `${name} is missing`)
    return value
  }
}

/** Nobody asks for a name that cannot be decoded. */
function partsOf(parameter: string): { name: string; raw: string } {
  const [, name = '', raw = ''] = /^([^=]*)=?(.*)$/s.exec(parameter) ?? []
  return { name: (decode(name) ?? '').toLowerCase(), raw }
}

/** `application/x-www-form-urlencoded`; null: it is not. */
export function decode(encoded: string): string | null {
  try {
    return decodeURIComponent(encoded.replaceAll('+', ' '))
  } catch {
    return null
  }
}

/** The part of an address after the `?`. */
export function queryOf({ url }: { readonly url: string }): string {
  const [, query = ''] = /\?([^#]*)/.exec(url) ?? []
  return query
}
