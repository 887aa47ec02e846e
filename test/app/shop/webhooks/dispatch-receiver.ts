import { vi } from 'vitest'
import { openReceiver as openAnyReceiver, status } from '../../../support/receiver.ts'
import { ofTest } from '../../../support/shared.ts'

export type { Answer, Received as Arrival } from '../../../support/receiver.ts'
export { status }
export type Receiver = Awaited<ReturnType<typeof openReceiver>>

/** A webhook's address on this machine; closed when the test ends. Without `answer` it says 200. */
export async function openReceiver(answer = status(200)) {
  const receiver = await ofTest(openAnyReceiver(answer, '/hook?token=a%20b&x=1'))
  const arrivals = receiver.received
  return Object.assign(receiver, {
    arrivals,
    /** Resolves when so many have come since it was opened. */
    came: (count: number) => vi.waitUntil(() => arrivals.length >= count, { timeout: 20_000, interval: 5 }),
  })
}
