import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { setImmediate as immediate } from 'node:timers/promises'
import { Client } from 'undici'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { exportRecords } from '../../../../src/engine/transfer/export.ts'
import { importRecords } from '../../../../src/engine/transfer/import.ts'
import { numberLines } from '../../../../src/engine/transfer/lines.ts'
import { writeText } from '../../../../src/http/operator/transfer.ts'
import { transferredResources } from '../../../../src/shop/registry.ts'
import { exportOf, importInto, operator, productLine as product } from '../../../app/engine/transfer/fixture.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'

let shop: TestStore

const server = await sharedServer()
const baseUrl = await server.app.listen({ host: '127.0.0.1', port: 0 })
beforeEach(async () => {
  shop = await server.openStore()
})

test('the answer to an import begins before the body has ended', async () => {
  const { body, answer } = startImport()
  body.write(`${JSON.stringify(product(1))}\n`)
  const first = await answer
  expect(first.toString()).toBe('{"progress":{"lines":0,"stored":0}}\n')
  await body.end()
})

test('an import whose client goes away stores what is in hand and stops, and can be run again', async () => {
  const lines = Array.from({ length: 1_200 }, (_value, index) => product(index + 1, 2_000))
  const { body } = startImport()
  body.write(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
  body.write('{"service":"Products","record":{"SKUInfo":{"CatalogID":2000,')
  await vi.waitFor(async () => expect(await countOf('Products')).toBeGreaterThan(0), { timeout: 20_000 })
  body.destroy()
  await vi.waitFor(() => expect(server.log.join('')).toContain('the import ended with its client'), { timeout: 20_000 })
  const stored = await countOf('Products')
  expect(stored).toBeGreaterThan(0)
  expect((await shop.call('GET', '/Products/2000')).statusCode).toBe(404)

  const { counts } = await importInto(server, shop, lines)
  expect(counts).toEqual({ lines: 1_200, stored: 1_200, refused: 0, passed: 0 })
  expect(await countOf('Products')).toBe(1_200)
})

describe('on a transaction that the caller gives', () => {
  const onTransaction = (lines: object[], then: () => void = () => {}) =>
    server.database.db.$transaction(async (db) => {
      const counts = await importRecords({ ...shop.caller, db }, transferredResources, numberLines(lines), {
        refused: () => {},
      })
      then()
      return counts
    })

  test('an import is a part of it, with references that point forwards', async () => {
    const lines = [
      { ...product(1), record: { ...product(1).record, ManufacturerID: 5 } },
      { service: 'Manufacturers', record: { ManufacturerID: 5, ManufacturerName: 'M' } },
      { service: 'Orders', record: { OrderID: 4, OrderStatusID: 1, ShipmentList: [{}], OrderItemList: [{}] } },
    ]
    expect(await onTransaction(lines)).toEqual({ lines: 3, stored: 3, refused: 0, passed: 0 })
    expect(await countOf('Orders')).toBe(1)
  })

  test('nothing is stored when the transaction is given up', async () => {
    const giveUp = () => {
      throw new Error('given up')
    }
    await expect(onTransaction([product(1)], giveUp)).rejects.toThrow('given up')
    expect(await countOf('Products')).toBe(0)
  })

  test.each([
    {
      name: 'cannot be read',
      line: { service: 'Products', record: {} },
      message: /^Line 2: SKUInfo\.SKU is required|^Line 2: CatalogID/,
    },
    {
      name: 'cannot be stored',
      line: { service: 'Products', record: { SKUInfo: { CatalogID: 9, SKU: 's-1', Name: 'N' } } },
      message: 'Lines 1 to 2: SKUInfo.SKU is already used by another Product',
    },
    {
      name: 'refers to nothing',
      line: { ...product(9), record: { ...product(9).record, ManufacturerID: 7 } },
      message: 'Line 2: ManufacturerID 7 refers to a record that does not exist',
    },
  ])('a line that $name ends it with an error that says why', async ({ line, message }) => {
    await expect(onTransaction([product(1), line])).rejects.toThrow(message)
    expect(await countOf('Products')).toBe(0)
  })
})

describe('an export', () => {
  test('gives the store as it was when it began', async () => {
    await importInto(
      server,
      shop,
      Array.from({ length: 250 }, (_value, index) => product(index + 1)),
    )
    const expected = await exportOf(server, shop)
    const written: string[] = []
    await exportRecords(shop.caller, transferredResources, async (lines) => {
      if (written.length === 0) await importInto(server, shop, [product(240, 50), product(300)])
      written.push(lines)
    })
    expect(written.join('')).toBe(expected)
    expect(await exportOf(server, shop)).not.toBe(expected)
  })

  test('whose client goes away leaves no transaction behind, and no end line', async () => {
    await importInto(
      server,
      shop,
      Array.from({ length: 3_000 }, (_value, index) => product(index + 1, 5_000)),
    )
    const client = new Client(baseUrl)
    const answer = await client.request({
      method: 'GET',
      path: `/admin/stores/${shop.store.id}/export`,
      headers: operator(server),
    })
    await once(answer.body, 'readable')
    answer.body.on('error', () => {}).destroy()
    await vi.waitFor(() => expect(server.log.join('')).toContain('the export ended with its client'), {
      timeout: 20_000,
    })
    const [open] = await server.database.db.$queryRawUnsafe<{ count: number }[]>(
      `SELECT count(*)::int AS "count" FROM pg_stat_activity
       WHERE datname = current_database() AND state LIKE 'idle in transaction%'`,
    )
    expect(open?.count).toBe(0)
    await client.close()
  })
})

describe('what is written to a client', () => {
  test('waits for it to read', async () => {
    const stream = new PassThrough({ highWaterMark: 4 })
    await writeText(stream, 'abc')
    const waiting = writeText(stream, 'defg')
    let isWritten = false
    waiting.then(() => {
      isWritten = true
    })
    for (let turn = 0; turn < 10; turn++) await immediate()
    expect(isWritten).toBe(false)
    stream.resume()
    await waiting
  })

  test('waits no longer, and is refused from then on, when it goes away', async () => {
    const stream = new PassThrough({ highWaterMark: 4 })
    const waiting = writeText(stream, 'abcdefg')
    stream.destroy()
    await waiting
    await expect(writeText(stream, 'more')).rejects.toThrow('The stream is closed')
  })
})

/** An import that is still being sent. `answer` resolves with the first bytes of the report. */
function startImport() {
  const controller = new AbortController()
  const { readable, writable } = new TransformStream<Uint8Array, Uint8Array>()
  const writer = writable.getWriter()
  const response = fetch(`${baseUrl}/admin/stores/${shop.store.id}/import`, {
    method: 'POST',
    headers: { ...operator(server), 'content-type': 'application/x-ndjson' },
    body: readable,
    duplex: 'half',
    signal: controller.signal,
  } as RequestInit)
  const answer = response.then(async ({ body }) => Buffer.from((await body?.getReader().read())?.value ?? []))
  answer.catch(() => {})
  return {
    answer,
    body: {
      write: (text: string) => void writer.write(Buffer.from(text)).catch(() => {}),
      end: () => writer.close(),
      destroy: () => controller.abort(),
    },
  }
}

async function countOf(service: string): Promise<number> {
  return (await shop.call('GET', `/${service}?countonly=1`)).json().TotalCount
}
