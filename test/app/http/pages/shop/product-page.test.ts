import { beforeEach, describe, expect, test } from 'vitest'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import { products } from '../../../../../src/shop/resources/products/products.ts'
import { otherTexts, plainTexts } from '../../../../support/odd-html.ts'
import { fieldsAt } from '../../../../support/person.ts'
import { sharedServer, type TestServer } from '../../../../support/store.ts'
import { openShop, type Shop } from './product-fixture.ts'

let open: Shop
let db: TestServer['services']['db']

const server = await sharedServer()
beforeEach(async () => {
  open = await openShop(server)
  db = server.services.db
})

const escaped = (address: string) => address.replaceAll('?', '\\?')
const policyOf = (headers: Record<string, unknown>) =>
  /img-src ([^;]*)/.exec(String(headers['content-security-policy']))?.[1]
const pageOf = async (fields: object) => {
  const id = await open.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' }, ...fields })
  return open.merchant.open(`/admin/products/${id}`)
}

test('images are shown from their addresses, and the page may load those origins alone', async () => {
  const { headers, body } = await pageOf({
    MainImageFile: 'assets/images/lamp.jpg',
    ThumbnailFile: 'https://cdn.example:8443/lamp small.jpg?a=1',
    ImageGalleryList: [{ ImageGalleryFile: 'http://photos.example/1.png' }],
  })
  const shopOrigin = new URL(open.shop.store.secureUrl).origin
  expect(policyOf(headers)).toBe(`'self' data: ${shopOrigin} https://cdn.example:8443 http://photos.example`)
  const images = [...body.matchAll(/<img src="(https?:[^"]*)"[^>]*>/g)]
  expect(images.map(([, address]) => address)).toEqual([
    `${open.shop.store.secureUrl}/assets/images/lamp.jpg`,
    `${open.shop.store.secureUrl}/assets/images/lamp.jpg`,
    'https://cdn.example:8443/lamp%20small.jpg?a=1',
    'http://photos.example/1.png',
  ])
  for (const [image] of images) {
    for (const about of ['referrerpolicy="no-referrer"', 'loading="lazy"', 'alt="']) expect(image).toContain(about)
  }
  expect(body).toMatch(/> assets\/images\/lamp\.jpg<\/a>/)
})

test.each([
  'javascript:alert(1)',
  'data:image/png;base64,AAAA',
  'https://evil.example;script-src/x.js',
  "https://x;script-src'unsafe-inline'/x",
  'https://*/x.png',
  'https://user:secret@cdn.example/x.png',
  'ftp://files.example/x.png',
  'https://',
])('%s is shown as text, and the policy stays as it is', async (MainImageFile) => {
  const { statusCode, headers, body } = await pageOf({ MainImageFile })
  expect(statusCode).toBe(200)
  expect(policyOf(headers)).toBe("'self' data:")
  expect(String(headers['content-security-policy'])).toContain("script-src 'self';")
  expect(body).not.toMatch(/<img src="(?!\/assets)/)
})

test('the sandbox’s pictures come from this server, because its stores have no shop', async () => {
  const id = await open.add('/Products', {
    SKUInfo: { SKU: 'LAMP', Name: 'Lamp' },
    MainImageFile: 'assets/sandbox/lamp-amber.svg',
    ThumbnailFile: 'assets/images/lamp.jpg',
  })
  const { secureUrl, id: storeId } = open.shop.store
  await db.store.update({ where: { id: storeId }, data: { secureUrl: 'https://shop-1.store-platform.test' } })
  const inSandbox = await open.merchant.open(`/admin/products/${id}`)
  await db.store.update({ where: { id: storeId }, data: { secureUrl } })
  const inShop = await open.merchant.open(`/admin/products/${id}`)
  expect(inSandbox.body).toContain('<img src="/assets/sandbox/lamp-amber.svg"')
  expect(policyOf(inSandbox.headers)).toBe("'self' data: https://shop-1.store-platform.test")
  expect(inShop.body).toContain(`<img src="${secureUrl}/assets/sandbox/lamp-amber.svg"`)

  const picture = await open.merchant.open('/assets/sandbox/lamp-amber.svg')
  expect([picture.statusCode, picture.headers['content-type']]).toEqual([200, 'image/svg+xml'])
  expect(picture.body).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/)
  for (const name of ['lamp', 'lamp-amber.png', 'lamp-amber-above.svg', 'lamp-constructor.svg', 'toString-amber.svg']) {
    expect([name, (await open.merchant.open(`/assets/sandbox/${name}`)).statusCode]).toEqual([name, 404])
  }
})

test('a page allows a bounded number of origins', async () => {
  const ImageGalleryList = Array.from({ length: 50 }, (_, at) => ({
    ImageGalleryFile: `https://cdn${at}.example/x.png`,
  }))
  const { headers, body } = await pageOf({ ImageGalleryList })
  expect(policyOf(headers)?.split(' ')).toHaveLength(22)
  expect(body).toContain('https://cdn49.example/x.png')
})

test('images of categories and manufacturers are shown as well, and no list loads any', async () => {
  const category = await open.add('/Category', { CategoryName: 'Lamps', CategoryIcon: 'icons/lamp.png' })
  const maker = await open.add('/Manufacturers', { ManufacturerName: 'Alder', Logo: 'logos/alder.png' })
  for (const address of [`/admin/category/${category}`, `/admin/manufacturers/${maker}`]) {
    expect((await open.merchant.open(address)).body).toContain(`<img src="${open.shop.store.secureUrl}/`)
  }
  const list = await open.merchant.open('/admin/manufacturers?columns=Logo')
  expect(list.body).toContain('logos/alder.png')
  expect(list.body).not.toContain(`<img src="${open.shop.store.secureUrl}/`)
})

test('the head says what the product is, and its parts lead to their forms', async () => {
  const { body } = await pageOf({
    SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5, SalePrice: 40, OnSale: true, Stock: 3 },
    Hide: true,
    PriceLevel2: 41,
  })
  for (const text of ['$42.50, on sale for $40.00', 'hidden', 'Price level 2', '$41.00', 'In no category.']) {
    expect(body).toContain(text)
  }
  for (const part of ['stock', 'prices', 'options', 'categories']) expect(body).toMatch(`/${part}"`)
})

test('each field that can be changed is changed in one place, to which the page leads', async () => {
  const id = await open.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' } })
  const { body } = await open.merchant.open(`/admin/products/${id}`)
  const forms = [...new Set(body.match(new RegExp(`/admin/products/${id}/(edit\\?section=[a-z-]+|prices)(?=")`, 'g')))]
  const names: string[] = []
  for (const form of forms) {
    const page = (await open.merchant.open(form)).body
    const fields = [...page.matchAll(/<(?:input|select|textarea)\b[^>]* name="([A-Z][\w.]*)"/g)]
    names.push(...new Set(fields.map(([, name = '']) => name.replace(/\.\d+\..*/, ''))))
  }
  const { leaves } = products.fields.shown
  const writable = leaves.filter(({ field }) => field.access === 'rw').map(({ path }) => path.join('.'))
  // These have pages of their own, which the other tests of a product open.
  for (const [part, name] of [
    ['stock', 'SKUInfo.Stock'],
    ['categories', 'CategoryList'],
    ['options', 'OptionSetList'],
    ['options', 'AdvancedOptionList'],
  ]) {
    expect(body).toContain(`"/admin/products/${id}/${part}"`)
    names.push(name ?? '')
  }
  expect(names.toSorted()).toEqual(writable.filter((name) => name !== 'PluginList').toSorted())
})

test('stocks are shown in colour where none are left, or few, in the list and on the page', async () => {
  const product = (SKU: string, Stock: number, more: object = {}) =>
    open.add('/Products', { SKUInfo: { SKU, Name: SKU, Stock }, StockAlert: 3, ...more })
  const out = await product('OUT', 0)
  const low = await product('LOW', 3)
  const enough = await product('MANY', 4, { FreeShipping: true })
  const badges: Record<number, string> = {
    [out]: '<span class="badge bad">0 sold out</span>',
    [low]: '<span class="badge warn">3 low</span>',
  }
  const list = (await open.merchant.open('/admin/products')).body
  const rows = list.split('<tr role="row">')
  for (const id of [out, low, enough]) {
    const row = rows.find((one) => one.includes(`href="/admin/products/${id}"`)) ?? ''
    const figures = /<dl class="figures">[\s\S]*?<\/dl>/.exec((await open.merchant.open(`/admin/products/${id}`)).body)
    for (const html of [row, figures?.[0]]) {
      if (badges[id]) expect(html).toContain(badges[id])
      else expect(html).not.toMatch(/badge (bad|warn)/)
    }
  }
  const columns = [...list.matchAll(/<th role="columnheader" scope="col"(?: class="right")?>([^<]*)</g)]
  expect(columns.map(([, label]) => label)).toEqual(['Name', 'SKU', 'Price', 'Stock'])
  const flags = (await open.merchant.open('/admin/products?columns=SKUInfo.SKU&columns=FreeShipping')).body
  expect([...flags.matchAll(/data-label="Free shipping">([^<]*)</g)].map(([, text]) => text)).toEqual(['Yes', '', ''])
})

describe('a field that holds HTML', () => {
  const Description = [
    '<meta http-equiv="refresh" content="0;url=https://evil.example"><base href="https://evil.example/">',
    '<link rel="preconnect" href="https://evil.example"><p style="color:red">Red &mdash; <a href="/x">x</a></p>',
    '<script src="https://evil.example/x.js"></script><img src="lamp.jpg"><IMG alt=">" SRC=\'https://cdn.example/a.png\'>',
    '<img src="https://evil.example;script-src/x.png"><form action="/admin/products"><input></form></body></iframe>',
  ].join('\n')
  const addLamp = (fields: object) => open.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' }, ...fields })

  test('stands in a sandboxed frame, whose document may do nothing but load the pictures that it names', async () => {
    const id = await addLamp({ Description, ShortDescription: 'Only words' })
    const address = `/admin/products/${id}/shown?field=Description`
    const page = await open.merchant.open(`/admin/products/${id}`)
    expect(page.body.match(/<iframe [^>]*>/g)).toEqual([expect.stringMatching(` sandbox .* src="${escaped(address)}"`)])
    expect(page.headers['content-security-policy']).toMatch(/; frame-src 'self'$/)
    const { statusCode, headers, body } = await open.merchant.open(address)
    expect(statusCode).toBe(200)
    const shop = new URL(open.shop.store.secureUrl).origin
    expect(headers).toMatchObject({
      'content-type': 'text/html; charset=utf-8',
      'content-security-policy': `default-src 'none'; style-src 'unsafe-inline'; img-src data: ${shop} https://cdn.example; base-uri ${shop}; form-action 'none'; frame-ancestors 'self'; sandbox`,
      'referrer-policy': 'no-referrer',
      'cache-control': 'no-store',
    })
    expect(body).toContain('<p style="color:red">Red &mdash;')
    expect(body.match(/<(?:base|link|meta)\b[^>]*>/gi)).toEqual([
      '<meta charset="utf-8">',
      `<base href="${shop}/" target="_blank">`,
    ])
  })

  test('is a text where it is one, and other fields and stores have no frame', async () => {
    const id = await addLamp({ Description: 'Only words', MetaTags: '<meta name="a">' })
    const page = await open.merchant.open(`/admin/products/${id}`)
    expect(page.body).not.toContain('<iframe')
    expect(page.headers['content-security-policy']).not.toContain('frame-src')
    for (const field of ['MetaTags', 'SKUInfo.Name', 'nothing']) {
      expect((await open.merchant.open(`/admin/products/${id}/shown?field=${field}`)).statusCode).toBe(404)
    }
  })

  test.each([
    ['Category', 'CategoryHeader', { CategoryName: 'Lamps' }],
    ['Manufacturers', 'Header', { ManufacturerName: 'Alder' }],
  ])('of %s has a frame too', async (service, field, body) => {
    const id = await open.add(`/${service}`, { ...body, [field]: '<b>Bold</b>' })
    const address = `/admin/${service.toLowerCase()}/${id}`
    expect((await open.merchant.open(address)).body).toContain(`src="${address}/shown?field=${field}"`)
    expect((await open.merchant.open(`${address}/shown?field=${field}`)).body).toContain('<b>Bold</b>')
  })

  test('is edited as it looks: what was not typed stays byte for byte, its line breaks too', async () => {
    const source = '<P ID=x>Fish &amp; chips &mdash; caf&eacute;</P >\r\n<UL>\r<LI>One<BR/></LI></UL>\n'
    const id = await addLamp({ Description: source, ShortDescription: 'fish' })
    const address = `/admin/products/${id}/edit?section=description`
    const stored = async () => (await open.read('Products', id)).Description
    const editor = async () => {
      const { body } = await open.merchant.open(address)
      const canonical = / data-source="Description" data-canonical="([^"]*)"/.exec(body)?.[1] ?? ''
      return canonical
        .replaceAll('&lt;', '<')
        .replaceAll('&gt;', '>')
        .replaceAll('&quot;', '"')
        .replaceAll('&amp;', '&')
    }
    const edited = (await editor()).replace('chips', 'peas').replace('One', 'Two')
    const form = await open.merchant.formOf(address)
    await open.merchant.submit(address, { ...form, 'Description.edited': edited.replaceAll('\n', '\r\n') })
    const expected = source.replace('chips', 'peas').replace('One', 'Two')
    expect(await stored()).toBe(expected)

    const typed = { ...(await open.merchant.formOf(address)), 'Description.edited': `${await editor()}<p>More</p>` }
    const again = await open.merchant.submit(
      address,
      { ...typed, source: 'Description' },
      { to: address.replace('?', '/rows?') },
    )
    expect(again.body).not.toContain('data-source="Description"')
    const shown = fieldsAt(again.body, address)
    const asBrowsersSend = (text = '') => text.replaceAll(/\r\n?|\n/g, '\r\n')
    expect(asBrowsersSend(shown.Description)).toBe(asBrowsersSend(`${expected}<p>More</p>`))
    expect(await stored()).toBe(expected)
    await open.merchant.submit(address, {
      ...shown,
      Description: asBrowsersSend(shown.Description),
      ShortDescription: 'fish, peas',
    })
    expect(await stored()).toBe(`${expected}<p>More</p>`)
  })

  test('is edited as source alone where the editor would lose something, which the form says', async () => {
    const id = await addLamp({ Description: '<table><tr><td>1</td></tr></table>' })
    const { body } = await open.merchant.open(`/admin/products/${id}/edit?section=description`)
    expect(body).not.toContain('data-source="Description"')
    expect(body).toContain('The editor cannot keep &lt;table&gt; unchanged. Change the source.')
  })

  test('and any other text of a form that is sent as it was shown stays byte for byte', async () => {
    const texts = [...plainTexts, ...otherTexts].filter((text) => text.length < 3_000)
    const ImageGalleryList = texts.map((ImageGalleryCaption, at) => ({
      ImageGalleryFile: `${at}.png`,
      ImageGalleryCaption,
    }))
    const id = await addLamp({ ImageGalleryList })
    const address = `/admin/products/${id}/edit?section=image-galleries`
    const before = (await open.read('Products', id)).ImageGalleryList
    expect(before.map((item: { ImageGalleryCaption: string }) => item.ImageGalleryCaption)).toEqual(texts)
    const form = await open.merchant.formOf(address)
    const sent = Object.entries(form).map(([name, text]) => [name, text.replaceAll(/\r\n?|\n/g, '\r\n')])
    await open.merchant.submit(address, { ...Object.fromEntries(sent), 'ImageGalleryList.0.ImageGallerySorting': '7' })
    const after = (await open.read('Products', id)).ImageGalleryList
    expect(after).toEqual([{ ...before[0], ImageGallerySorting: 7 }, ...before.slice(1)])
  })
})

test('the index names every part of the page, and leads to each', async () => {
  const { body } = await pageOf({ Description: '<p>a</p>', FeatureList: [{ FeatureTitle: 'Material' }] })
  const index = /<nav class="index"[\s\S]*?<\/nav>/.exec(body)?.[0] ?? ''
  const places = [...index.matchAll(/href="#([^"]*)"/g)].map(([, place]) => place)
  const headings = [...body.matchAll(/<h2 id="([^"]*)"/g)].map(([, id]) => id)
  expect(places).toEqual(headings)
  expect(places).toEqual(
    expect.arrayContaining(['prices', 'stock', 'description', 'orders', 'search-engines', 'rarely-needed', 'history']),
  )
})

test('names the newest orders with the product, each once, and the other records that use it', async () => {
  const id = await open.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Stock: 100 } })
  const line = { CatalogID: id, ItemQuantity: 1 }
  for (let n = 0; n < 12; n++) {
    await placeOrder(open.shop.caller, { BillingEmail: 'ada@customers.example', OrderItemList: [line, line] })
  }
  const shade = await open.add('/Products', {
    SKUInfo: { SKU: 'SHADE', Name: 'Shade' },
    RelatedProductList: [{ RelatedProductID: id }],
  })
  const customer = await open.add('/Customers', { Email: 'ada@customers.example', Password: 'secret' })
  const GiftRegistryItemList = [{ CatalogID: id, Listed: 1 }]
  const registry = await open.add('/GiftRegistries', { CustomerID: customer, Name: 'Wedding', GiftRegistryItemList })
  const { body } = await open.merchant.open(`/admin/products/${id}`)
  const orders = [...body.matchAll(/<a href="\/admin\/orders\/\d+">(AB-\d+)<\/a>/g)].map(([, number]) => number)
  expect(orders).toEqual(Array.from({ length: 10 }, (_, at) => `AB-${1011 - at}`))
  expect(body).toContain('In 12 orders, the newest of them:')
  expect(body).toContain(`<a href="/admin/products/${shade}"><bdi>SHADE · Shade</bdi></a>`)
  expect(body).toContain(`/admin/giftregistries/${registry}"`)
})

test('the list leads to a product by its name, and says that it is hidden', async () => {
  const id = await open.add('/Products', { SKUInfo: { SKU: 'HID', Name: 'Hidden lamp' }, Hide: true })
  const list = (await open.merchant.open('/admin/products?find=Hidden')).body
  expect(list).toContain(`<a href="/admin/products/${id}">Hidden lamp</a> <span class="badge">Hidden</span>`)
})

test('what only who connects programs needs is folded at the end, and tags in texts are shown as line breaks', async () => {
  const { body } = await pageOf({ OutOfStockMessage: 'Sold out.<br>Back &amp; soon.', InventoryControl: 2 })
  const [before = '', technical = ''] = body.split('<summary>Technical details</summary>')
  expect(before).toContain('<span class="lines">Sold out.\nBack &amp; soon.</span>')
  expect(before).toMatch(/<dt>When stock runs out<\/dt>\s*<dd class="text">\s*Back order\s*<\/dd>/)
  expect(before).not.toContain('<dt>Internal number</dt>')
  expect(technical).toContain('<dt>Internal number</dt>')
})
