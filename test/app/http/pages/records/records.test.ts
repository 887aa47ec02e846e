import { parse } from 'csv-parse/sync'
import { beforeEach, describe, expect, test } from 'vitest'
import { services } from '../../../../../src/http/pages/records/services.ts'
import { fieldsAt, type TestPerson } from '../../../../support/person.ts'
import { memberIn, merchantIn } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { withMerchant } from '../shop/merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson

withMerchant((scene) => ({ server, shop, merchant } = scene))

const add = (service: string, body: object) => shop.add(`/${service}`, body)

/** Adds products, each with what `of` its number gives. */
async function addAll(first: number, last: number, of: (n: number) => object): Promise<void> {
  const body = Array.from({ length: last - first + 1 }, (_, at) => ({ SKUInfo: of(first + at) }))
  expect((await shop.call('POST', '/Products', { body })).statusCode).toBe(201)
}

async function read(service: string, id: number) {
  return (await shop.call('GET', `/${service}/${id}`)).json()[0]
}

const rowsOf = (html: string) =>
  [
    ...html.matchAll(
      /<th role="rowheader" scope="row"[^>]*>[^<]*(?:<(?:img|span)[^>]*>(?:<\/span>)?\s*)?<a href="[^"]*">([\s\S]*?)<\/a>/g,
    ),
  ].map(([, text = '']) => text.trim())
const nextOf = (html: string) => /<a href="([^"]*)" rel="next">/.exec(html)?.[1]?.replaceAll('&amp;', '&')

describe('the list of a service', () => {
  const addProducts = async () => {
    await addAll(1, 30, (n) => ({ SKU: `P-${String(n).padStart(2, '0')}`, Name: `Lamp ${n}`, Price: n % 3, Stock: n }))
  }
  const names = (from: number, to: number) =>
    Array.from({ length: Math.abs(to - from) + 1 }, (_, at) => `Lamp ${from + Math.sign(to - from) * at}`)

  test('shows the newest first, and the next page goes on where the first one ended', async () => {
    await addProducts()
    const first = (await merchant.open('/admin/products')).body
    expect(rowsOf(first)).toEqual(names(30, 6))
    expect(first).toContain('30 products')
    const second = (await merchant.open(nextOf(first) ?? '')).body
    expect(rowsOf(second)).toEqual(names(5, 1))
    expect(nextOf(second)).toBeUndefined()
  })

  test('is sorted by a column, records of the same value by their ids, over all pages', async () => {
    await addProducts()
    const byPrice = (n: number) => n % 3
    const expected = names(30, 1).toSorted(
      (one, other) => byPrice(Number(other.slice(5))) - byPrice(Number(one.slice(5))),
    )
    const first = (await merchant.open('/admin/products?sort=-SKUInfo.Price')).body
    const second = (await merchant.open(nextOf(first) ?? '')).body
    expect([...rowsOf(first), ...rowsOf(second)]).toEqual(expected)
    const byTime = (await merchant.open('/admin/products?sort=LastUpdate')).body
    expect([...rowsOf(byTime), ...rowsOf((await merchant.open(nextOf(byTime) ?? '')).body)]).toEqual(names(1, 30))
  })

  test('has every filter of the service, and counts what fits', async () => {
    await addProducts()
    const { body } = await merchant.open('/admin/products?name=lamp%201&stockfrom=10&stockto=12')
    expect(rowsOf(body)).toEqual(names(12, 10))
    expect(body).toContain('3 products')
    for (const { resource, path } of services) {
      if (path === '/admin/orders') continue
      const list = (await merchant.open(path)).body
      for (const name of Object.keys(resource.filters)) expect(list, path).toContain(` name="${name}"`)
    }
  })

  const filterWords = async (path: string, language = 'en') => {
    const { body } = await merchant.open(path, { 'accept-language': language })
    return Object.fromEntries(
      [...body.matchAll(/<label for="(\w+)">([^<]*)</g)].map(([, name, words]) => [name, words]),
    )
  }

  test('calls its filters as the fields that they compare, in the language of the reader', async () => {
    expect(await filterWords('/admin/rma')).toMatchObject({
      rmastatusid: 'Status',
      catalogid: 'Product',
      sku: 'SKU',
      datestart: 'Return date, from',
      dateend: 'Return date, to',
      lastupdatestart: 'Last change, from',
    })
    expect(await filterWords('/admin/orders')).toMatchObject({
      invoicenumber: 'Invoice number',
      invoicenumberend: 'Invoice number, to',
    })
    expect(await filterWords('/admin/customers', 'de-DE')).toMatchObject({ city: 'Ort (Rechnung)', email: 'E-Mail' })
  })

  test('shows the columns that are chosen', async () => {
    await add('Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' }, GTIN: '4006381333931', Weight: 1.5 })
    const { body } = await merchant.open('/admin/products?columns=GTIN&columns=Weight')
    expect([...body.matchAll(/<th role="columnheader"[^>]*>([^<]*)/g)].map(([, label]) => label)).toEqual([
      '',
      'GTIN',
      'Weight',
    ])
    expect(body).toContain('4006381333931')
  })

  test.each([
    ['pricefrom=much', 'pricefrom'],
    ['lastupdatestart=tomorrow', 'lastupdatestart'],
    [`name=${'x'.repeat(256)}`, 'name'],
    ['cursor=1_x', 'cursor'],
    ['cursor=99999999999_1', 'cursor'],
    ['sort=SKUInfo.Price&cursor=1_1e5', 'cursor'],
    ['sort=LastUpdate&cursor=1_2026-13-40T00:00:00%2B00:00', 'cursor'],
  ])('says what is wrong with %s, beside the filters', async (query, field) => {
    const { statusCode, body } = await merchant.open(`/admin/products?${query}`)
    expect(statusCode).toBe(400)
    expect(/role="alert">([\s\S]*?)<\/div>/.exec(body)?.[1]).toContain(field)
    expect(body).toContain('<form method="get" action="/admin/products"')
  })

  test('has nothing of another store', async () => {
    await add('Customers', { Email: 'ada@shop.example', Password: 'secret' })
    const other = await merchantIn(server, (await server.openStore()).store)
    expect((await other.open('/admin/customers')).body).toContain('There are no customers yet.')
  })
})

describe('a list as a file', () => {
  const addLamps = async () => {
    const lamp = (n: number) => {
      const Name = n === 7 ? '=HYPERLINK("https://evil.example")' : `Lamp "${n}", brass\nand glass`
      return { SKU: `P-${n}`, Name, Price: n, Stock: n === 8 ? -2 : n }
    }
    await addAll(1, 60, lamp)
    await addAll(61, 120, lamp)
  }
  const fileOf = async (query: string) => merchant.open(`/admin/products/export?${query}`)

  test('as CSV has every record of the list once, in its order, with formulas disarmed', async () => {
    await addLamps()
    const { headers, body } = await fileOf('format=csv&sort=SKUInfo.Price&priceto=110')
    expect(headers).toMatchObject({
      'content-type': 'text/csv; charset=utf-8; header=present',
      'content-disposition': 'attachment; filename="products-2026-03-10.csv"',
    })
    const rows: Record<string, string>[] = parse(body, { bom: true, columns: true })
    expect(rows.map((row) => row['SKUInfo.SKU'])).toEqual(Array.from({ length: 110 }, (_, at) => `P-${at + 1}`))
    expect(rows[6]?.['SKUInfo.Name']).toBe(`'=HYPERLINK("https://evil.example")`)
    expect(rows[7]).toMatchObject({ 'SKUInfo.Name': 'Lamp "8", brass\nand glass', 'SKUInfo.Stock': '-2' })
  })

  test('as NDJSON has each record as GET answers it', async () => {
    await addLamps()
    const { body } = await fileOf('format=ndjson&sort=SKUInfo.CatalogID&name=lamp')
    const lines = body.trimEnd().split('\n')
    expect(lines).toHaveLength(119)
    const { CatalogID } = JSON.parse(lines[0] ?? '').SKUInfo
    expect(JSON.parse(lines[0] ?? '')).toEqual(await read('Products', CatalogID))
  })

  test('of nothing has its headings alone', async () => {
    expect((await fileOf('format=csv')).body).toMatch(/^\uFEFFSKUInfo\.CatalogID,[^\n]*\n$/)
    expect((await fileOf('format=ndjson')).body).toBe('')
  })

  test.each(['format=xls', 'format=csv&pricefrom=much'])('is refused for %s before it begins', async (query) => {
    const { statusCode, headers } = await fileOf(query)
    expect([statusCode, headers['content-disposition']]).toEqual([400, undefined])
  })

  test('has no password and nothing of another store', async () => {
    await add('Customers', { Email: 'ada@shop.example', Password: 'secret-of-ada' })
    const own = (await merchant.open('/admin/customers/export?format=csv')).body
    expect(own).toContain('ada@shop.example')
    expect(own).not.toContain('secret-of-ada')
    expect(own.split('\n')[0]?.split(',')).not.toContain('Password')
    const other = await merchantIn(server, (await server.openStore()).store)
    expect((await other.open('/admin/customers/export?format=ndjson')).body).toBe('')
  })
})

describe('the page of a record', () => {
  test('shows what is set, with links to the records that it names and to those that name it', async () => {
    const manufacturer = await add('Manufacturers', { ManufacturerName: 'Alder & Finch' })
    const category = await add('Category', { CategoryName: 'Lamps' })
    const product = await add('Products', {
      SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5 },
      ManufacturerID: manufacturer,
      CategoryList: [{ CategoryID: category }],
      FeatureList: [{ FeatureTitle: 'Material', FeatureDescription: 'Brass' }],
    })
    const { body } = await merchant.open(`/admin/products/${product}`)
    for (const text of ['LAMP · Lamp', '42.5', 'Material', 'Brass', 'Not set yet']) expect(body).toContain(text)
    expect(body).toContain(`<a href="/admin/manufacturers/${manufacturer}"><bdi>Alder &amp; Finch</bdi></a>`)
    expect(body).toContain(`<a href="/admin/category/${category}"><bdi>Lamps</bdi></a>`)
    const maker = (await merchant.open(`/admin/manufacturers/${manufacturer}`)).body
    expect(maker).toContain(`Product: <a href="/admin/products/${product}"><bdi>LAMP · Lamp</bdi></a>`)
    expect(maker).toContain('Alder &amp; Finch')
  })

  test('has the name of the record as it is stored', async () => {
    const id = await add('Customers', { Email: 'ada@shop.example', Password: 'secret' })
    expect((await merchant.open(`/admin/customers/${id}`)).body).toContain('<h1>ada@shop.example</h1>')
    expect((await merchant.open('/admin/orderstatus/1')).body).toContain('<h1>New</h1>')
  })

  test('never shows a password', async () => {
    const id = await add('Customers', { Email: 'ada@shop.example', Password: 'secret-of-ada' })
    for (const page of ['', '/edit?section=account']) {
      expect((await merchant.open(`/admin/customers/${id}${page}`)).body).not.toContain('secret-of-ada')
    }
  })

  test('opens for every service with records, and so does the form of each of its parts', async () => {
    const id = await add('Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' } })
    const page = (await merchant.open(`/admin/products/${id}`)).body
    const forms = [...page.matchAll(/href="(\/admin\/products\/\d+\/edit\?section=[^"]*)"/g)].map(
      ([, address = '']) => address,
    )
    expect(forms.length).toBeGreaterThan(20)
    for (const form of forms) expect((await merchant.open(form)).statusCode, form).toBe(200)
  })
})

describe('a form of a record', () => {
  let id: number
  const lamp = {
    SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5, Stock: 10 },
    ShortDescription: 'one\ntwo',
    Hide: true,
    FeatureList: [
      { FeatureTitle: 'Material', FeatureDescription: 'Brass' },
      { FeatureTitle: 'Height', FeatureDescription: '40 cm' },
    ],
  }
  beforeEach(async () => {
    id = await add('Products', lamp)
  })
  const general = () => `/admin/products/${id}/edit?section=name-and-visibility`
  const texts = () => `/admin/products/${id}/edit?section=description`
  const features = () => `/admin/products/${id}/edit?section=features`

  test('says beside a field what its name does not, and offers its numbers with what they mean', async () => {
    const form = async (section: string, language: string) =>
      (await merchant.open(`/admin/products/${id}/edit?section=${section}`, { 'accept-language': language })).body
    const english = await form('stock-keeping', 'en')
    expect(english).toContain('<small id="StockAlert-hint" class="hint">From this stock down, the product counts as')
    expect(english).toMatch(/<option value="2">Back order<\/option>/)
    expect(english).toMatch(/<option value="-1" selected>The store’s default<\/option>/)
    const german = await form('stock-keeping', 'de-DE')
    expect(german).toMatch(/<label id="StockAlert-label" for="StockAlert">Meldebestand\s*</)
    expect(german).toContain('Ab diesem Bestand gilt das Produkt als knapp')
    expect(german).toContain('>Nachlieferung<')
  })

  test('changes what was typed, and nothing else', async () => {
    const before = await read('Products', id)
    server.clock.ms += 1_000
    const form = await merchant.formOf(texts())
    const typed = { ...form, Description: 'Warm', ShortDescription: 'one\r\ntwo' }
    const answer = await merchant.submit(texts(), typed)
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `/admin/products/${id}?notice=record-saved`])
    const { LastUpdate, ...after } = await read('Products', id)
    expect(after).toEqual({
      ...before,
      Description: 'Warm',
      LastUpdate: undefined,
      UserID: 'merchant@shop.example',
    })
    expect(LastUpdate).not.toBe(before.LastUpdate)
  })

  test('that is sent as it was shown changes nothing', async () => {
    const before = await read('Products', id)
    server.clock.ms += 1_000
    for (const address of [general(), features()]) {
      const answer = await merchant.submit(address, await merchant.formOf(address))
      expect([answer.statusCode, answer.headers.location]).toEqual([303, `/admin/products/${id}`])
    }
    expect(await read('Products', id)).toEqual(before)
  })

  test('unticks a box', async () => {
    const address = `/admin/products/${id}/edit?section=name-and-visibility`
    const { Hide, ...form } = await merchant.formOf(address)
    expect(Hide).toBe('true')
    await merchant.submit(address, form)
    expect(await read('Products', id)).toMatchObject({ Hide: false })
  })

  test('of a list changes, removes and adds rows, and the others keep their ids', async () => {
    const [, height] = (await read('Products', id)).FeatureList
    const form = await merchant.formOf(features())
    await merchant.submit(features(), {
      ...form,
      'FeatureList.0.gone': 'yes',
      'FeatureList.1.FeatureDescription': '41 cm',
      'FeatureList.2.FeatureTitle': 'Color',
      'FeatureList.2.FeatureDescription': 'Gold',
    })
    expect((await read('Products', id)).FeatureList).toEqual([
      { ...height, FeatureDescription: '41 cm' },
      { FeatureID: expect.any(Number), FeatureTitle: 'Color', FeatureDescription: 'Gold' },
    ])
  })

  test('shows one more row on demand, and what was typed stays', async () => {
    const form = await merchant.formOf(features())
    const typed = { ...form, 'FeatureList.2.FeatureTitle': 'Color', add: 'FeatureList' }
    const { body } = await merchant.submit(features(), typed, { to: features().replace('?', '/rows?') })
    expect(body).toContain('name="FeatureList.4.FeatureTitle"')
    expect(body).toContain('value="Color"')
    expect((await read('Products', id)).FeatureList).toHaveLength(2)
  })

  test('of lists within lists', async () => {
    const sets = `/admin/products/${id}/edit?section=option-sets`
    await merchant.submit(sets, {
      ...(await merchant.formOf(sets)),
      'OptionSetList.0.OptionSetName': 'Size',
      'OptionSetList.0.OptionList.0.OptionName': 'Small',
    })
    const [set] = (await read('Products', id)).OptionSetList
    expect(set).toMatchObject({ OptionSetName: 'Size', OptionList: [{ OptionName: 'Small' }] })
    const form = await merchant.formOf(sets)
    await merchant.submit(sets, { ...form, 'OptionSetList.0.OptionList.1.OptionName': 'Large' })
    const [after] = (await read('Products', id)).OptionSetList
    expect(after.OptionList).toEqual([set.OptionList[0], expect.objectContaining({ OptionName: 'Large' })])
  })

  test('does not overwrite what somebody else has changed meanwhile: it shows that, and saves when it is sent again', async () => {
    const form = await merchant.formOf(general())
    await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { SKU: 'LAMP-2' } } })
    const typed = { ...form, 'SKUInfo.Name': 'Desk lamp' }
    const refused = await merchant.submit(general(), typed)
    expect(refused.statusCode).toBe(412)
    expect(refused.body).toContain('This product is not as the form showed it. Somebody else has changed it')
    expect(refused.body).toContain('Stored now: LAMP-2')
    expect(refused.body).toContain('value="Desk lamp"')
    expect(await read('Products', id)).toMatchObject({ SKUInfo: { Name: 'Lamp', SKU: 'LAMP-2' } })

    const { etag } = fieldsAt(refused.body, general())
    await merchant.submit(general(), { ...typed, etag: etag ?? '', 'SKUInfo.SKU': 'LAMP-2' })
    expect(await read('Products', id)).toMatchObject({ SKUInfo: { Name: 'Desk lamp', SKU: 'LAMP-2' } })
  })

  test('of a list that somebody else has changed meanwhile shows the list as it is now', async () => {
    const form = await merchant.formOf(features())
    const FeatureList = [{ FeatureTitle: 'Weight', FeatureDescription: '2 kg' }]
    await shop.call('PUT', `/Products/${id}`, { body: { FeatureList } })
    const typed = { ...form, 'FeatureList.0.FeatureDescription': 'Steel' }
    const renewed = await merchant.submit(
      features(),
      { ...typed, add: 'FeatureList' },
      { to: features().replace('?', '/rows?') },
    )
    for (const etag of [form.etag, fieldsAt(renewed.body, features()).etag]) {
      const { statusCode, body } = await merchant.submit(features(), { ...typed, etag: etag ?? '' })
      expect(statusCode).toBe(412)
      expect(body).toContain('Make your changes again')
      expect(body).toContain('value="Weight"')
      expect(body).not.toContain('Steel')
    }
    expect(await read('Products', id)).toMatchObject({ FeatureList })
  })

  test.each([
    [{ 'SKUInfo.SKU': ' ' }, 'SKUInfo.SKU', 'SKU'],
    [{ ManufacturerID: '77' }, 'ManufacturerID', 'Manufacturer'],
    [{ 'SKUInfo.Name': 'x'.repeat(256) }, 'SKUInfo.Name', 'Name'],
  ])('with %j is refused beside its field, and what was typed stays', async (changes, field, label) => {
    const other = field === 'SKUInfo.SKU' ? 'SKUInfo.Name' : 'SKUInfo.SKU'
    const before = await read('Products', id)
    const form = await merchant.formOf(general())
    const answer = await merchant.submit(general(), { ...form, ...changes, [other]: 'typed <b>' })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain(`<a href="#${field}">${label}</a>`)
    expect(answer.body).toContain(`<small id="${field}-problem" class="problem">`)
    expect(answer.body).toContain('value="typed &lt;b&gt;"')
    expect(await read('Products', id)).toEqual(before)
  })

  test('names all that is wrong at once, each with a link to its field, and says so in the title', async () => {
    const form = await merchant.formOf(general())
    const wrong = { 'SKUInfo.SKU': ' ', 'SKUInfo.Name': 'x'.repeat(256) }
    const { body } = await merchant.submit(general(), { ...form, ...wrong })
    const alert = /role="alert">([\s\S]*?)<\/div>/.exec(body)?.[1] ?? ''
    expect([...alert.matchAll(/<a href="#([^"]*)">([^<]*)<\/a>/g)].map(([, ...link]) => link)).toEqual([
      ['SKUInfo.SKU', 'SKU'],
      ['SKUInfo.Name', 'Name'],
    ])
    expect(body).toContain('<title>Error: ')
    expect(body.match(/aria-invalid="true"/g)).toHaveLength(2)
    const added = { Email: 'nobody', BillingFirstName: 'x'.repeat(300) }
    const answer = await merchant.submit('/admin/customers/new', added, { action: '/admin/customers' })
    expect(answer.body.match(/<li><a href="#/g)?.length).toBeGreaterThan(1)
  })

  test('of a row that is refused names the row', async () => {
    const form = await merchant.formOf(features())
    const changes = { 'FeatureList.0.gone': 'yes', 'FeatureList.1.FeatureTitle': 'x'.repeat(151) }
    const { statusCode, body } = await merchant.submit(features(), { ...form, ...changes })
    expect(statusCode).toBe(400)
    expect(body).toContain('<small id="FeatureList.1.FeatureTitle-problem" class="problem">')
  })
})

test('the list of all kinds of records is called as the menu calls it', async () => {
  const { body } = await merchant.open('/admin/records')
  expect(body).toContain('<a href="/admin/records" aria-current="page">More records</a>')
  expect(body).toContain('<h1>More records</h1>')
})

describe('a new record', () => {
  test('is added with what was typed, and defaults for the rest', async () => {
    const address = '/admin/customers/new'
    const form = await merchant.formOf(address, '/admin/customers')
    const typed = { ...form, Email: 'ada@shop.example', Password: 'secret', BillingCity: 'London' }
    const answer = await merchant.submit(address, typed, { action: '/admin/customers' })
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/admin/customers/1?notice=record-created'])
    expect(await read('Customers', 1)).toMatchObject({
      Email: 'ada@shop.example',
      BillingCity: 'London',
      Enabled: true,
    })
  })

  test('is shown again whatever was sent twice', async () => {
    const typed = { 'SKUInfo.Name': ['Lamp', 'Lamp'], Description: ['<p>Warm</p>', '<p>Warm</p>'] }
    const answer = await merchant.submit('/admin/products/new', typed, {
      action: '/admin/products',
      to: '/admin/products/new',
    })
    expect(answer.statusCode).toBe(200)
    expect(answer.body).not.toContain('Warm')
  })

  test('of a product asks for six fields first, of which one is a category, and for all others below', async () => {
    const address = '/admin/products/new'
    const { body } = await merchant.open(address)
    const asked = /<form method="post" action="\/admin\/products"[\s\S]*?<summary>More<\/summary>/.exec(body)?.[0] ?? ''
    const fields = (html: string) => [...html.matchAll(/<label id="([^"]*)-label"/g)].map(([, name]) => name)
    const category = 'CategoryList.0.CategoryID'
    const first = ['SKUInfo.Name', 'SKUInfo.SKU', 'SKUInfo.Price', 'SKUInfo.Stock', category, 'Description']
    expect(fields(asked)).toEqual(first)
    expect(fields(body)).toEqual([...new Set(fields(body))])
    for (const name of ['ManufacturerID', 'SKUInfo.Cost', 'ExtraField13']) expect(fields(body)).toContain(name)

    const lamps = await add('Category', { CategoryName: 'Lamps' })
    const typed = { 'SKUInfo.Name': 'Lamp', 'SKUInfo.SKU': 'LAMP', [category]: 'Nothing like it' }
    const refused = await merchant.submit(address, typed, { action: '/admin/products' })
    expect(refused.statusCode).toBe(400)
    expect(refused.body).toContain(`<small id="${category}-problem" class="problem">`)
    expect(refused.body).toContain('value="Nothing like it"')
    const sent = await merchant.submit(address, { ...typed, [category]: 'lamps' }, { action: '/admin/products' })
    expect(sent.headers.location).toBe('/admin/products/1?notice=record-created')
    expect(await read('Products', 1)).toMatchObject({
      SKUInfo: { Name: 'Lamp' },
      CategoryList: [{ CategoryID: lamps }],
    })
    const next = (await merchant.open('/admin/products/1')).body
    expect(next).toContain('<a href="/admin/products/1/pictures" class="button">Add pictures</a>')
  })

  test('is refused beside its field, and what was typed stays; never the password', async () => {
    const typed = { Email: 'nobody', Password: 'secret-of-ada', BillingCity: 'Köln' }
    const answer = await merchant.submit('/admin/customers/new', typed, { action: '/admin/customers' })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toContain('<small id="Email-problem" class="problem">')
    expect(answer.body).toContain('value="Köln"')
    expect(answer.body).not.toContain('secret-of-ada')
    expect((await shop.call('GET', '/Customers')).statusCode).toBe(404)
  })

  test('marks all that it needs, a password too, which an update may leave out', async () => {
    const marked = async (address: string) =>
      [...(await merchant.open(address)).body.matchAll(/for="([\w.]+)">[^<]* <small>\(required\)/g)].map(
        ([, name]) => name,
      )
    expect(await marked('/admin/customers/new')).toEqual(['Email', 'Password'])
    await shop.call('POST', '/Customers', { body: [{ Email: 'ada@shop.example', Password: 'secret' }] })
    expect(await marked('/admin/customers/1/edit')).toEqual(['Email'])
  })

  test('unfolds the parts where something was typed, or is wrong', async () => {
    const address = '/admin/customers/new'
    const form = await merchant.formOf(address, '/admin/customers')
    const folded = ({ body }: { body: string }) =>
      [...body.matchAll(/<details( open)?>/g)].map(([, open]) => open ?? '')
    const first = folded(await merchant.open(address))
    expect([first.length > 2, new Set(first)]).toEqual([true, new Set([''])])
    const typed = { ...form, Email: 'nobody', BillingCity: 'Köln', ShippingFirstName: 'x'.repeat(300) }
    const refused = folded(await merchant.submit(address, typed, { action: '/admin/customers' }))
    expect(refused.filter((open) => open !== '')).toHaveLength(2)
  })

  test('is offered where programs may add one', async () => {
    for (const { resource, path } of services) {
      const isAllowed = resource.methods.includes('POST')
      const { statusCode } = await merchant.open(`${path}/new`)
      if (path !== '/admin/orders') expect([path, statusCode]).toEqual([path, isAllowed ? 200 : 400])
    }
  })
})

describe('deleting a record', () => {
  test('says first what becomes of those that refer to it', async () => {
    const manufacturer = await add('Manufacturers', { ManufacturerName: 'Alder' })
    const product = await add('Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' }, ManufacturerID: manufacturer })
    const address = `/admin/manufacturers/${manufacturer}/delete`
    const question = (await merchant.open(address)).body
    expect(question).toContain('They stay, without the reference')
    expect(question).toContain(`/admin/products/${product}`)
    const answer = await merchant.submit(address, {})
    expect([answer.statusCode, answer.headers.location]).toEqual([303, '/admin/manufacturers?notice=record-deleted'])
    expect(await read('Products', product)).toMatchObject({ ManufacturerID: 0 })
  })

  test('is not offered as long as it would be refused', async () => {
    const parent = await add('Category', { CategoryName: 'Lamps' })
    await add('Category', { CategoryName: 'Desk lamps', CategoryParent: parent })
    const { body } = await merchant.open(`/admin/category/${parent}/delete`)
    expect(body).toContain('It cannot be deleted as long as these records refer to it')
    expect(body).not.toContain('<form method="post" action="/admin/category')
  })
})

describe('a view of a list', () => {
  const keep = (query: string, name: string, who = merchant) =>
    who.submit(`/admin/orders?${query}`, { name }, { action: `/admin/orders/views?${query}` })
  const viewsOf = async (who = merchant) => {
    const { body } = await who.open('/admin/orders')
    const [nav = ''] = /<nav aria-label="Views"[\s\S]*?<\/nav>/.exec(body) ?? []
    return [...nav.matchAll(/<a href="\/admin\/orders\?([^"]+)"[^>]*>([^<]+)</g)].map(
      ([, query, name]) => `${name}: ${query}`,
    )
  }

  test('is kept for the person alone, in place of one of its name, until it is deleted', async () => {
    const colleague = await memberIn(server, shop, 'manager')
    expect((await keep('orderstatus=11', ' Unpaid ')).statusCode).toBe(303)
    expect(await viewsOf()).toEqual(['Unpaid: orderstatus=11'])
    expect(await viewsOf(colleague)).toEqual([])
    await keep('orderstatus=1', 'Unpaid')
    expect(await viewsOf()).toEqual(['Unpaid: orderstatus=1'])
    const shown = (await merchant.open('/admin/orders?orderstatus=1')).body
    expect(shown).toMatch(/aria-current="page">Unpaid</)
    await merchant.submit('/admin/orders?orderstatus=1', { name: 'Unpaid' }, { action: '/admin/orders/views/delete' })
    expect(await viewsOf()).toEqual([])
  })

  test('needs a name of 1 to 50 characters, and is one of 20', async () => {
    for (const name of ['', ' ', 'x'.repeat(51), 'a\nb']) {
      const { statusCode, body } = await keep('orderstatus=1', name)
      expect([statusCode, body.includes('must have 1 to 50 characters')]).toEqual([400, true])
    }
    await Promise.all(Array.from({ length: 22 }, (_, n) => keep(`find=${n}`, `View ${n}`)))
    expect(await viewsOf()).toHaveLength(20)
    expect((await keep('find=more', 'One more')).body).toContain('You keep 20 views of this list')
  })
})
