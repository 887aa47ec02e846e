import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import sharp from 'sharp'
import { afterAll, expect, test } from 'vitest'
import type { Scene } from './merchant-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

const folder = mkdtempSync(join(tmpdir(), 'pictures-'))
afterAll(() => rmSync(folder, { recursive: true }))

let scene: Scene
withMerchant((opened) => (scene = opened), { FILES_DIR: folder })

const png = () =>
  sharp({ create: { width: 30, height: 20, channels: 3, background: 'red' } })
    .png()
    .toBuffer()

test.each([
  ['Category', { CategoryName: 'Lamps' }, 'CategoryIcon'],
  ['Manufacturers', { ManufacturerName: 'Alder' }, 'Logo'],
])('a picture of %s is uploaded below the fields of its part', async (service, record, member) => {
  const { shop, merchant, server } = scene
  const id = await shop.add(`/${service}`, record)
  const page = `/admin/${service.toLowerCase()}/${id}`
  const parts = (await merchant.open(page)).body.match(/[^"]+edit\?section=[^"]+/g) ?? []
  const bodies = await Promise.all(parts.map(async (part) => (await merchant.open(part)).body))
  const actions = bodies.flatMap((body) => /action="([^"]*\/picture[^"]*)"/.exec(body)?.[1] ?? [])
  expect(actions).toHaveLength(1)
  const [action = ''] = actions
  const send = (file: Buffer) => merchant.upload(action, file, 'a.png', { page: action.replace('picture', 'edit') })
  const stored = async () => (await shop.call('GET', `/${service}/${id}`)).json()[0][member] as string

  const refused = await send(Buffer.from('<svg xmlns="http://www.w3.org/2000/svg"/>'))
  expect([refused.statusCode, await stored()]).toEqual([400, ''])
  expect(refused.body).toMatch(/id="file-problem"[^>]*>Picture must be a JPEG, PNG, WebP, AVIF or GIF picture/)

  expect((await send(await png())).headers.location).toBe(`${page}?notice=record-saved`)
  const { pathname } = new URL(await stored())
  expect((await server.app.inject({ url: pathname })).statusCode).toBe(200)
  expect((await merchant.open(page)).body).toContain(`<img src="${pathname.replace('1920', '160')}"`)
})
