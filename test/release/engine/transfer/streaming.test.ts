import { setImmediate as immediate } from 'node:timers/promises'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { exportRecords } from '../../../../src/engine/transfer/export.ts'
import { importRecords } from '../../../../src/engine/transfer/import.ts'
import { type NumberedLine, numberLines, readLines } from '../../../../src/engine/transfer/lines.ts'
import { transferredResources } from '../../../../src/shop/registry.ts'
import { importInto, linesOf, productLine as product } from '../../../app/engine/transfer/fixture.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'

let shop: TestStore

const server = await sharedServer()
beforeEach(async () => {
  shop = await server.openStore()
})

describe('an import holds a bounded part of its file', () => {
  test('bytes are read no further ahead than two batches and what the streams hold', async () => {
    const line = `${JSON.stringify(product(1, 10_000))}\n`
    const total = 6_000
    let given = 0
    let furthest = 0
    async function* chunks() {
      for (given = 1; given <= total; given++)
        yield Buffer.from(line.replace('"CatalogID":1', `"CatalogID":${given}`).replace('S-1"', `S-${given}"`))
    }
    await importRecords(shop.caller, transferredResources, readLines(chunks()), {
      refused: () => {},
      progress: ({ stored }) => {
        furthest = Math.max(furthest, (given - stored) * line.length)
      },
    })
    expect(given * line.length).toBeGreaterThan(60_000_000)
    expect(furthest).toBeLessThanOrEqual(2 * 1024 * 1024 + 2 * line.length)
    expect(await countOf('Products')).toBe(total)
  })

  test('lines that wait for others are not kept in memory', async () => {
    const waiting = 2_000
    function* lines() {
      for (let id = 1; id <= waiting; id++) {
        yield { ...product(id, 10), record: { ...product(id, 10).record, ManufacturerID: 5 } }
      }
      yield { service: 'Manufacturers', record: { ManufacturerID: 5, ManufacturerName: 'Last' } }
    }
    const stored: number[] = []
    const counts = await importRecords(shop.caller, transferredResources, numberLines(lines()), {
      refused: () => {},
      progress: (state) => {
        stored.push(state.stored)
      },
    })
    expect(counts.stored).toBe(waiting + 1)
    expect(stored.filter((count) => count === 0).length).toBeGreaterThan(2)
  })

  test('a line that is too long is not kept while it goes on', async () => {
    const megabyte = 1024 * 1024
    setFlagsFromString('--expose-gc')
    const collectGarbage = runInNewContext('gc') as () => void
    let keptMost = 0
    async function* chunks() {
      const before = process.memoryUsage().arrayBuffers
      for (let count = 1; count <= 600; count++) {
        yield Buffer.alloc(megabyte, 'x')
        if (count % 50 === 0) collectGarbage()
        keptMost = Math.max(keptMost, process.memoryUsage().arrayBuffers - before)
      }
    }
    const { counts, refused } = await importLinesOf(readLines(chunks()))
    expect(counts.refused).toBe(1)
    expect(refused).toEqual(['The line is longer than 10485760 bytes'])
    expect(keptMost).toBeLessThan(200 * megabyte)
  })
})

test('an export reads no further than its reader takes', async () => {
  await importInto(
    server,
    shop,
    Array.from({ length: 450 }, (_value, index) => product(index + 1)),
  )
  const written: string[] = []
  const { promise: gate, resolve: open } = Promise.withResolvers<void>()
  const finished = exportRecords(shop.caller, transferredResources, async (lines) => {
    written.push(lines)
    await gate
  })
  await vi.waitFor(() => expect(written).toHaveLength(1))
  for (let turn = 0; turn < 50; turn++) await immediate()
  expect(written).toHaveLength(1)
  open()
  await finished
  expect(linesOf(written.join(''))).toHaveLength(450 + 12 + 12 + 6 + 1)
})

async function importLinesOf(lines: AsyncIterable<NumberedLine>) {
  const refused: string[] = []
  const counts = await importRecords(shop.caller, transferredResources, lines, {
    refused: ({ message }) => {
      refused.push(message)
    },
  })
  return { counts, refused }
}

async function countOf(service: string): Promise<number> {
  return (await shop.call('GET', `/${service}?countonly=1`)).json().TotalCount
}
