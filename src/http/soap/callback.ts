import type { Outbound } from '../../foundation/outbound/outbound.ts'
import { XML_DECLARATION } from '../../foundation/xml/text.ts'
import { ResultError, type SoapAnswer, writeResult } from './result.ts'

const CONNECT_MS = 5_000
const TOTAL_MS = 10_000
const URL_LENGTH_MAX = 2_000
/** Including the work whose results are posted. Slow receivers must not take the slots that notifications need. */
const POSTS_MAX = 100
/** Nor may one store take the slots of the others. */
const POSTS_OF_STORE_MAX = 20

/**
 * Returns the function that posts answers to the addresses that calls name. It posts the answer of `work` to `url`, once, and
 * returns the answer that says so. Refuses (40) a wrong address, or too many posts at the same time, before `work` begins, so
 * that the caller may try again. A failed post is refused (40) too, and what `work` did stays done (soap-cartapi §5).
 */
export function createPostBack(outbound: Pick<Outbound, 'send' | 'addressFault'>) {
  /** The store of each post under way. */
  const posts: number[] = []

  return async ({ url, storeId }: { url: string; storeId: number }, work: () => Promise<SoapAnswer>) => {
    if (url.length > URL_LENGTH_MAX) throw failed(`callBackURL is longer than ${URL_LENGTH_MAX} characters`)
    const fault = outbound.addressFault(url)
    if (fault !== null) throw failed(`callBackURL ${fault}`)
    const ofStore = posts.filter((each) => each === storeId)
    if (posts.length >= POSTS_MAX || ofStore.length >= POSTS_OF_STORE_MAX) {
      throw failed('Too many answers are being posted; try again in a moment')
    }
    posts.push(storeId)
    try {
      const done = await work()
      const answer = await outbound.send({
        url,
        method: 'POST',
        headers: { 'content-type': 'text/xml; charset=utf-8', 'user-agent': 'store-platform' },
        body: [XML_DECLARATION, done.xml].flat().join(''),
        connectMs: CONNECT_MS,
        totalMs: TOTAL_MS,
        answerBytesMax: 0,
      })
      if (!answer.ok) throw failed(`Posting to callBackURL failed: ${answer.reason}`)
      if (answer.status > 299) throw failed(`callBackURL answered with ${answer.status}`)
      return { ...done, xml: writeResult('Response', { Description: `XML Posted to: ${url}` }) }
    } finally {
      posts.splice(posts.indexOf(storeId), 1)
    }
  }
}

function failed(message: string): ResultError {
  return new ResultError('callbackFailed', message)
}
