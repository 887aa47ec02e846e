import type { IncomingHttpHeaders } from 'node:http'
import { contentTypeParameter } from './content-type.ts'
import { SoapFault } from './faults.ts'

/**
 * The body names the operation. What SOAPAction (1.1) or the action of Content-Type (1.2) says may be anything, or nothing, but
 * the name of another operation: old programs cannot be taught a better one. Throws SoapFault for such a contradiction.
 */
export function checkAction(
  { soapaction, 'content-type': contentType = '' }: IncomingHttpHeaders,
  operation: string,
  operations: Iterable<string>,
): void {
  const said = [...namesIn([soapaction].flat()[0] ?? ''), ...namesIn(contentTypeParameter(contentType, 'action'))]
  for (const other of operations) {
    if (other !== operation && said.includes(other)) {
      throw new SoapFault('Client', `SOAPAction names ${other}, and the Body ${operation}`)
    }
  }
}

/** Programs put a slash, two, a # or a colon between namespace and operation, and quotes around both, or not. */
function namesIn(header: string): string[] {
  return header.split(/[\s"'/#:;=]/)
}
