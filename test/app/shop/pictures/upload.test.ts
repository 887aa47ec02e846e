import { existsSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import sharp from 'sharp'
import { expect, test } from 'vitest'
import { pictureSweep } from '../../../../src/shop/pictures/sweep.ts'
import { sharedFolder } from '../../../support/folders.ts'
import { filled } from '../../../support/pictures.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'

const folder = sharedFolder()
const server = await sharedServer({ FILES_DIR: folder })
const shop = await server.openStore()
const other = await server.openStore()
const product = await shop.add('/Products', { SKUInfo: { SKU: 'P-1', Name: 'Mug' } })

const send = (body: Buffer, contentType = 'image/png', id = product) =>
  shop.call('POST', `/Products/${id}/Images`, { body, contentType })

async function addressesOf(id: number): Promise<string[]> {
  const list = (await shop.call('GET', `/Products/${id}/Images`)).json() as { ImageGalleryFile: string }[]
  return list.map(({ ImageGalleryFile }) => ImageGalleryFile)
}

const get = (address: string, accept = 'image/png') =>
  server.app.inject({ url: new URL(address).pathname, headers: { accept } })

async function formOf(members: Record<string, string>, part: string, file: Buffer) {
  const form = new FormData()
  for (const [name, value] of Object.entries(members)) form.append(name, value)
  form.append(part, new Blob([new Uint8Array(file)]), '../../../etc/passwd')
  const { headers, body } = new Response(form)
  return {
    body: Buffer.from(await new Response(body).arrayBuffer()),
    contentType: headers.get('content-type') ?? '',
  }
}

test.each(['jpeg', 'png', 'webp', 'avif', 'gif'] as const)(
  'a %s picture is served in four widths and two formats, without what its file said beside it',
  async (format) => {
    const id = await shop.add('/Products', { SKUInfo: { SKU: `F-${format}`, Name: 'Mug' } })
    const place = { IFD0: { Copyright: 'Somebody' }, IFD3: { GPSLatitudeRef: 'N' } }
    const sent = await filled(600, 300).withExif(place).toFormat(format).toBuffer()
    expect((await send(sent, `image/${format}`, id)).json()).toMatchObject([{ Key: 'ImageGalleryID', Status: '201' }])
    const [address = ''] = await addressesOf(id)
    for (const width of [1920, 960, 480, 160]) {
      const at = address.replace(/\d+$/, String(width))
      for (const [accept, type] of [
        ['image/webp,*/*', 'image/webp'],
        ['*/*', 'image/jpeg'],
      ] as const) {
        const answer = await get(at, accept)
        expect([answer.statusCode, answer.headers['content-type'], answer.headers.vary]).toEqual([200, type, 'Accept'])
        expect(answer.headers).toMatchObject({
          'x-content-type-options': 'nosniff',
          'content-security-policy': "default-src 'none'; sandbox",
          'cache-control': 'public, max-age=31536000, immutable',
        })
        const { width: shown, exif } = await sharp(answer.rawPayload).metadata()
        expect([shown, exif]).toEqual([Math.min(width, 600), undefined])
      }
    }
  },
)

test('a picture stands upright, and keeps what is transparent', async () => {
  const lying = await filled(60, 30).withMetadata({ orientation: 6 }).jpeg().toBuffer()
  const clear = await sharp({
    create: { width: 50, height: 50, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } },
  })
    .png()
    .toBuffer()
  const id = await shop.add('/Products', { SKUInfo: { SKU: 'U-1', Name: 'Mug' } })
  await send(lying, 'image/jpeg', id)
  await send(clear, 'image/png', id)
  const [first = '', second = ''] = await addressesOf(id)
  expect(await sharp((await get(first)).rawPayload).metadata()).toMatchObject({ width: 30, height: 60 })
  expect((await get(second)).headers['content-type']).toBe('image/png')
})

const svg = '<svg xmlns="http://www.w3.org/2000/svg"><script>alert(1)</script></svg>'
const notPictures = 'must be a JPEG, PNG, WebP, AVIF or GIF picture'
const refused: readonly (readonly [string, () => Buffer | Promise<Buffer>, string])[] = [
  ['a text', () => Buffer.from('<script>alert(1)</script>'), notPictures],
  ['an SVG', () => Buffer.from(svg), notPictures],
  ['a PDF', () => Buffer.from('%PDF-1.4\n%âãÏÓ\n'), notPictures],
  ['a TIFF', () => filled(20, 20).tiff().toBuffer(), notPictures],
  [
    '40,001 × 1,000 pixels',
    () => filled(40_001, 1_000).png().toBuffer(),
    'must have 40 million pixels at most, all frames together',
  ],
  [
    'a head that says 65,000 × 65,000',
    async () => withSides(await filled(10, 10).png().toBuffer(), 65_000),
    'must have 40 million pixels at most, all frames together',
  ],
  ['many frames', manyFrames, 'must have 40 million pixels at most, all frames together'],
  [
    'half a file',
    async () => {
      const whole = await noise().jpeg().toBuffer()
      return whole.subarray(0, whole.length / 2)
    },
    'is cut off or damaged',
  ],
]

const noise = () =>
  sharp({
    create: {
      width: 300,
      height: 300,
      channels: 3,
      background: 'red',
      noise: { type: 'gaussian', mean: 128, sigma: 50 },
    },
  })

function withSides(png: Buffer, side: number): Buffer {
  png.writeUInt32BE(side, 16)
  png.writeUInt32BE(side, 20)
  return png
}

async function manyFrames(): Promise<Buffer> {
  const one = async (_: unknown, at: number) =>
    filled(1_000, 1_000, at % 2 === 0 ? 'white' : 'black')
      .png()
      .toBuffer()
  const frames = await Promise.all(Array.from({ length: 41 }, one))
  return sharp(frames, { join: { animated: true } })
    .gif()
    .toBuffer()
}

test.each(refused)('%s is refused by its content, and leaves nothing', async (_what, make, problem) => {
  const before = readdirSync(folder, { recursive: true })
  const answer = await send(await make(), 'image/png')
  expect(answer.json()).toMatchObject([
    { Status: '400', Value: 'ImageGalleryFile', Message: `ImageGalleryFile ${problem}` },
  ])
  expect(readdirSync(folder, { recursive: true })).toEqual(before)
})

test('what begins as a picture and ends as a program is served as a picture alone', async () => {
  const id = await shop.add('/Products', { SKUInfo: { SKU: 'PG-1', Name: 'Mug' } })
  const polyglot = Buffer.concat([await filled(20, 20).png().toBuffer(), Buffer.from('<script>alert(1)</script>')])
  await send(polyglot, 'text/html', id).catch(() => {})
  await send(polyglot, 'image/png', id)
  const [address = ''] = await addressesOf(id)
  expect((await get(address)).body).not.toContain('script')
})

test('a form has the picture and its caption; a file’s name leads nowhere', async () => {
  const id = await shop.add('/Products', { SKUInfo: { SKU: 'FORM-1', Name: 'Mug' } })
  const png = await filled(20, 20, 'green').png().toBuffer()
  const { body, contentType } = await formOf({ ImageGalleryCaption: 'Grün' }, 'file', png)
  expect((await send(body, contentType, id)).statusCode).toBe(201)
  expect((await shop.call('GET', `/Products/${id}/Images`)).json()).toMatchObject([{ ImageGalleryCaption: 'Grün' }])
  expect(readdirSync(folder)).toEqual(expect.arrayContaining(['parts', String(shop.store.id)]))
})

test.each([
  ['Category', { CategoryName: 'Lamps' }, 'CategoryIcon', 'CategoryDescription', 'name-and-position'],
  ['Manufacturers', { ManufacturerName: 'Alder' }, 'Logo', 'Header', 'name-and-logo'],
])(
  'a picture of one of %s comes by PUT, alone or in a form, and by its page',
  async (service, record, member, text, part) => {
    const at = `/${service}/${await shop.add(`/${service}`, record)}`
    const stored = async () => (await shop.call('GET', at)).json()[0] as Record<string, string>
    const sent = { body: await filled(40, 20).png().toBuffer(), contentType: 'image/png' }
    expect((await shop.call('PUT', at, sent)).statusCode).toBe(200)
    const { [member]: first = '' } = await stored()
    const form = await formOf({ [text]: 'Grün' }, member.toLowerCase(), await filled(40, 20, 'lime').png().toBuffer())
    expect((await shop.call('PUT', at, form)).statusCode).toBe(200)
    const { [member]: second = '', [text]: said } = await stored()
    expect([said, first === second]).toEqual(['Grün', false])

    const merchant = await merchantIn(server, shop.store)
    const page = `/admin${at.toLowerCase()}`
    const upload = (file: Buffer) =>
      merchant.upload(`${page}/picture?section=${part}`, file, 'a.png', { page: `${page}/edit?section=${part}` })
    expect((await upload(Buffer.from(svg))).body).toContain(`id="file-problem" class="problem">Picture ${notPictures}`)
    expect((await upload(await filled(40, 20, 'navy').png().toBuffer())).headers.location).toBe(
      `${page}?notice=record-saved`,
    )
    const { [member]: third = '' } = await stored()
    for (const address of [first, second, third]) expect((await get(address)).statusCode).toBe(200)
    expect((await merchant.open(page)).body).toContain(`<img src="${new URL(third).pathname.replace('1920', '160')}"`)
    for (const [method, url] of [
      ['POST', `/${service}`],
      ['PUT', `/${service}`],
      ['PUT', `/Products/${product}`],
    ] as const) {
      expect((await shop.call(method, url, { ...sent, tolerated: true })).statusCode).toBe(415)
    }
  },
)

test('another address takes no file, and a picture of another store has none of this one', async () => {
  const png = await filled(20, 20, 'blue').png().toBuffer()
  expect(
    (await shop.call('POST', '/Products', { body: png, contentType: 'image/png', tolerated: true })).statusCode,
  ).toBe(415)
  await send(png)
  const address = (await addressesOf(product)).at(-1) ?? ''
  expect((await get(address)).statusCode).toBe(200)
  const elsewhere = address.replace(`/files/${shop.store.id}/`, `/files/${other.store.id}/`)
  expect((await get(elsewhere)).statusCode).toBe(404)
  for (const path of ['500', '160.webp', '..%2f..%2fx', '-1']) {
    expect((await get(address.replace(/\d+$/, path))).statusCode).toBe(404)
  }
})

test('of many uploads at once each is stored whole, or told to come again; a full store takes none', async () => {
  const id = await other.add('/Products', { SKUInfo: { SKU: 'MANY', Name: 'Mug' } })
  const upload = async (width: number) => {
    const sent = { body: await filled(width, 10).png().toBuffer(), contentType: 'image/png' }
    return (await other.call('POST', `/Products/${id}/Images`, sent)).statusCode
  }
  const statuses = await Promise.all(Array.from({ length: 60 }, (_, at) => upload(20 + at)))
  expect(statuses.filter((status) => status !== 201 && status !== 503)).toEqual([])
  const { db } = server.services
  const stored = statuses.filter((status) => status === 201).length
  expect(await db.picture.count({ where: { storeId: other.store.id, isWhole: true } })).toBe(stored)
  const inFolder = () => readdirSync(join(folder, String(other.store.id))).length
  expect(inFolder()).toBe(8 * stored)
  await db.$executeRaw`INSERT INTO "Picture" ("storeId", "name", "width", "height", "bytes", "seenAt")
    SELECT ${other.store.id}::int, 'full-' || n, 1, 1, 1, now() FROM generate_series(1, ${100_000 - stored}::int) n`
  expect([await upload(20 + statuses.indexOf(201)), await upload(100)]).toEqual([201, 409])
  expect(inFolder()).toBe(8 * stored)
})

test('an attempt that is repeated with its key adds no second picture', async () => {
  const id = await shop.add('/Products', { SKUInfo: { SKU: 'K-1', Name: 'Mug' } })
  const body = await filled(20, 20, 'black').png().toBuffer()
  const headers = { 'idempotency-key': 'one' }
  for (const _ of [1, 2]) {
    const answer = await shop.call('POST', `/Products/${id}/Images`, { body, contentType: 'image/png', headers })
    expect(answer.statusCode).toBe(201)
  }
  expect(await addressesOf(id)).toHaveLength(1)
})

test('a picture that no text says goes after a day, and one that a text says stays', async () => {
  const id = await shop.add('/Products', { SKUInfo: { SKU: 'S-1', Name: 'Mug' } })
  await send(await filled(20, 20, 'yellow').png().toBuffer(), 'image/png', id)
  await send(await filled(20, 20, 'pink').png().toBuffer(), 'image/png', id)
  const [stays = '', goes = ''] = await addressesOf(id)
  const [kept] = (await shop.call('GET', `/Products/${id}`)).json()[0].ImageGalleryList
  await shop.call('PUT', `/Products/${id}`, { body: { ImageGalleryList: [kept] } })
  const sweep = pictureSweep(server.services)
  const isThere = async () => [(await get(stays)).statusCode, (await get(goes)).statusCode]
  await sweep(() => false)
  expect(await isThere()).toEqual([200, 200])
  for (const _ of [1, 2]) {
    server.clock.ms += 86_400_001
    await sweep(() => false)
  }
  expect(await isThere()).toEqual([200, 404])
  expect(existsSync(join(folder, 'parts'))).toBe(true)
})
