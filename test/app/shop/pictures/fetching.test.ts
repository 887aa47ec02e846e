import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterAll, beforeEach, expect, test } from 'vitest'
import { productKinds } from '../../../../src/engine/definition/event-kinds.ts'
import { createPictureFetches } from '../../../../src/shop/pictures/fetches.ts'
import { resourceNamed } from '../../../../src/shop/registry.ts'
import { sharedFolder } from '../../../support/folders.ts'
import { filled } from '../../../support/pictures.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../support/store.ts'

const folder = sharedFolder()
const server = await sharedServer({ FILES_DIR: folder, OUTBOUND_ALLOW: '127.0.0.1' })
const fetches = createPictureFetches({ ...server.services, resourceNamed })
const picture = await filled(30, 20).png().toBuffer()
const send = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/plain' }).end(picture)
let answer: (response: ServerResponse) => unknown
const asked: (string | undefined)[] = []
const receiver = createServer(({ url }, response) => {
  asked.push(url)
  answer(response)
}).listen(0, '127.0.0.1')
await once(receiver, 'listening')
const base = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}`

let shop: TestStore
beforeEach(async () => {
  shop = await server.openStore()
  answer = send
  asked.length = 0
})
afterAll(async () => {
  receiver.closeAllConnections()
  receiver.close()
  await server.services.outbound.close()
})

const addProduct = (members: object = {}) => shop.add('/Products', { SKUInfo: { SKU: 'P', Name: 'Mug' }, ...members })
const gallery = async (id: number) => (await shop.call('GET', `/Products/${id}/Images`)).json()
const stored = expect.stringMatching(/\/files\/\d+\/[\w-]{22}\/1920$/)
const put = (id: number, item: object) => shop.call('PUT', `/Products/${id}`, { body: { ImageGalleryList: [item] } })
const pageOf = async (id: number) =>
  (await (await merchantIn(server, shop.store)).open(`/admin/products/${id}/pictures`)).body

test.each([
  ['POST Images', (id: number, item: object) => shop.call('POST', `/Products/${id}/Images`, { body: item })],
  ['PUT of the product', put],
])('by %s the item says the address, then that of the stored picture; events and history tell', async (_, write) => {
  const id = await addProduct()
  const address = `${base}/a.png`
  expect((await write(id, { FetchFrom: address, ImageGalleryCaption: 'Red' })).statusCode).toBeLessThan(300)
  expect(await gallery(id)).toMatchObject([{ ImageGalleryFile: address, ImageGalleryCaption: 'Red' }])
  expect(JSON.stringify(await gallery(id))).not.toContain('FetchFrom')
  expect(await pageOf(id)).toContain('This picture is being fetched.')

  await fetches.runDue()

  const [{ ImageGalleryFile: file }] = await gallery(id)
  expect([file, asked]).toEqual([stored, ['/a.png']])
  expect((await server.app.inject(new URL(file).pathname)).statusCode).toBe(200)
  expect(await pageOf(id)).not.toContain('being fetched')
  const where = { storeId: shop.store.id, recordId: id }
  const { db } = server.services
  const [told] = await db.historyEntry.findMany({ where, orderBy: { id: 'desc' }, take: 1 })
  const changed = [[expect.stringContaining('ImageGalleryFile'), address, file]]
  expect(told).toMatchObject({ actorKind: 'operator', changed })
  expect(await db.event.count({ where: { ...where, eventType: productKinds.changed.type } })).toBe(2)
  await fetches.runDue()
  expect(asked).toHaveLength(1)
})

test('the first picture of a category and of a manufacturer, by XML too, over what was sent back', async () => {
  const category = await shop.add('/Category', { CategoryName: 'Mugs', FetchFrom: `${base}/c.png` })
  const maker = await shop.add('/Manufacturers', { ManufacturerName: 'Maker', Logo: 'old.png' })
  const xml = `<Manufacturer><Logo>old.png</Logo><FetchFrom>${base}/m.png</FetchFrom></Manufacturer>`
  await shop.call('PUT', `/Manufacturers/${maker}`, { body: xml, contentType: 'application/xml' })
  await fetches.runDue()
  await fetches.runDue()
  expect((await shop.call('GET', `/Category/${category}`)).json()).toMatchObject([{ CategoryIcon: stored }])
  expect((await shop.call('GET', `/Manufacturers/${maker}`)).json()).toMatchObject([{ Logo: stored }])
})

test('ImageGalleryFile is never fetched, and an empty FetchFrom is none', async () => {
  const id = await addProduct({ ImageGalleryList: [{ ImageGalleryFile: `${base}/text.png`, FetchFrom: '' }] })
  await fetches.runDue()
  expect([asked, (await gallery(id))[0].ImageGalleryFile]).toEqual([[], `${base}/text.png`])
})

test.each([
  ['ftp://shop.example/a.png', 'must begin with http:// or https://'],
  ['assets/a.png', 'is not a web address; allowed: http or https, such as https://shop.example/path'],
  ['https://me:secret@shop.example/', 'must not hold a user name or password'],
  [`https://shop.example/${'x'.repeat(80)}`, 'at most 100 are allowed'],
])('%s can never be called, or is longer than the member, and is refused', async (FetchFrom, problem) => {
  const answer = await shop.call('POST', '/Category', { body: { CategoryName: 'Mugs', FetchFrom } })
  const Message = expect.stringContaining(problem)
  expect(answer.json()).toMatchObject([{ Status: '400', Value: 'FetchFrom', Message }])
})

test.each([
  ['http://10.0.0.1/a.png', send, 'The address leads to 10.0.0.1, which is not a public address'],
  [
    null,
    (to: ServerResponse) => to.writeHead(302, { location: `${base}/b.png` }).end(),
    'The answer has the status 302',
  ],
  [null, (to: ServerResponse) => to.writeHead(404).end(), 'The answer has the status 404'],
  [null, (to: ServerResponse) => to.end('<svg/>'), 'must be a JPEG, PNG, WebP, AVIF or GIF picture'],
  [null, (to: ServerResponse) => to.end(Buffer.alloc(10 * 1024 * 1024 + 1)), 'is larger than 10 MB'],
])('what cannot be fetched is not tried again, and the page says why: %s %#', async (given, answers, reason) => {
  answer = answers
  const FetchFrom = given ?? `${base}/a.png`
  const id = await addProduct({ ImageGalleryList: [{ FetchFrom }] })
  await fetches.runDue()
  server.clock.ms += 86_400_000
  await fetches.runDue()
  expect(await gallery(id)).toMatchObject([{ ImageGalleryFile: FetchFrom }])
  expect(await pageOf(id)).toContain(`This picture could not be fetched: ${reason}`)
  expect(asked).toEqual(given === null ? ['/a.png'] : [])
})

test('a failing server is asked again later, and the same address can be sent again', async () => {
  answer = (to) => to.writeHead(503).end()
  const id = await addProduct({ ImageGalleryList: [{ FetchFrom: `${base}/a.png` }] })
  await fetches.runDue()
  expect(await pageOf(id)).toContain('is being fetched. The last attempt failed: The answer has the status 503')
  expect(asked).toHaveLength(1)
  answer = send
  const [{ ImageGalleryID }] = await gallery(id)
  await put(id, { ImageGalleryID, FetchFrom: `${base}/a.png` })
  await fetches.runDue()
  expect(await gallery(id)).toMatchObject([{ ImageGalleryID, ImageGalleryFile: stored }])
})

test('a record that was changed meanwhile keeps what it says, and one that is gone ends the fetch', async () => {
  const id = await addProduct({ ImageGalleryList: [{ FetchFrom: `${base}/a.png` }, { FetchFrom: `${base}/b.png` }] })
  const [first, second] = await gallery(id)
  const list = [{ ...first, ImageGalleryFile: `${base}/mine.png` }, second]
  let change: Promise<unknown> | undefined
  answer = async (response) => {
    change ??= shop.call('PUT', `/Products/${id}`, { body: { ImageGalleryList: list } })
    await change
    send(response)
  }
  await fetches.runDue()
  expect(await gallery(id)).toMatchObject([{ ImageGalleryFile: `${base}/mine.png` }, { ImageGalleryFile: stored }])
  const many = ['c', 'd', 'e', 'f'].map((name) => ({ FetchFrom: `${base}/${name}.png` }))
  answer = send
  await shop.call('PUT', `/Products/${id}`, { body: { ImageGalleryList: many } })
  await fetches.runDue()
  expect(await gallery(id)).toMatchObject(many.map(() => ({ ImageGalleryFile: stored })))
  await put(id, { FetchFrom: `${base}/c.png` })
  await shop.call('DELETE', `/Products/${id}`)
  await fetches.runDue()
  expect(await server.services.db.pictureFetch.count({ where: { storeId: shop.store.id, endedAt: null } })).toBe(0)
})

test('what a killed process has begun another one fetches, and an attempt past its lease writes nothing', async () => {
  const id = await addProduct({ ImageGalleryList: [{ FetchFrom: `${base}/a.png` }] })
  const { db } = server.services
  // As claimed by a process that is gone.
  await db.pictureFetch.updateMany({
    where: { storeId: shop.store.id },
    data: { attempts: 1, process: 2_000_000_000, nextAt: new Date(server.clock.ms + 300_000) },
  })
  answer = async (response) => {
    await db.pictureFetch.updateMany({ where: { storeId: shop.store.id }, data: { attempts: { increment: 1 } } })
    send(response)
  }
  await fetches.runDue()
  expect(await db.pictureFetch.count({ where: { storeId: shop.store.id, attempts: 3, endedAt: null } })).toBe(1)
  expect(await gallery(id)).toMatchObject([{ ImageGalleryFile: stored }])
})

test('above 5,000 a day FetchFrom is refused; above 2 GB a store waits for the next day', async () => {
  const at = new Date(server.clock.ms)
  const row = { storeId: shop.store.id, service: 'Products', recordId: 0, address: base, place: 0 }
  const done = { ...row, nextAt: at, endedAt: at, bytes: 450_000 }
  await server.services.db.pictureFetch.createMany({ data: Array.from({ length: 4_999 }, () => done) })
  const id = await addProduct({ ImageGalleryList: [{ FetchFrom: `${base}/day.png` }] })
  expect((await put(id, { FetchFrom: `${base}/b.png` })).json()).toMatchObject([
    { Status: '409', Value: 'FetchFrom', Message: expect.stringContaining('5000 pictures a day') },
  ])
  await fetches.runDue()
  expect(asked).not.toContain('/day.png')
  server.clock.ms += 86_400_001
  await fetches.runDue()
  expect(asked).toContain('/day.png')
  expect(await gallery(id)).toMatchObject([{ ImageGalleryFile: stored }])
})
