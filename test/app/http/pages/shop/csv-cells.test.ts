import { parse } from 'csv-parse/sync'
import { describe, expect, test } from 'vitest'
import { canImport, services } from '../../../../../src/http/pages/records/services.ts'
import { columnsOf, isTaken, namingOf } from '../../../../../src/shop/csv/lines/columns.ts'
import { placeOrder } from '../../../../../src/shop/resources/orders/place-order.ts'
import type { TestPerson } from '../../../../support/person.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'
import { csvPages, wordsOf } from './csv-fixture.ts'
import { withMerchant } from './merchant-fixture.ts'

let server: TestServer
let shop: TestStore
let merchant: TestPerson
const { takeIn, refusalOf, apply, linesAt, countsAt } = csvPages(() => ({ server, merchant }))

withMerchant((scene) => ({ server, shop, merchant } = scene))

const add = (service: string, body: object) => shop.add(`/${service}`, body)
const read = async (service: string, id: number) => (await shop.call('GET', `/${service}/${id}`)).json()[0]
const product = (sku: string, others: object = {}) =>
  add('Products', { SKUInfo: { SKU: sku, Name: `Product ${sku}`, Price: 1, Stock: 1 }, ...others })

/** What the form for files says of a column. */
async function saidIn(path: string, column: string, of: 'Meaning' | 'What is allowed'): Promise<string> {
  const { body } = await merchant.open(`${path}/csv`)
  const row =
    body.match(/<tr role="row">[\s\S]*?<\/tr>/g)?.find((each) => each.includes(`<code>${column}</code>`)) ?? ''
  return wordsOf(row.split(`data-label="${of}">`)[1]?.split('</td>')[0] ?? '')
}

/** The cell of what a file changes in its second line, or of what is wrong with it. */
async function saidOf(file: string | Buffer, show: 'changes' | 'errors' | 'new' = 'changes'): Promise<string> {
  const [line] = await linesAt(await takeIn('products', file), show)
  return line?.at(-1) ?? ''
}

/** Adds the products P-1, P-2 and so on, with these members. */
async function products(members: readonly object[]): Promise<void> {
  const body = members.map((each, at) => ({
    SKUInfo: { SKU: `P-${at + 1}`, Name: 'Name', Price: 1, Stock: 1 },
    ...each,
  }))
  expect((await shop.call('POST', '/Products', { body })).statusCode).toBe(201)
}

/** What a file says of each of its lines: a SKU and what else the line has. */
async function saidOfAll(head: string, lines: readonly string[], show: 'changes' | 'errors' = 'changes') {
  const address = await takeIn('products', `SKUInfo.SKU${head}\n${lines.join('\n')}\n`)
  return (await linesAt(address, show)).map((line) => line.at(-1))
}

describe('a character that text cannot have (U+0000)', () => {
  test.each(services.filter(canImport))('is an error of its line in every column of $all', async (service) => {
    const { resource } = service
    const path = service.path.slice('/admin/'.length)
    const names = columnsOf(resource)
      .filter(isTaken)
      .map(({ name }) => name)
    const file = `${names.join()}\n${names.map(() => '1\0').join()}\n`
    for (const bytes of [Buffer.from(file), Buffer.from(`\uFEFF${file}`, 'utf16le')]) {
      const [line] = await linesAt(await takeIn(path, bytes), 'errors')
      const named = line
        ?.at(-1)
        ?.split(' | ')
        .map((problem) => problem.split(' ')[0])
      expect(named?.toSorted()).toEqual(names.toSorted())
    }
  })

  test('is named by its column, and leaves the other lines alone', async () => {
    await product('P-1')
    await product('P-2')
    const address = await takeIn('products', 'SKUInfo.SKU,ShortDescription\nP-1,a\0b\nP-2,ab\nP\0,c\n')
    const problem = 'holds a character that text cannot have (U+0000 or half of a surrogate pair)'
    expect(await linesAt(address, 'errors')).toEqual([
      ['2', 'P-1', `ShortDescription “a\uFFFDb” ${problem}`],
      ['4', 'P\uFFFD', `SKUInfo.SKU “P\uFFFD” ${problem}`],
    ])
    expect(await countsAt(address)).toEqual(['Changes (1)', 'Errors (2)'])
  })
})

describe('a column that refers to records of another service', () => {
  const columns = services
    .filter(canImport)
    .flatMap((service) =>
      columnsOf(service.resource).flatMap((column) =>
        column.target ? [{ service, column, target: column.target }] : [],
      ),
    )

  test('is every one whose page takes a number or a name', async () => {
    expect(columns.map(({ service, column }) => `${service.resource.service} ${column.name}`)).toEqual([
      'Category CategoryParent',
      'Products ManufacturerID',
      'Products AllowAccessCustomerGroupID',
      'Customers CustomerGroupID',
      'Orders CustomerID',
      'Orders OrderStatusID',
    ])
    for (const { service, column } of columns) {
      expect(await saidIn(service.path, column.name, 'What is allowed')).toMatch(/^(A number or name|Number(, | or ))/)
    }
  })

  const bodies: Record<string, (name: string) => object> = {
    Category: (CategoryName) => ({ CategoryName }),
    Manufacturers: (ManufacturerName) => ({ ManufacturerName }),
    CustomerGroups: (Name) => ({ Name }),
    Customers: (BillingLastName) => ({
      BillingLastName,
      Email: `${BillingLastName.replace(/\W/g, '')}${Math.random()}@shop.example`,
      Password: 'secret',
    }),
  }

  test.each(columns.filter(({ column }) => column.field.names === undefined))(
    'takes names in $column.name of $service.all',
    async ({ service, column, target }) => {
      const { resource } = service
      const name = 'Möbel und Söhne'
      const id = await add(target.service, bodies[target.service]?.(name) ?? {})
      const [one, other] = [
        await add(target.service, bodies[target.service]?.('Twice') ?? {}),
        await add(target.service, bodies[target.service]?.('twice') ?? {}),
      ]
      const path = service.path.slice('/admin/'.length)
      const record = resource.service === 'Orders' ? await placeOrder() : await recordOf(resource.service)
      const { key } = namingOf(resource)
      const file = (value: string | number) => `${key.name},${column.name}\n${record},${value}\n`
      for (const missing of ['Nobody', 999_999, 4_000_000_000]) {
        expect((await linesAt(await takeIn(path, file(missing)), 'errors'))[0]?.at(-1)).toBe(
          `${column.name} “${missing}” names no ${target.typeName} of the store, by number or by name`,
        )
      }
      expect((await linesAt(await takeIn(path, file('TWICE ')), 'errors'))[0]?.at(-1)).toBe(
        `${column.name} “TWICE ” is the name of several ${target.typeName} records, such as ${one} and ${other}. Give the number`,
      )
      const address = await takeIn(path, file(name.toUpperCase()))
      expect((await linesAt(address, 'changes'))[0]?.at(-1)).toBe(`${column.name} 0 → ${id} (${name.toUpperCase()})`)
      await apply(address)
      expect((await read(resource.service, record))[column.name]).toBe(id)
      // The number and the name say the same.
      for (const same of [id, `0${id}`, name])
        expect(await countsAt(await takeIn(path, file(same)))).toEqual(['Unchanged (1)'])
      await apply(await takeIn(path, file(0)))
      expect((await read(resource.service, record))[column.name]).toBe(0)
    },
  )

  const recordOf = (service: string) =>
    service === 'Products' ? product('P-1') : add(service, bodies[service]?.('The record') ?? {})

  async function placeOrder(): Promise<number> {
    await product('LAMP')
    const fields = { 'ItemID.1': 'LAMP', 'ItemQuantity.1': '1', BillingEmail: 'ada@shop.example' }
    const { statusCode } = await merchant.submit('/admin/orders/new', fields, { action: '/admin/orders' })
    expect(statusCode).toBe(303)
    return 1
  }

  test('takes the texts of order statuses, and promises none that the store does not have', async () => {
    await placeOrder()
    const file = (value: string | number) => `OrderID,OrderStatusID\n1,${value}\n`
    for (const missing of [0, 99, 'Nowhere']) {
      expect((await linesAt(await takeIn('orders', file(missing)), 'errors'))[0]?.at(-1)).toBe(
        `OrderStatusID “${missing}” names no OrderStatus of the store, by number or by name`,
      )
    }
    await apply(await takeIn('orders', file('processing')))
    expect(await read('Orders', 1)).toMatchObject({ OrderStatusID: 2 })
    expect(await countsAt(await takeIn('orders', file(2)))).toEqual(['Unchanged (1)'])
  })

  test('takes names of records that are there by a new line', async () => {
    const id = await add('Manufacturers', { ManufacturerName: 'Acme' })
    const address = await takeIn('products', 'SKUInfo.SKU,SKUInfo.Name,ManufacturerID\nP-9,Lamp,acme\n')
    await apply(address)
    expect((await shop.call('GET', '/Products?sku=P-9')).json()[0].ManufacturerID).toBe(id)
  })
})

test('an e-mail address that is none is an error of its line, in a new one too, and one that is stored stays', async () => {
  const id = await add('Customers', { Email: 'ada@shop.example', Password: 'secret' })
  await server.database.db.customer.updateMany({
    where: { storeId: shop.store.id, id },
    data: { email: 'ada at home' },
  })
  const file = `CustomerID,Email,Password,BillingCity\n${id},ada at home,,Rome\n${id},nobody,,\n,new@,secret,Oslo\n`
  const address = await takeIn(
    'customers',
    file.replace(`${id},nobody`, `${await add('Customers', { Email: 'b@c.example', Password: 'secret' })},nobody`),
  )
  expect(await countsAt(address)).toEqual(['Changes (1)', 'Errors (2)'])
  expect((await linesAt(address, 'errors')).map((line) => line.at(-1))).toEqual([
    'Email “nobody” must be an e-mail address such as name@shop.example',
    'Email “new@” must be an e-mail address such as name@shop.example',
  ])
  await apply(address)
  expect(await countsAt(address)).toEqual(['Changed (1)', 'Errors (2)'])
})

test('cells that a row leaves out at its end are not given, and empty nothing', async () => {
  const id = await product('P-1', { ShortDescription: 'Short', Hide: true })
  const file = 'SKUInfo.SKU,SKUInfo.Price,ShortDescription,Hide\nP-1,2\nP-1 ,3,,,\n'
  const address = await takeIn('products', file)
  expect(await linesAt(address, 'changes')).toEqual([['2', 'P-1', 'SKUInfo.Price 1 → 2']])
  await apply(address)
  expect(await read('Products', id)).toMatchObject({ ShortDescription: 'Short', Hide: true, SKUInfo: { Price: 2 } })
})

test('flags are written in several ways', async () => {
  const flags = { Yes: true, y: true, ' TRUE ': true, 1: true, No: false, N: false, false: false }
  await products(Object.values(flags).map((value) => ({ Hide: !value })))
  const lines = Object.keys(flags).map((text, at) => `P-${at + 1},${text}`)
  const changes = Object.values(flags).map((value) => `Hide ${!value} → ${value}`)
  expect(await saidOfAll(',Hide', lines)).toEqual(changes)
})

test('a number out of its bounds is an error of a stored and of a new record', async () => {
  const columns = ['SKUInfo.Price', 'SKUInfo.SalePrice', 'PriceLevel3', 'SKUInfo.Cost', 'Weight', 'SKUInfo.Stock']
  const wrong = [
    ['SKUInfo.Price', '-5', 'must not be below 0'],
    ['SKUInfo.SalePrice', '-0.01', 'must not be below 0'],
    ['PriceLevel3', '-1', 'must not be below 0'],
    ['SKUInfo.Cost', '0.00001', 'must have at most 4 decimals'],
    ['Weight', '1e-5', 'must have at most 4 decimals'],
    ['SKUInfo.Stock', '12.34567', 'must have at most 4 decimals'],
    ['SKUInfo.Price', '12,50 €', 'must be a number in digits: it has "€"'],
  ]
  await products(wrong.map(() => ({})))
  const cellsOf = (column?: string, text?: string) => columns.map((of) => (of === column ? `"${text}"` : '')).join()
  const linesOf = (prefix: string) => wrong.map(([of, text], at) => `${prefix}${at + 1},Name,${cellsOf(of, text)}`)
  const problems = wrong.map(([column, text, problem]) => `${column} “${text}” ${problem}`)
  const lines = [...linesOf('P-'), ...linesOf('NEW-')]
  expect(await saidOfAll(`,SKUInfo.Name,${columns}`, lines, 'errors')).toEqual([...problems, ...problems])
})

test('what a program stored is unchanged in a file, and what sums of floats leave is no decimal', async () => {
  const id = await product('P-1')
  await shop.call('PUT', `/Products/${id}`, { body: { SKUInfo: { Price: -5 } } })
  expect(await countsAt(await takeIn('products', 'SKUInfo.SKU,SKUInfo.Price\nP-1,-5\n'))).toEqual(['Unchanged (1)'])
  expect(await saidOf(`SKUInfo.SKU,SKUInfo.Price\nP-1,${0.1 + 0.2}\n`)).toBe('SKUInfo.Price -5 → 0.3')
})

test('a sum has the decimals of the currency', async () => {
  await product('P-1')
  await placeOrder(shop.caller, { BillingEmail: 'a@shop.example', OrderItemList: [{ ItemID: 'P-1', ItemQuantity: 1 }] })
  const [line] = await linesAt(await takeIn('orders', 'OrderID,SalesTax\n1,5.005\n'), 'errors')
  expect(line?.at(-1)).toBe('SalesTax “5.005” must have at most 2 decimals in USD')
})

describe('a decimal comma', () => {
  test('is read in a semicolon file where it has one reading', async () => {
    const read = {
      '12,5': '12.5',
      '0,125': '0.125',
      '+,5': '0.5',
      '1234,567': '1234.567',
      '1.234,56': '1234.56',
      '1.234.567,891': '1234567.891',
      '1,2345': '1.2345',
      '7.25': '7.25',
    }
    await products(Object.keys(read).map(() => ({})))
    const lines = Object.keys(read).map((text, at) => `P-${at + 1};${text}`)
    const changes = Object.values(read).map((value) => `SKUInfo.Price 1 → ${value}`)
    expect(await saidOfAll(';SKUInfo.Price', lines)).toEqual(changes)
  })

  test.each([
    [';', '1,234,567', 'has a comma'],
    [';', '1,234.5', 'has a comma'],
    ['\t', '12,5', 'has a comma'],
    [',', '"12,5"', 'has a comma'],
    [',', '"1,234"', 'can be read as 1.234 and as 1234'],
  ])('is refused with advice otherwise: %j %s', async (separator, text, problem) => {
    await product('P-1')
    expect(await saidOf(`SKUInfo.SKU${separator}SKUInfo.Price\nP-1${separator}${text}\n`, 'errors')).toBe(
      `SKUInfo.Price “${text.replaceAll('"', '')}” ${problem}. Use a point for decimals, and nothing between thousands`,
    )
  })

  test('is in doubt in a semicolon file like a point where thousands may begin', async () => {
    const doubtful = [
      ['1,234', '1.234', '1234'],
      ['-12,000', '-12.000', '-12000'],
      ['1.299', '1.299', '1299'],
      ['1.000', '1.000', '1000'],
      ['+999.125', '+999.125', '+999125'],
    ]
    const advised = doubtful.flatMap(([, decimal, whole]) => [`${decimal}0`, `${whole}`])
    await products(advised.map(() => ({})))
    for (const column of ['SKUInfo.Price', 'StockAlert', 'ManufacturerID', 'SKUInfo.CatalogID']) {
      const given = doubtful.filter(([text]) => column === 'SKUInfo.Price' || text === '1.000')
      const lines = given.flatMap(([text], at) => [`P-${at + 1};${text};Name`, `NEW-${at};${text};Name`])
      const problems = given.map(([text, decimal, whole]) => {
        const advice = `Write ${decimal}0 or ${whole}`
        return expect.stringContaining(`${column} “${text}” can be read as ${decimal} and as ${whole}. ${advice}`)
      })
      const said = await saidOfAll(`;${column};SKUInfo.Name`, lines, 'errors')
      expect(said).toEqual(problems.flatMap((problem) => [problem, problem]))
    }
    expect(
      await saidOfAll(
        ';Weight',
        advised.map((text, at) => `P-${at + 1};${text}`),
      ),
    ).toEqual(advised.map((text) => `Weight 0 → ${Number(text)}`))
  })

  test('is looked for in whole numbers that are none, and beside other errors', async () => {
    await product('P-1')
    const advice = 'can be read as 1.299 and as 1299. Write 1.2990 or 1299'
    expect(await saidOf('SKUInfo.SKU;StockAlert\nP-1;1.299\n', 'errors')).toBe(`StockAlert “1.299” ${advice}`)
    expect(await saidOf('SKUInfo.SKU;SKUInfo.Price;ManufacturerID\nP-1;1.299;Nobody\n', 'errors')).toBe(
      `SKUInfo.Price “1.299” ${advice} | ManufacturerID “Nobody” names no Manufacturer of the store, by number or by name`,
    )
  })

  test('and a point leave a number unchanged that is written as exports write the stored one', async () => {
    const id = await product('P-1', { Weight: 1.299 })
    await add('Manufacturers', { ManufacturerName: '1.234' })
    expect((await read('Products', id)).Weight).toBe(1.299)
    expect(await countsAt(await takeIn('products', 'SKUInfo.SKU;Weight\nP-1; 1.299\n'))).toEqual(['Unchanged (1)'])
    expect(await countsAt(await takeIn('products', 'SKUInfo.SKU;Weight\nP-1;1.298\n'))).toEqual(['Errors (1)'])
    expect(await countsAt(await takeIn('products', 'SKUInfo.SKU,Weight\nP-1,1.298\n'))).toEqual(['Changes (1)'])
    // No number, but a name.
    expect(await saidOf('SKUInfo.SKU;ManufacturerID\nP-1;1.234\n')).toBe('ManufacturerID 0 → 1 (1.234)')
  })

  test('is no part of a whole number', async () => {
    await product('P-1')
    expect(await saidOf('SKUInfo.SKU;StockAlert\nP-1;12,0\n')).toBe('StockAlert 0 → 12')
    expect(await saidOf('SKUInfo.SKU;StockAlert\nP-1;12,5\n', 'errors')).toBe(
      'StockAlert “12,5” must be a whole number from -2147483648 to 2147483647',
    )
  })

  test('is text in a text', async () => {
    await product('P-1')
    expect(await saidOf('SKUInfo.SKU;ShortDescription\nP-1;12,5\n')).toBe('ShortDescription 12,5')
  })
})

test.each(services.filter(canImport))('the identifier of $all is a number from 1', async ({ resource, path }) => {
  const { key } = namingOf(resource)
  const other = columnsOf(resource).find((column) => isTaken(column) && column.field.access === 'rw')
  const file = (id: string) => `${key.name},${other?.name}\n${id},x\n`
  for (const id of ['0', '-1', '1.5', 'x', '2147483648', '00']) {
    const [line] = await linesAt(await takeIn(path.slice('/admin/'.length), file(id)), 'errors')
    expect(line?.at(-1)).toContain(`${key.name} “${id}” must be a whole number from 1 to 2147483647`)
  }
  expect(await saidIn(path, key.name, 'What is allowed')).toBe('A whole number from 1')
  expect(await saidIn(path, key.name, 'Meaning')).toBe(key.field.label)
})

describe('what a spreadsheet seems to have changed is marked', () => {
  const zeros = 'is the stored value without its leading zeros, which spreadsheets remove.'
  const shortened = 'looks like a long number that a spreadsheet has shortened.'

  test('with what it is, on a tab of its own, and stays a change', async () => {
    const ada = await add('Customers', { Email: 'ada@shop.example', Password: 'secret', BillingZipCode: '02134' })
    await add('Customers', { Email: 'bob@shop.example', Password: 'secret', BillingZipCode: '2134' })
    const address = await takeIn(
      'customers',
      'Email,BillingZipCode,BillingPhoneNumber,BillingCity\nbob@shop.example,2134,1,Rome\nada@shop.example,2134,4.91512E+11,Rome\n',
    )
    expect(await countsAt(address)).toEqual(['Worth a look (1)', 'Changes (2)'])
    const change = `BillingZipCode 02134 → 2134 | check “2134” ${zeros} | BillingPhoneNumber 4.91512E+11 | check “4.91512E+11” ${shortened}`
    expect(await linesAt(address, 'marked')).toEqual([['3', 'ada@shop.example', change]])
    expect((await linesAt(address, 'changes'))[1]).toEqual(['3', 'ada@shop.example', `${change} | BillingCity Rome`])
    const { body } = await merchant.open(address)
    expect(wordsOf(body)).toContain('1 line is worth a look. Show what to check before you go on. Correct')
    await apply(address)
    expect((await read('Customers', ada)).BillingZipCode).toBe('2134')
    expect(await countsAt(address)).toEqual(['Changed (2)'])
  })

  test('and nothing else', async () => {
    const slips = [
      ['0099', '99', zeros],
      ['000', '0', zeros],
      ['x', '9.00E+19', shortened],
      ['x', '-1,5e-7', shortened],
    ]
    const others = [
      ['0099', '099x'],
      ['99', '0099'],
      ['0990', '99'],
      ['x', '12E'],
      ['x', 'SKU-1E5'],
    ]
    const all = [...slips, ...others]
    await products(all.map(([MFGID]) => ({ MFGID })))
    const said = await saidOfAll(
      ';MFGID',
      all.map(([, after], at) => `P-${at + 1};${after}`),
    )
    expect(said).toEqual([
      ...slips.map(([before, after, mark]) => `MFGID ${before} → ${after} | check “${after}” ${mark}`),
      ...others.map(([before, after]) => `MFGID ${before} → ${after}`),
    ])
  })

  test('a new SKU that another one has with leading zeros', async () => {
    await product('000734')
    const file = 'SKUInfo.SKU,SKUInfo.Name,SKUInfo.Stock\n734,Lamp,3\n735,Chair,3\n'
    const address = await takeIn('products', file)
    expect(await countsAt(address)).toEqual(['Worth a look (1)', 'New (2)'])
    const mark = 'is new, but 000734 exists: spreadsheets remove leading zeros'
    expect((await linesAt(address, 'marked'))[0]?.at(-1)).toContain(`SKUInfo.SKU 734 | check “734” ${mark}.`)
    // Without a name it could not be added, which would say nothing about the zeros.
    expect(await saidOf('SKUInfo.SKU,SKUInfo.Stock\n734,3\n', 'errors')).toBe(
      `SKUInfo.Name is required and must not be empty | SKUInfo.SKU “734” ${mark}`,
    )
    expect(await saidOf('SKUInfo.SKU,SKUInfo.Stock\n9.4E+21,3\n', 'errors')).toBe(
      `SKUInfo.Name is required and must not be empty | SKUInfo.SKU “9.4E+21” ${shortened.slice(0, -1)}`,
    )
  })

  test('and is not counted in a line that is refused when the file is known', async () => {
    const one = await product('01')
    await product('1')
    const address = await takeIn('products', `SKUInfo.CatalogID,SKUInfo.SKU\n${one},1\n`)
    expect(await countsAt(address)).toEqual(['Errors (1)'])
    expect((await merchant.open(address)).body).not.toContain('worth a look')
  })
})

describe('a file is refused with what helps', () => {
  test.each([
    [
      'bars between its cells',
      'SKUInfo.SKU|Hide\nP-1|1\n',
      'separated by "|". Separate them by commas, semicolons or tabs.',
    ],
    ['a title', 'Price list\n\nSKUInfo.SKU,Hide\nP-1,1\n', 'The headings are at line 3. Delete the lines above them'],
    ['a title, and semicolons', 'Prices, 2026\nSKUInfo.SKU;Hide\nP-1;1\n', 'The headings are at line 2.'],
  ])('with %s', async (_what, file, refusal) => {
    expect(await refusalOf('products', file)).toContain(refusal)
    expect(await server.database.db.csvImport.count({ where: { storeId: shop.store.id } })).toBe(0)
  })

  test('but not for a first line that names the separator, or the end mark of DOS', async () => {
    await product('P-1')
    expect(await saidOf('sep=;\r\nSKUInfo.SKU;SKUInfo.Price\r\nP-1;2,5\r\n\x1A')).toBe('SKUInfo.Price 1 → 2.5')
  })
})

test('an export has no formula that begins with a line break or a full-width sign, and comes back unchanged', async () => {
  const texts = ['\n=1+1', '＝1+1', '＋1', '－1', '＠x', "'\n=1", '\r\n@x']
  for (const [n, text] of texts.entries()) await product(`＝${n}`, { ShortDescription: text })
  const file = (await merchant.open('/admin/products/export?format=csv')).body
  const rows = parse(file, { bom: true }) as string[][]
  expect(
    rows
      .slice(1)
      .flat()
      .filter((cell) => /^[=+@\t\r\n＝＋－＠]/.test(cell)),
  ).toEqual([])
  expect(await countsAt(await takeIn('products', file))).toEqual([`Unchanged (${texts.length})`])
})
