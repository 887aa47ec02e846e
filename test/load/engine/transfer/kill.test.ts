import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStore } from '../../../../src/access/people/create-store.ts'
import { callServer, type Server } from '../../../../src/cli/server.ts'
import { readLines } from '../../../../src/engine/transfer/lines.ts'
import { storeInput } from '../../../support/access.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { importLines } from '../../../support/import.ts'
import { servicesOn } from '../../../support/services.ts'
import { shared } from '../../../support/shared.ts'
import { type ServerProcess, serverProcess } from '../../shop/webhooks/server-process.ts'

const ORDERS = 3_000
const ITEMS = 8

const database = await shared(cloneDatabase())
let server: Server
let running: ServerProcess

beforeAll(async () => {
  const services = servicesOn(database.db)
  const { id } = await createStore(services, storeInput())
  running = await serverProcess(database.url)
  server = { baseUrl: running.baseUrl, operatorKey: services.operatorKey, storeId: id }
})
afterAll(() => running?.kill())

test('an import that kill -9 ends is complete, with nothing doubled and nothing partial, after it is run again', async () => {
  await running.start()
  await importUntilStored()
  await running.kill()

  const left = await counts()
  expect(left.orders).toBeGreaterThan(0)
  expect(left.orders).toBeLessThan(ORDERS)
  expect([left.items, left.shipments]).toEqual([left.orders * ITEMS, left.orders])

  await running.start()
  const { counts: done, refused } = await importLines(server, orders())
  expect(refused).toEqual([])
  expect(done).toEqual({ lines: ORDERS, stored: ORDERS, refused: 0, passed: 0 })
  expect(await counts()).toEqual({ orders: ORDERS, items: ORDERS * ITEMS, shipments: ORDERS })
})

/** Sends all lines but the last, and waits until some are stored: the import cannot have ended when this returns. */
async function importUntilStored(): Promise<void> {
  const body = new PassThrough()
  const sent = send(body)
  const report = await callServer(server, `/admin/stores/${server.storeId}/import`, {
    method: 'POST',
    headers: { 'content-type': 'application/x-ndjson' },
    body,
  })
  const stored = firstStored(report)
  await Promise.race([stored, sent.then(() => stored)])
  // Both break with the server.
  body.on('error', () => {})
  report.on('error', () => {})
}

async function send(body: PassThrough): Promise<void> {
  for (const order of orders().take(ORDERS - 1)) {
    if (!body.write(`${JSON.stringify(order)}\n`)) await once(body, 'drain')
  }
}

async function firstStored(report: AsyncIterable<Uint8Array>): Promise<void> {
  for await (const { content } of readLines(report)) {
    if ((content as { progress?: { stored: number } }).progress?.stored) return
  }
  throw new Error('The report ended')
}

function* orders() {
  for (let id = 1; id <= ORDERS; id++) {
    yield {
      service: 'Orders',
      record: {
        OrderID: id,
        OrderStatusID: 4,
        ShipmentList: [{ ShipmentID: 0 }],
        OrderItemList: Array.from({ length: ITEMS }, (_value, index) => ({ ItemID: `item ${index}`, ItemQuantity: 1 })),
      },
    }
  }
}

async function counts() {
  const where = { storeId: server.storeId }
  const { db } = database
  return {
    orders: await db.order.count({ where }),
    items: await db.orderItem.count({ where }),
    shipments: await db.orderShipment.count({ where }),
  }
}
