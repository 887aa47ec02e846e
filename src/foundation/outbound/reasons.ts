/** A failure whose message is safe to show. */
export class OutboundFailure extends Error {
  override name = 'OutboundFailure'
}

/**
 * Returns a public message for a failed exchange with `host`. For an unknown error, it contains only the code. Null:
 * the request itself was invalid, which is a defect of the caller.
 */
export function reasonOf(error: unknown, host: string): string | null {
  if (error instanceof OutboundFailure) return error.message
  if (error instanceof Error && error.name === 'HTTPParserError') return 'The answer is not valid HTTP'
  const code = codeOf(error)
  if (code === 'UND_ERR_INVALID_ARG' || code === 'UND_ERR_NOT_SUPPORTED') return null
  if (Object.hasOwn(sentences, code)) return sentences[code]?.(host) ?? null
  if (code === 'EPROTO' || code.startsWith('ERR_SSL_')) return `${host} does not speak TLS correctly (${code})`
  // OpenSSL's codes of certificate errors, and Node's for a certificate of another host.
  if (/CERT|^UNABLE_TO_|_CA$|CRL/.test(code)) return `The certificate of ${host} is not trusted (${code})`
  return `The request to ${host} failed (${code})`
}

export function lookupFailure(error: unknown, host: string): OutboundFailure {
  const isUnknown = ['ENOTFOUND', 'ENODATA', 'EBADNAME'].includes(codeOf(error))
  return new OutboundFailure(isUnknown ? `${host} is not known to the DNS` : `No name server answered for ${host}`)
}

const closed = () => 'The connection was closed before the answer was complete'
const notReached = (host: string) => `${host} cannot be reached`
export const stopping = 'The server is stopping'

const sentences: Readonly<Record<string, (host: string) => string>> = {
  ECONNREFUSED: (host) => `${host} refused the connection`,
  EHOSTUNREACH: notReached,
  ENETUNREACH: notReached,
  ETIMEDOUT: notReached,
  UND_ERR_CONNECT_TIMEOUT: notReached,
  ECONNRESET: closed,
  EPIPE: closed,
  UND_ERR_SOCKET: closed,
  UND_ERR_RES_CONTENT_LENGTH_MISMATCH: closed,
  UND_ERR_HEADERS_OVERFLOW: () => 'The headers of the answer are too long',
  UND_ERR_DESTROYED: () => stopping,
  UND_ERR_CLOSED: () => stopping,
}

function codeOf(error: unknown): string {
  return String((error as NodeJS.ErrnoException | undefined)?.code ?? 'no code')
}
