import type { Outbound } from '../outbound/outbound.ts'
import { XML_DECLARATION } from '../xml/text.ts'
import { rootElement, textElement } from './elements.ts'
import type { Xml } from './operation.ts'
import { ResultError } from './result-errors.ts'

interface Receiver {
  readonly url: string
  /** Whose call it is. */
  readonly storeId: number
}

/** Posts results to the addresses that calls gave. */
export interface Callbacks {
  /**
   * Posts what `work` results in, and gives the result that says where it went. Refuses (40) an address that can never be
   * posted to, and any while too many are being posted, before `work` begins, so that who hears of it may try again. There is
   * one try: what was not taken is refused (40) too, and what was done stays done (soap-cartapi 5).
   */
  post<Result extends { readonly xml: Xml }>(to: Receiver, work: () => Promise<Result>): Promise<Result>
}

const CONNECT_MS = 5_000
const TOTAL_MS = 10_000
const URL_LENGTH_MAX = 2_000
/** With the work whose results they are. Slow receivers must not take the places that notifications need. */
const UNDER_WAY_MAX = 100
/** Nor may one store's take those of the others. */
const OF_STORE_MAX = 20

export function createCallbacks(outbound: Pick<Outbound, 'send' | 'addressFault'>): Callbacks {
  /** By store; those of none are not kept. */
  const underWay = new Map<number, number>()

  function refuseHopeless({ url, storeId }: Receiver): void {
    if (url.length > URL_LENGTH_MAX) throw failed(`callBackURL is longer than ${URL_LENGTH_MAX} characters`)
    const fault = outbound.addressFault(url)
    if (fault !== null) throw failed(`callBackURL ${fault}`)
    const all = underWay.values().reduce((sum, count) => sum + count, 0)
    if (all >= UNDER_WAY_MAX || (underWay.get(storeId) ?? 0) >= OF_STORE_MAX) {
      throw failed('Too many answers are being posted; try again in a moment')
    }
  }

  function count(storeId: number, more: 1 | -1): void {
    const now = (underWay.get(storeId) ?? 0) + more
    if (now === 0) underWay.delete(storeId)
    else underWay.set(storeId, now)
  }

  async function post<Result extends { readonly xml: Xml }>(to: Receiver, work: () => Promise<Result>) {
    const { url, storeId } = to
    refuseHopeless(to)
    count(storeId, 1)
    try {
      const result = await work()
      const answer = await outbound.send({
        url,
        method: 'POST',
        headers: { 'content-type': 'text/xml; charset=utf-8', 'user-agent': 'store-platform' },
        body: [XML_DECLARATION, result.xml].flat().join(''),
        connectMs: CONNECT_MS,
        totalMs: TOTAL_MS,
        answerBytesMax: 0,
      })
      if (!answer.ok) throw failed(`Posting to callBackURL failed: ${answer.reason}`)
      if (answer.status > 299) throw failed(`callBackURL answered with ${answer.status}`)
      return { ...result, xml: rootElement('Response', textElement('Description', `XML Posted to: ${url}`)) }
    } finally {
      count(storeId, -1)
    }
  }

  return { post }
}

function failed(message: string): ResultError {
  return new ResultError('callbackFailed', message)
}
