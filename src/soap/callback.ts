import type { Outbound } from '../outbound.ts'
import { XML_DECLARATION } from '../xml/text.ts'
import { rootElement, textElement } from './elements.ts'
import { ResultError } from './result-errors.ts'

/** Posts a result to the address that a call gave. */
export interface Callbacks {
  /** Refuses (40) what can never be posted to; before anything is done, so that who hears of it may try again. */
  check(url: string): void
  /** One try. The caller's result says where it went. Refuses (40) what was not taken; what was done stays done (soap-cartapi 5). */
  post(url: string, result: string): Promise<string>
}

const CONNECT_MS = 5_000
const TOTAL_MS = 10_000
const URL_LENGTH_MAX = 2_000
/** Slow receivers must not take the places that notifications need. */
const UNDER_WAY_MAX = 100

export function createCallbacks(outbound: Pick<Outbound, 'send' | 'addressFault'>): Callbacks {
  let underWay = 0

  function check(url: string): void {
    if (url.length > URL_LENGTH_MAX) throw failed(`callBackURL is longer than ${URL_LENGTH_MAX} characters`)
    const fault = outbound.addressFault(url)
    if (fault !== null) throw failed(`callBackURL ${fault}`)
    if (underWay >= UNDER_WAY_MAX) throw failed('Too many answers are being posted; try again in a moment')
  }

  async function post(url: string, result: string): Promise<string> {
    underWay += 1
    try {
      const answer = await outbound.send({
        url,
        method: 'POST',
        headers: { 'content-type': 'text/xml; charset=utf-8', 'user-agent': 'store-platform' },
        body: XML_DECLARATION + result,
        connectMs: CONNECT_MS,
        totalMs: TOTAL_MS,
        answerBytesMax: 0,
      })
      if (!answer.ok) throw failed(`Posting to callBackURL failed: ${answer.reason}`)
      if (answer.status < 200 || answer.status > 299) throw failed(`callBackURL answered with ${answer.status}`)
    } finally {
      underWay -= 1
    }
    return rootElement('Response', textElement('Description', `XML Posted to: ${url}`))
  }

  return { check, post }
}

function failed(message: string): ResultError {
  return new ResultError('callbackFailed', message)
}
