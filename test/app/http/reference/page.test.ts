import { readdirSync } from 'node:fs'
import { beforeAll, describe, expect, test } from 'vitest'
import { openApiDocument } from '../../../../src/app.ts'
import { eventKinds } from '../../../../src/engine/definition/event-kinds.ts'
import type { PathItem } from '../../../../src/http/server/json/openapi.ts'
import { ofTest } from '../../../support/shared.ts'
import { openServer, sharedServer } from '../../../support/store.ts'

const BYTES_MAX = 300_000
/** Not below /docs, but led to from there. */
const elsewhere = [
  '/',
  '/developers',
  '/openapi.json',
  '/records.xsd',
  '/docs/changelog.atom',
  '/.well-known/oauth-authorization-server',
]

const server = await sharedServer({ PUBLIC_URL: 'http://api.shop.example' })

async function get(url: string, headers: Record<string, string> = {}) {
  return server.app.inject({ url, headers: { accept: 'text/html', ...headers } })
}

async function search(words: string): Promise<string> {
  const { statusCode, body } = await get(`/docs/search?q=${encodeURIComponent(words)}`)
  expect(statusCode).toBe(200)
  return body
}

/** The titles and addresses of what was found, the best first. */
function foundIn(page: string): { title: string; address: string }[] {
  const found = [...page.matchAll(/<li>\s*<a href="([^"]+)">([^<]+)<\/a> <small class="badge">/g)]
  return found.map(([, address = '', title = '']) => ({ address, title }))
}

describe('every page below /docs', () => {
  const pages = new Map<string, { readonly body: string; readonly text: string }>()
  const links: { from: string; address: string }[] = []

  /** From the start page on, every page that a link leads to. */
  beforeAll(async () => {
    const waiting = ['/docs']
    for (let url = waiting.pop(); url !== undefined; url = waiting.pop()) {
      if (pages.has(url)) continue
      const { statusCode, headers, body } = await get(url)
      expect([url, statusCode, headers['content-type']]).toEqual([url, 200, 'text/html; charset=utf-8'])
      pages.set(url, { body, text: body.replace(/<\/?span[^>]*>/g, '') })
      for (const [, address = ''] of body.matchAll(/<a href="([^"]*)"/g)) {
        links.push({ from: url, address })
        const [path = ''] = address.split(/[?#]/)
        if (path.startsWith('/docs') && !address.includes('?') && !elsewhere.includes(path)) waiting.push(path)
      }
    }
  })

  test('is led to from the start page: guides, and every operation and notification of the document', () => {
    const { paths, webhooks } = openApiDocument(server.services.config)
    const operations = Object.values(paths).flatMap(({ servers, ...item }: PathItem) => Object.values(item))
    expect(operations.length).toBeGreaterThan(150)
    for (const { operationId, tags } of operations) {
      expect([...pages.keys()]).toContain(`/docs/reference/${tags[0]}/${operationId}`)
    }
    const sent = Object.values(webhooks).flatMap(({ post }) => post?.operationId ?? [])
    expect(sent).toContain('receiveOrderNew')
    for (const id of sent) expect([...pages.keys()]).toContain(`/docs/reference/Notifications/${id}`)
    const guides = readdirSync(new URL('../../../../docs/guides/', import.meta.url)).filter((file) =>
      file.endsWith('.md'),
    )
    for (const file of guides) expect([...pages.keys()]).toContain(`/docs/guides/${file.replace('.md', '')}`)
  })

  test('has at most 300 kB compressed, one heading of the first level, and no id twice', async () => {
    for (const [url, { body }] of pages) {
      // Compressing takes long, and what is as small without is so with it.
      const isLarge = Buffer.byteLength(body) >= BYTES_MAX
      const bytes = isLarge ? (await get(url, { 'accept-encoding': 'br' })).rawPayload.length : 0
      expect([url, bytes]).toEqual([url, expect.toSatisfy((size: number) => size < BYTES_MAX)])
      expect([url, body.match(/<h1/g)?.length]).toEqual([url, 1])
      const ids = [...body.matchAll(/ id="([^"]*)"/g)].map(([, id]) => id)
      expect([url, ids.filter((id, index) => ids.indexOf(id) !== index)]).toEqual([url, []])
    }
  })

  test('has no link that leads nowhere', () => {
    const nowhere = links.filter(({ from, address }) => {
      if (/^https?:/.test(address) || elsewhere.includes(address)) return false
      if (address.startsWith('/developers/') || address.startsWith('/docs/search?')) return false
      const [path = '', id = ''] = address.split('#')
      const page = pages.get(path === '' ? from : path)
      return page === undefined || (id !== '' && !page.body.includes(` id="${decodeURIComponent(id)}"`))
    })
    expect(nowhere).toEqual([])
  })

  test('loads its files from this server, has no script or style inside', () => {
    for (const [url, { body }] of pages) {
      const files = [...body.matchAll(/(?:src|<link[^>]* href)="([^"]*)"/g)].map(([, address]) => address)
      const others = files.filter((file = '') => !file.startsWith('/assets/') && !elsewhere.includes(file))
      expect([url, others]).toEqual([url, []])
      expect([url, /<script(?![^>]*src=)|<style| style="| on\w+="/.test(body)]).toEqual([url, false])
    }
  })

  test('has the address of this server in the place of the sandbox’s', () => {
    for (const [url, { body }] of pages) {
      // The changelog tells of what was.
      if (!url.startsWith('/docs/changelog')) expect([url, body.includes('localhost:3000')]).toEqual([url, false])
    }
    expect(pages.get('/docs/guides/first-call')?.body).toContain('http://api.shop.example/StoreWebAPI/v1')
  })

  test('of an operation has its members, their bounds, its examples and a line of curl', () => {
    const { text: body } = pages.get('/docs/reference/Products/updateProduct') ?? { text: '' }
    expect(body).toMatch(/id="body\.SKUInfo\.Stock"/)
    expect(body).toMatch(/id="parameter\.If-Match"/)
    expect(body).toContain('text, at most 65,535 characters')
    expect(body).toContain('&lt;SKUInfo&gt;')
    expect(body).toContain("curl -X PUT 'http://api.shop.example/StoreWebAPI/v1/Products/1'")
    expect(body).toContain('<th role="rowheader" scope="row">412</th>')
    expect(pages.get('/docs/reference/Webhooks/createWebhook')?.body).toContain('1 (OrderNew), 2 (OrderStatusChange)')
  })

  test('folds what lies in other members and behind the first twenty, and has a request in TypeScript', () => {
    const { text: body } = pages.get('/docs/reference/Products/getProduct') ?? { text: '' }
    const open = body.replace(/<details>[\s\S]*<\/details>/g, '')
    const membersIn = (text: string) => text.match(/ id="answer\./g)?.length ?? 0
    expect(membersIn(body)).toBeGreaterThan(150)
    expect(membersIn(open)).toBeLessThanOrEqual(20)
    expect(body).toContain('<small class="quiet">such as HO15093</small>')
    expect(body).toContain('The other')
    expect(body).toContain("await store.get('/Products/{catalogid}', { path: { catalogid: 1 } })")
    expect(pages.get('/docs/reference/Operator/createStore')?.body).toContain('<summary>By curl</summary>')
  })

  test('of an operation that takes a form shows it as one', () => {
    const { text: body } = pages.get('/docs/reference/OAuth/exchangeCode') ?? { text: '' }
    expect(body).toContain("-d 'grant_type=authorization_code'")
    expect(body).toContain("-F 'grant_type=authorization_code'")
    expect(body).not.toMatch(/-d '\{|changes the store|client_secret=/)
  })

  test('of notifications has a line for each kind, and says at most once how they are signed', () => {
    const { body } = pages.get('/docs/reference/Notifications') ?? { body: '' }
    expect(body.match(/<tr role="row" id="receive/g)).toHaveLength(eventKinds.length)
    expect(body.match(/How they are signed/g)).toHaveLength(1)
  })

  test('of a guide has its examples in each language, with a label', () => {
    const { body } = pages.get('/docs/guides/order-export') ?? { body: '' }
    expect(body).toContain('<span class="code-k">import</span>')
    for (const label of ['curl', 'TypeScript', 'Python', 'PHP', 'C#'])
      expect(body).toContain(`<p class="caption">${label} · `)
  })
})

test('an unknown page below /docs is a 404 with the links of the documentation', async () => {
  for (const url of ['/docs/nothing', '/docs/reference/Nothing', '/docs/..%2fpackage.json', '/docs/guides/__proto__']) {
    const { statusCode, body } = await get(url)
    expect([url, statusCode, body.includes('href="/docs/guides"')]).toEqual([url, 404, true])
  }
  expect((await get('/docs/reference/Products.md')).body).toContain('and /openapi.json has every operation')
})

test('an address below /docs in another case leads to the page', async () => {
  const { statusCode, headers } = await get('/docs/reference/products/UPDATEPRODUCT')
  expect([statusCode, headers.location]).toEqual([302, '/docs/reference/Products/updateProduct'])
})

test('the page is the same for everybody, and not sent again to who has it', async () => {
  const address = '/docs/reference/Orders'
  const first = await get(address)
  expect(first.headers['set-cookie']).toBeUndefined()
  const again = await get(address, { 'if-none-match': String(first.headers.etag) })
  expect([again.statusCode, again.body]).toEqual([304, ''])
  const noticed = await get(`${address}?notice=signed-out`, { cookie: 'developer=nonsense' })
  expect(noticed.body).toBe(first.body)
})

test('the pages may load and send nothing but to this server, and stand in no frame', async () => {
  for (const url of ['/docs', '/docs/search?q=a']) {
    const policy = String((await get(url)).headers['content-security-policy'])
    const rules = new Map(policy.split('; ').map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1).join(' ')]))
    expect(Object.fromEntries(rules)).toEqual({
      'default-src': "'none'",
      'script-src': "'self'",
      'style-src': "'self'",
      'img-src': "'self' data:",
      'connect-src': "'self'",
      'base-uri': "'none'",
      'frame-ancestors': "'none'",
      'form-action': "'self'",
    })
  }
})

describe('the search', () => {
  test.each([
    ['SKUInfo.Price', 'SKUInfo.Price', /^\/docs\/reference\/Products\/getProduct#answer\.SKUInfo\.Price$/],
    ['update product', 'Update a product', /^\/docs\/reference\/Products\/updateProduct$/],
    ['order new', 'Notification: Order New', /^\/docs\/reference\/Notifications\/receiveOrderNew$/],
    ['createWebhook', 'Create a webhook', /^\/docs\/reference\/Webhooks\/createWebhook$/],
    ['two writers', 'Two writers', /^\/docs\/reference\/conventions#two-writers$/],
    ['miss none', 'Export orders and miss none', /^\/docs\/guides\/order-export$/],
    ['PASSWORD customers', 'Password', /^\/docs\/reference\/Customers\//],
    ['pagination', 'Paging', /^\/docs\/reference\/conventions#paging$/],
    ['sales price', 'SalePrice', /#answer\.SalePrice$/],
    ['barcode', 'GTIN', /#answer\.GTIN$/],
    ['remove a product', 'Delete a product', /\/deleteProduct$/],
    ['createOrder', 'Place an order', /\/Checkout\/createOrder$/],
    ['GET /Orders', 'List orders', /\/listOrders$/],
    ['put https://shop.example/StoreWebAPI/v2/products/12?x=1', 'Update a product', /\/updateProduct$/],
    ['/Products', 'List products', /\/listProducts$/],
    ['stock of my warehouse', 'Keep stock in sync', /^\/docs\/guides\/stock-sync$/],
    ['place order', 'Place an order', /\/Checkout\/createOrder$/],
    ['api key', 'PrivateKey', /#answer\.PrivateKey$/],
    ['rate limit', 'rate-limited', /^\/docs\/errors\/rate-limited$/],
    ['OrderPage', 'OrderPage', /\/createOrder#answer\.OrderPage$/],
    ['QuotedItem', 'OrderItemList', /\/quoteOrder#answer\.OrderItemList$/],
    ['Idempotency-Key', 'Idempotency-Key', /#parameter\.Idempotency-Key$/],
  ])('for %s finds %s first', async (words, title, address) => {
    const [first] = foundIn(await search(words))
    expect(first).toEqual({ title, address: expect.stringMatching(address) })
  })

  test.each([
    ['stock', 'guides/stock-sync'],
    ['webhook', 'guides/first-webhook'],
    ['export orders', 'guides/order-export'],
    ['oauth', 'guides/'],
    ['test mode', 'guides/try-it'],
    ['error codes', 'guides/errors'],
    ['deprecation', 'policy'],
    ['versioning', 'policy'],
    ['OrdersPerHour', 'guides/till-and-marketplace'],
    ['rounding', 'guides/till-and-marketplace'],
  ])('for %s finds a guide first', async (words, address) => {
    const [first] = foundIn(await search(words))
    expect(first?.address.startsWith(`/docs/${address}`), first?.address).toBe(true)
  })

  test.each([
    ['invntory', 'inventory'],
    ['webhoook', 'webhook'],
    ['prodact', 'product'],
    ['update prduct', 'update product'],
  ])('for %s finds what %s does, and says so', async (wrong, right) => {
    const page = await search(wrong)
    expect(foundIn(page)).toEqual(foundIn(await search(right)))
    expect(page).toContain(`Found for <strong>${right}</strong>`)
    expect(await search(right)).not.toContain('Found for')
  })

  test('finds what stands in the changelog, and leads to its part', async () => {
    const found = foundIn(await search('HAProxy can claim https'))
    expect(found.map(({ address }) => address)).toEqual([expect.stringMatching(/^\/docs\/changelog\/operators#/)])
    const [first] = foundIn(await search('ArrayOfWebhookSecret'))
    expect(first?.address).toBe('/docs/changelog#generated-clients')
  })

  test('shows fifty at a time, what has most of the words if nothing has all, and nothing by words that occur nowhere', async () => {
    const page = await search('product')
    const [, next = ''] = /<a rel="next" href="([^"]*)"/.exec(page) ?? []
    const following = foundIn((await get(next.replace('&amp;', '&'))).body)
    expect([foundIn(page).length, following.length]).toEqual([50, 50])
    const first = new Set(foundIn(page).map(({ address }) => address))
    expect(following.filter(({ address }) => first.has(address))).toEqual([])
    for (const from of ['999999', '-1', '1e9', 'x']) {
      expect((await get(`/docs/search?q=product&from=${from}`)).statusCode).toBe(200)
    }
    const partial = await search('xyzzy updateProduct')
    expect(partial).toContain('Nothing has all of these words')
    expect(foundIn(partial)[0]?.title).toBe('Update a product')
    expect(await search('xyzzy')).toContain('Nothing has any of these words')
    expect(await search('')).toContain('Type words')
  })

  test('shows what was typed as text, and reads a hundred characters of it', async () => {
    const page = await search(`"><script>alert(1)</script>${'x'.repeat(10_000)}`)
    expect(page).not.toContain('<script>alert')
    expect(page).not.toContain('x'.repeat(101))
    for (const words of ['(', '[a-', '\\', '$&']) await search(words)
    for (const query of ['q=a&q=b', 'q=%ff', 'q=%ED%A0%80']) {
      expect((await get(`/docs/search?${query}`)).statusCode).toBe(200)
    }
  })
})

test('keys are never typed into a page that came over plain http where PUBLIC_URL is https', async () => {
  const secure = await ofTest(openServer({ PUBLIC_URL: 'https://api.shop.example', TRUST_PROXY: '127.0.0.1' }))
  const address = '/docs/reference/Products'
  const plain = await secure.app.inject(address)
  expect([plain.statusCode, plain.headers.location]).toEqual([302, `https://api.shop.example${address}`])
  const proxied = await secure.app.inject({ url: address, headers: { 'x-forwarded-proto': 'https' } })
  expect(proxied.statusCode).toBe(200)
  const untrusted = await secure.app.inject({
    url: address,
    headers: { 'x-forwarded-proto': 'https' },
    remoteAddress: '192.0.2.7',
  })
  expect([untrusted.statusCode, untrusted.headers.location]).toEqual([403, undefined])
  expect(untrusted.json()).toMatchObject([{ Message: expect.stringContaining('TRUST_PROXY') }])
})
