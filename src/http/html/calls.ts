import type { LoggedCall } from '../../access/applications/calls/call-log.ts'

/** Calls for the template `calls.eta`: with the body in lines, and the names that were passed over in a text. */
export function callsShown(calls: readonly LoggedCall[]) {
  return calls.map(({ ignored, body, ...call }) => {
    return { ...call, ignored: ignored.join(', '), body: body === null ? null : inLines(body) }
  })
}

/** A body that was cut is no JSON. */
function inLines(body: string): string {
  try {
    return JSON.stringify(JSON.parse(body), null, 2)
  } catch {
    return body
  }
}
