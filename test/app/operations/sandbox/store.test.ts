import { expect, test } from 'vitest'
import type { Resource } from '../../../../src/engine/definition/resource.ts'
import { exportRecords } from '../../../../src/engine/transfer/export.ts'
import type { TransferLine } from '../../../../src/engine/transfer/import.ts'
import { checkDatabase } from '../../../../src/operations/installation/check-database.ts'
import { readRecords } from '../../../../src/operations/sandbox/records.ts'
import { resources } from '../../../../src/shop/registry.ts'
import { sharedServer } from '../../../support/store.ts'
import { openSandbox } from '../../http/reference/sandbox-store.ts'

/** In the store's time zone, by the test server's clock. */
const today = '2026-03-10'

const given = await readRecords(today)
const server = await sharedServer()
const store = await openSandbox(server)

test('a store takes every record of the sandbox in one transaction, and gives it back with the dates of its day', async () => {
  const kept = await exported()
  expect([...kept.values()].filter(({ service }) => service !== 'OrderStatus')).toHaveLength(given.length)
  for (const { service, record, private: hidden = {} } of given) {
    const line = kept.get(nameOf(service, record))
    expect(line?.record, nameOf(service, record)).toMatchObject(record)
    expect(line?.private ?? {}, nameOf(service, record)).toMatchObject(hidden)
  }
})

test.each(resources.map(({ service }) => service))(
  '%s answers with all that it has, and with one record',
  async (service) => {
    const expected = given.filter((line) => line.service === service).length || 12
    const count = await store.call('GET', `/${service}?countonly=1`)
    expect([count.statusCode, count.json()]).toEqual([200, { TotalCount: expected }])
    const one = await store.call('GET', `/${service}?limit=1`)
    expect([one.statusCode, one.json()]).toEqual([200, [expect.any(Object)]])
  },
)

test('nothing of it breaks a rule that `npm run check` knows: stocks and their movements, references, numbers, amounts', async () => {
  expect(await brokenRules()).toEqual([])
  expect(await server.database.db.stockMovement.count()).toBeGreaterThan(1500)
  expect(await server.database.db.stockMovement.count({ where: { stockAfter: { lt: 0 } } })).toBe(0)
})

test('an order that was partly returned gives back what is left when it is cancelled, and its stocks still add up', async () => {
  const [returned] = await server.database.db.rmaItem.findMany({
    where: { restockQuantity: { gt: 0 } },
    include: { rma: true },
    orderBy: { rmaId: 'asc' },
  })
  const orderId = Number(returned?.rma.orderId)
  const answer = await store.call('PUT', `/Orders/${orderId}`, { body: { OrderStatusID: 5 } })
  expect(answer.statusCode).toBe(200)
  const left = await server.database.db.stockMovement.groupBy({
    by: ['productId', 'optionCode'],
    where: { orderId },
    _sum: { quantity: true },
  })
  expect(left.map(({ _sum }) => Number(_sum.quantity))).toEqual(left.map(() => 0))
  expect(left.length).toBeGreaterThan(0)
  expect(await brokenRules()).toEqual([])
})

async function brokenRules(): Promise<unknown[]> {
  const broken: unknown[] = []
  for await (const { check, findings } of checkDatabase(server.database.url, 5)) {
    if (findings.length > 0) broken.push([check.name, ...findings])
  }
  return broken
}

async function exported(): Promise<Map<string, TransferLine>> {
  let text = ''
  await exportRecords(store.caller, resources, async (chunk) => {
    text += chunk
  })
  const lines = text
    .split('\n')
    .filter(Boolean)
    .map((line) => JSON.parse(line) as TransferLine)
  return new Map(lines.filter(({ record }) => record).map((line) => [nameOf(line.service, line.record), line]))
}

function nameOf(service: string, record: Record<string, unknown>): string {
  const { resultKey } = resources.find((resource) => resource.service === service) as Resource
  const { SKUInfo = {} } = record
  return `${service} ${{ ...record, ...(SKUInfo as object) }[resultKey]}`
}
