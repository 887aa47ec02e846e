import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { sharedFolder } from '../../../support/folders.ts'
import { filled } from '../../../support/pictures.ts'
import { startCommand } from '../../../support/run-command.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'

const folder = sharedFolder()
const server = await sharedServer({ FILES_DIR: join(folder, 'files'), OUTBOUND_ALLOW: '127.0.0.1' })
const picture = await filled(30, 20).png().toBuffer()
const asked: (string | undefined)[] = []
const former = createServer(({ url }, response) => {
  asked.push(url)
  if (url?.includes('missing')) response.writeHead(404).end()
  else response.end(picture)
}).listen(0, '127.0.0.1')
await once(former, 'listening')
const base = `http://127.0.0.1:${(former.address() as AddressInfo).port}`
const url = await server.app.listen({ host: '127.0.0.1', port: 0 })
afterAll(async () => {
  former.closeAllConnections()
  former.close()
  await server.services.outbound.close()
})

test('--images fetches what the records name; they keep their texts, and pages show it; another run goes on', async () => {
  const shop = await server.openStore()
  const id = await shop.add('/Products', {
    SKUInfo: { SKU: 'P', Name: 'Mug' },
    MainImageFile: 'assets/my mug.png',
    ImageGalleryList: [{ ImageGalleryFile: 'assets/missing.png' }],
  })
  await shop.add('/Category', { CategoryName: 'Mugs', CategoryIcon: `${base}/icon.png` })
  const before = (await shop.call('GET', `/Products/${id}`)).body
  const settings = { PUBLIC_URL: url, OPERATOR_KEY: server.services.operatorKey, DATA_DIR: folder }
  const args = ['--from', `${base}/shop`, '--store', String(shop.store.id), '--images']
  const run = () => startCommand('migrate', args, { settings, cwd: folder }).ends()

  const { code, output, errors } = await run()

  expect([code, output], errors).toEqual([
    1,
    '2 pictures are stored, 1 could not be fetched\n  assets/missing.png: The answer has the status 404\n',
  ])
  expect(asked).toEqual(['/icon.png', '/shop/assets/my%20mug.png', '/shop/assets/missing.png'])
  expect((await shop.call('GET', `/Products/${id}`)).body).toBe(before)
  const merchant = await merchantIn(server, shop.store)
  for (const path of ['/admin/products', `/admin/products/${id}/pictures`, `/admin/products/${id}`]) {
    const [, thumbnail = ''] = /src="(\/files\/\d+\/[\w-]{22}\/160)"/.exec((await merchant.open(path)).body) ?? []
    expect((await server.app.inject(thumbnail)).statusCode, path).toBe(200)
  }
  asked.length = 0
  expect((await run()).code).toBe(1)
  expect(asked).toEqual(['/shop/assets/missing.png'])
})
