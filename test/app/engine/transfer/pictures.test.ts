import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { exportOf, importInto, linesOf } from './fixture.ts'

const [here, there] = [1, 2].map(() => mkdtempSync(join(tmpdir(), 'pictures-'))) as [string, string]
const server = await sharedServer({ FILES_DIR: here })
const other = await sharedServer({ FILES_DIR: there, PUBLIC_URL: 'http://127.0.0.1:8099' })
const shop = await server.openStore()
// Its number is another one.
await other.openStore()
const target = await other.openStore()
afterAll(() => {
  for (const folder of [here, there]) rmSync(folder, { recursive: true })
})

const png = (background: string) =>
  sharp({ create: { width: 60, height: 30, channels: 3, background } })
    .png()
    .toBuffer()

test('the pictures of a store are in its export, and the store that imports it shows its own', async () => {
  const contentType = 'image/png'
  const id = await shop.add('/Products', { SKUInfo: { SKU: 'MUG', Name: 'Mug' } })
  const category = await shop.add('/Category', { CategoryName: 'Mugs' })
  await shop.call('POST', `/Products/${id}/Images`, { body: await png('red'), contentType })
  await shop.call('PUT', `/Category/${category}`, { body: await png('blue'), contentType })
  const product = async (of: typeof shop) => (await of.call('GET', `/Products/${id}`)).json()[0]
  const address: string = (await product(shop)).ImageGalleryList[0].ImageGalleryFile
  const foreign = 'https://elsewhere.example/files/1/AAAAAAAAAAAAAAAAAAAAAA/1920'
  const html = (first: string) => `<img src="${first.replace('1920', '480')}"> <img src='${foreign}'>`
  await shop.call('PUT', `/Products/${id}`, { body: { Description: html(address), MainImageFile: address } })

  const file = await exportOf(server, shop)
  const lines = linesOf(file)
  expect(lines.filter((line) => 'picture' in line)).toHaveLength(2)
  expect(lines.at(-1)).toEqual({ end: { records: lines.length - 1 } })
  const part = await server.operate('GET', `/admin/stores/${shop.store.id}/export?service=Products`)
  expect(part.body).not.toContain('"picture"')

  for (const _ of ['once', 'again']) {
    const { counts, refused } = await importInto(other, target, file)
    expect([counts.stored, refused]).toEqual([lines.length - 1, []])
    const moved = await product(target)
    const own = address.replace(/^.*\/files\/\d+\//, `http://127.0.0.1:8099/files/${target.store.id}/`)
    expect([moved.MainImageFile, moved.ImageGalleryList[0].ImageGalleryFile]).toEqual([own, own])
    expect(moved.Description).toBe(html(own))
    const [{ CategoryIcon }] = (await target.call('GET', `/Category/${category}`)).json()
    for (const url of [own, CategoryIcon]) {
      const { statusCode, rawPayload } = await other.app.inject({ url: new URL(url).pathname })
      expect([statusCode, (await sharp(rawPayload).metadata()).width]).toEqual([200, 60])
    }
  }
  expect((await product(shop)).MainImageFile).toBe(address)
})

test('a picture of a file that is none is refused by its path, and the rest is stored', async () => {
  const before = readdirSync(there, { recursive: true })
  const path = '/files/9/AAAAAAAAAAAAAAAAAAAAAA/1920'
  const named = {
    service: 'Category',
    record: { CategoryID: 7, CategoryName: 'Pens', CategoryIcon: `https://a.example${path}` },
  }
  const bytes = Buffer.from('<svg/>').toString('base64')
  const lines = [{ picture: path, bytes }, { picture: '../../x', bytes }, { picture: path }, named]
  const { counts, refused } = await importInto(other, target, lines)
  expect(counts).toEqual({ lines: 4, stored: 1, refused: 3 })
  expect(refused.map(({ message }) => message)).toEqual([
    `${path} must be a JPEG, PNG, WebP, AVIF or GIF picture`,
    ...[1, 2].map(() => 'picture must be the path of a picture, and bytes its content as Base64'),
  ])
  expect((await target.call('GET', '/Category/7')).json()).toMatchObject([{ CategoryIcon: `https://a.example${path}` }])
  expect(readdirSync(there, { recursive: true })).toEqual(before)
})
