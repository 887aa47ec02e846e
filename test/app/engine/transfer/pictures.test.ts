import sharp from 'sharp'
import { expect, test } from 'vitest'
import { sharedFolder } from '../../../support/folders.ts'
import { filled } from '../../../support/pictures.ts'
import { sharedServer } from '../../../support/store.ts'
import { exportOf, importInto, linesOf } from './fixture.ts'

const folder = sharedFolder()
const server = await sharedServer({ FILES_DIR: folder })
const other = await sharedServer({ FILES_DIR: folder, PUBLIC_URL: 'http://127.0.0.1:8099' })
const shop = await server.openStore()
// Its number is another one.
await other.openStore()
const target = await other.openStore()
const png = (background: string) => filled(60, 30, background).png().toBuffer()

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

  const none = '/files/9/AAAAAAAAAAAAAAAAAAAAAA/1920'
  for (const _ of ['once', 'again']) {
    const bad = [
      { picture: none, bytes: 'PHN2Zy8+' },
      { picture: '../../x', bytes: '' },
    ].map((line) => JSON.stringify(line))
    const { counts, refused } = await importInto(other, target, file + bad.join('\n'))
    expect([counts.stored, refused.map(({ message }) => message)]).toEqual([
      lines.length - 1,
      [
        `${none} must be a JPEG, PNG, WebP, AVIF or GIF picture`,
        'picture must be the path of a picture, and bytes its content as Base64',
      ],
    ])
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
