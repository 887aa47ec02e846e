import { type IncomingMessage, METHODS } from 'node:http'

const methods = new Set(METHODS)
/** The target that proxies are sent, and that every server must accept (RFC 9112 §3.2.2). */
const ABSOLUTE = /^https?:\/\/[^/?#]+(.*)$/is

/**
 * Prepares a request line for the router. Returns the target as a path with query; one of another form (`*`, `ftp://…`) becomes
 * a path that nobody serves. Changes the method if it is one of RTSP, which Node's parser accepts too: the router has no
 * routes for it, takes that for its own defect, and would log all routes.
 */
export function routableTarget(request: IncomingMessage): string {
  if (!methods.has(request.method ?? '')) request.method = 'SOURCE'
  const { url = '' } = request
  if (url.startsWith('/')) return url
  const [, path = url] = ABSOLUTE.exec(url) ?? []
  return path.startsWith('/') ? path : `/${path}`
}
