import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { expect, test, vi } from 'vitest'
import { s3Files } from '../../../../src/foundation/files/s3.ts'
import { pictureSweep } from '../../../../src/shop/pictures/sweep.ts'
import { filled } from '../../../support/pictures.ts'
import { serverKeys } from '../../../support/run-server.ts'
import { serverRuns } from '../../../support/server-runs.ts'
import { sharedServer } from '../../../support/store.ts'

const DAY_MS = 86_400_000

const server = await sharedServer()
const shop = await server.openStore()
const product = await shop.add('/Products', { SKUInfo: { SKU: 'P-1', Name: 'Mug' } })
const runs = serverRuns()
const rowsOf = () => server.database.db.picture.findMany({ where: { storeId: shop.store.id } })

/** The process that decodes. */
function decoderOf(pid = 0): string {
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8')
  expect(children).not.toBe('')
  return children.trim()
}

test.each([0, 1, 5, 8])(
  'a server that is killed while the file %i of the 8 of a picture is stored (0: while it is decoded) leaves nothing',
  async (at) => {
    const objects = new Set<string>()
    let kill = () => {}
    const bucket = createServer(({ method, url = '' }, response) => {
      if (method === 'PUT' && objects.size + 1 === at) return kill()
      if (method === 'PUT') objects.add(url)
      if (method === 'DELETE') objects.delete(url)
      response.end()
    }).listen(0, '127.0.0.1')
    await once(bucket, 'listening')
    const S3_URL = `http://key:secret@127.0.0.1:${(bucket.address() as AddressInfo).port}/pictures`
    const run = await runs.start({ ...serverKeys, DATABASE_URL: server.database.url, S3_URL })
    kill = () => void run.end('SIGKILL')
    const headers = { ...shop.credentials, 'content-type': 'image/png' }
    const body = new Uint8Array(
      await filled(900 + at, 900)
        .png()
        .toBuffer(),
    )
    const url = `http://127.0.0.1:${runs.port()}/StoreWebAPI/v1/Products/${product}/Images`
    const answered = expect(fetch(url, { method: 'POST', headers, body })).rejects.toThrow()
    const decoder = await vi.waitFor(() => decoderOf(run.process.pid), { timeout: 20_000, interval: 5 })
    if (at === 0) kill()
    await Promise.all([answered, run.exited])
    await vi.waitFor(() => expect(existsSync(`/proc/${decoder}`)).toBe(false), { timeout: 20_000 })
    expect((await rowsOf()).map(({ isWhole }) => isWhole)).toEqual(at === 0 ? [] : [false])
    expect(objects.size).toBe(Math.max(0, at - 1))
    for (const days of [1, 2]) {
      server.clock.ms = Date.now() + days * (DAY_MS + 1_000)
      await pictureSweep({ ...server.services, files: s3Files(S3_URL) })(() => false)
    }
    expect([await rowsOf(), objects.size]).toEqual([[], 0])
    bucket.close().closeAllConnections()
  },
)
