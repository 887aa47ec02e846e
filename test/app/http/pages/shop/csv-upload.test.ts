import type { AddressInfo } from 'node:net'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { sendInChunks } from './form-in-chunks.ts'

let token = ''

const server = await sharedServer()
const shop = await server.openStore()
const merchant = await merchantIn(server, shop.store)
await server.app.listen({ port: 0, host: '127.0.0.1' })

beforeAll(async () => {
  token = /name="_csrf" value="([^"]+)"/.exec((await merchant.open('/admin/manufacturers/csv')).body)?.[1] ?? ''
})

/** Sends a form with a CSV file. */
async function send(file: string, chunkLength: number, fileName = 'file.csv') {
  const field = `--b\r\nContent-Disposition: form-data; name="_csrf"\r\n\r\n${token}\r\n`
  const head = `--b\r\nContent-Disposition: form-data; name="file"; filename="${fileName}"\r\n\r\n`
  const body = Buffer.from(`${field}${head}${file}\r\n--b--\r\n`)
  const { port } = server.app.server.address() as AddressInfo
  const cookie = [...merchant.cookies].map(([name, value]) => `${name}=${value}`).join('; ')
  const options = { port, path: '/admin/manufacturers/csv', headers: { accept: 'text/html', cookie } }
  return sendInChunks(options, body, chunkLength)
}

const lineOf = (number: number) => `${number + 1},logo-${number}.png\n`

/** What a file is refused for at a line, and what the page says. */
const faults = {
  'a heading twice': { status: 400, says: 'appears twice' },
  'a stray quotation mark': { status: 400, says: 'quotation mark' },
  'a byte that is no text': { status: 400, says: 'not UTF-8' },
  nothing: { status: 303, says: '' },
}

/** A file of `lines` lines with a fault at one of them. */
function fileWith(fault: keyof typeof faults, lines: number, at: number): string {
  const heading = fault === 'a heading twice' ? 'ManufacturerID,Logo,logo\n' : 'ManufacturerID,Logo\n'
  const all = Array.from({ length: lines }, (_, number) => lineOf(number))
  if (fault === 'a stray quotation mark') all[at] = `${at},"logo" "\n`
  if (fault === 'a byte that is no text') all[at] = '\uFFFD\n'
  return heading + all.join('')
}

test('a file is answered wherever it is refused, whatever its size and the chunks it comes in', async () => {
  const drawn = fc.record({
    fault: fc.constantFrom(...(Object.keys(faults) as (keyof typeof faults)[])),
    lines: fc.oneof(fc.integer({ min: 1, max: 200 }), fc.integer({ min: 5_000, max: 30_000 })),
    part: fc.double({ min: 0, max: 0.999, noNaN: true }),
    chunkLength: fc.constantFrom(1_000, 16_384, 65_536, 1_000_000),
  })
  await fc.assert(
    fc.asyncProperty(drawn, async ({ fault, lines, part, chunkLength }) => {
      // Files that are right are read to their end, which takes longest.
      const length = fault === 'nothing' ? Math.min(lines, 2_000) : lines
      const at = Math.min(Math.floor(length * part), 2_000)
      const { status, body: page } = await send(fileWith(fault, length, at), chunkLength)
      expect(status).toBe(faults[fault].status)
      expect(page).toContain(faults[fault].says)
    }),
    { numRuns: 20 },
  )
})

test('an empty first line is none', async () => {
  for (const lines of [1, 20_000]) {
    const { status, body: page } = await send(`\n${fileWith('a heading twice', lines, 0)}`, 65_536)
    expect([status, /appears twice/.test(page)]).toEqual([400, true])
  }
  expect((await send(`\n${fileWith('nothing', 200, 0)}`, 65_536)).status).toBe(303)
})

test('the name of a file may have any characters', async () => {
  for (const name of ['a\0b.csv', '\u0001\u009f', 'ä'.repeat(300), '😀'.repeat(150), '']) {
    const { status } = await send(fileWith('nothing', 1, 0), 65_536, name)
    expect(status, JSON.stringify(name)).toBe(303)
  }
  const { body } = await merchant.open('/admin/csv')
  expect(body).toContain('>ab.csv<')
})
