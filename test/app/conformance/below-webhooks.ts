import { expect, test } from 'vitest'
import { resumeType } from '../../../src/shop/webhooks/endpoints.ts'
import type { Method } from '../../support/store.ts'
import { dialects, inDialect, resultsIn, written } from './dialects.ts'
import { newWholeRecord } from './records.ts'
import type { Stage } from './stage.ts'

/**
 * What stands below a webhook, the feed of events and the log of calls: that each address answers in every dialect, and what it answers is
 * what the reference and the schema of the XML say. What it means is tried in test/app/http/rest.
 */
export function belowWebhooks(stage: () => Stage): void {
  test.each(dialects)('what stands below a webhook is there in $version and $format', async (dialect) => {
    const { home } = stage()
    const { id } = await newWholeRecord(stage())
    const ask = async (method: Method, path: string, status = 200, body?: string) => {
      const answer = await home.call(method, path, inDialect(dialect, body))
      expect([method, path, answer.statusCode]).toEqual([method, path, status])
      return answer
    }

    await ask('GET', '/Webhooks/Events')
    await ask('GET', '/Webhooks/Events/Count')
    await ask('GET', `/Webhooks/${id}/Secret`)
    await ask('POST', `/Webhooks/${id}/Secret`)
    const [test] = resultsIn(await ask('POST', `/Webhooks/${id}/Test`, 201), dialect, 201)
    await ask('GET', `/Webhooks/${id}/Deliveries`)
    await ask('GET', `/Webhooks/${id}/Deliveries/${test?.Value}`)
    await ask('POST', `/Webhooks/${id}/Resume`, 200, written(dialect, { CatchUp: true }, resumeType))
    await ask('POST', `/Webhooks/${id}/Deliveries/${test?.Value}/Redeliver`)
    await ask('GET', `/Webhooks/${id}/Status`)
    await addEvent(stage(), Number(test?.Value))
    await ask('GET', '/Events')
    await stage().server.services.callLog.flush()
    await ask('GET', '/Calls')
  })
}

/** The event of a test, as if it had happened. */
async function addEvent({ server, home }: Stage, deliveryId: number): Promise<void> {
  const { db } = server.database
  const { event } = await db.delivery.findUniqueOrThrow({ where: { id: deliveryId }, include: { event: true } })
  const { id: _id, messageId: _messageId, ...others } = event
  await db.event.create({ data: { ...others, sequence: deliveryId } })
  expect(others.storeId).toBe(home.store.id)
}
