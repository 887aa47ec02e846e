import type { IncomingHttpHeaders } from 'node:http'
import { shown } from '../xml/read.ts'
import { SoapFault } from './faults.ts'

/**
 * The body names the operation. What SOAPAction (1.1) or the action of Content-Type (1.2) says may be left out or empty, and
 * quoted or not; in whatever namespace, it must not name another operation. Throws SoapFault for a contradiction.
 */
export function checkAction(
  { soapaction, 'content-type': contentType = '' }: IncomingHttpHeaders,
  operation: string,
): void {
  const [, quoted, bare] = /;\s*action\s*=\s*(?:"([^"]*)"|([^;\s]*))/i.exec(contentType) ?? []
  for (const given of [[soapaction].flat()[0], quoted ?? bare]) {
    const action = (given ?? '').replace(/^[\s"']+|[\s"']+$/g, '')
    // After the namespace; some programs put a # or a second slash between.
    const named = action.slice(Math.max(action.lastIndexOf('/'), action.lastIndexOf('#')) + 1)
    if (named !== '' && named !== operation) {
      throw new SoapFault('Client', `SOAPAction names ${shown(named)}, and the Body ${operation}`)
    }
  }
}
