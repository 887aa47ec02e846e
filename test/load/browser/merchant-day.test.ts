import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { placeOrder } from '../../../src/shop/resources/orders/place-order.ts'
import type { TestStore } from '../../support/store.ts'
import {
  hasBrowser,
  inspect,
  type ListeningServer,
  launchBrowser,
  openContext,
  openListeningServer,
  picture,
} from './browser.ts'

// A day of a merchant, as people have it: at a desk, and on a phone whose browser runs no script.

const desk = { viewport: { width: 1280, height: 850 } } as const
const phone = { viewport: { width: 390, height: 844 }, javaScriptEnabled: false } as const
const places = [
  { place: 'desk', options: desk },
  { place: 'phone', options: phone },
] as const

/** In each language, with its own way to write numbers; forms are found by the names of their fields. All of them are for pictures. */
const allAfternoons = [
  { place: 'desk', language: 'English', options: { ...desk, locale: 'en-US' }, sign: '.', paid: '127.50' },
  { place: 'phone', language: 'English', options: { ...phone, locale: 'en-US' }, sign: '.', paid: '127.50' },
  { place: 'dark desk', language: 'German', options: { ...desk, ...german() }, sign: ',', paid: '127,50' },
  { place: 'dark phone', language: 'German', options: { ...phone, ...german() }, sign: ',', paid: '127,50' },
]

const afternoons = process.env.SCREENSHOTS
  ? allAfternoons
  : [allAfternoons[0], allAfternoons[3]].flatMap((one) => one ?? [])

function german() {
  return { locale: 'de-DE', colorScheme: 'dark' } as const
}

describe.skipIf(!hasBrowser)('a day of a merchant', () => {
  let browser: Browser
  let server: ListeningServer
  let context: BrowserContext
  let faults: string[]

  beforeAll(async () => {
    server = await openListeningServer()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })
  afterEach(async () => {
    await context?.close()
    expect(faults).toEqual([])
  })

  test.each(places)('at a $place', async ({ place, options }) => {
    faults = []
    context = await openContext(browser, server.origin, faults, options)
    const shop = await openShop(server)
    const page = await context.newPage()
    let pictures = 0
    const look = (name: string) => picture(page, `day-${place}-${String(++pictures).padStart(2, '0')}-${name}`)
    await signIn(page, shop)

    await goTo(page, 'Orders')
    await look('orders')
    await page.getByRole('link', { name: 'AB-1000' }).click()
    await look('an order came in')
    await ship(page, { quantity: '1', tracking: '1Z 999' })
    await look('partly shipped')
    expect(await orderOf(shop)).toMatchObject({
      OrderStatusID: 3,
      ShipmentList: [{}, { ShipmentTrackingCode: '1Z 999' }],
    })

    await page.getByRole('link', { name: 'Packing slip of parcel 1' }).click()
    await page.waitForURL(/\/packing-slip\?shipment=/)
    await page.emulateMedia({ media: 'print' })
    await look('packing slip')
    await page.getByRole('link', { name: 'Back to the order' }).waitFor({ state: 'hidden' })
    await page.emulateMedia({ media: 'screen' })
    await page.getByRole('link', { name: 'Back to the order' }).click()

    await page.getByRole('link', { name: 'Return goods' }).first().click()
    await page.getByLabel('Returned quantity of LAMP').first().fill('2')
    await page.getByLabel('Received quantity of LAMP').first().fill('2')
    await page.getByLabel('Quantity of LAMP that goes back to stock').first().fill('2')
    await page.getByRole('button', { name: 'Work out the stock' }).click()
    await page.getByText('puts back 2 of').waitFor()
    await look('a return worked out')
    await page.getByRole('button', { name: 'Add the return' }).click()
    await page.getByRole('link', { name: 'Return 1', exact: true }).first().waitFor()
    await look('returned and restocked')
    expect(await stockOf(shop)).toBe(9)

    await page.getByRole('link', { name: 'Lamp', exact: true }).first().click()
    await page.getByRole('link', { name: 'Correct the stock' }).click()
    await page.getByLabel('Quantity').fill('-1')
    await page.getByLabel('Reason').fill('Broken on the shelf')
    await page.getByRole('button', { name: 'Correct the stock' }).click()
    await page.getByText('Broken on the shelf').waitFor()
    await look('a stock corrected')
    expect(await stockOf(shop)).toBe(8)

    await page.goto('/admin/customers/1')
    await page.locator('a[href*="edit?section=bill"]').first().click()
    await page.getByLabel('City', { exact: true }).fill('Cambridge')
    await page.getByRole('button', { name: 'Save' }).click()
    await page.getByText('Billing city: London → Cambridge').waitFor()
    await look('an address changed')

    await goTo(page, 'Products')
    await page.getByRole('link', { name: 'Import CSV' }).click()
    const prices = Buffer.from('SKUInfo.SKU,SKUInfo.Price\nLAMP,44.95\nSHADE,much\n')
    await page.getByLabel('CSV file').setInputFiles({ name: 'prices.csv', mimeType: 'text/csv', buffer: prices })
    await page.getByRole('button', { name: 'Read the file' }).click()
    await page.getByRole('button', { name: 'Change 1 product' }).waitFor()
    await look('prices before they change')
    await page.getByRole('button', { name: 'Change 1 product' }).click()
    await server.services.csvImports.settle()
    // The page may be loading itself again just then, which ends this one.
    await page.reload().catch(() => page.reload())
    await look('prices taken in')
    const [{ SKUInfo }] = (await shop.call('GET', '/Products?sku=LAMP')).json()
    expect(SKUInfo.Price).toBe(44.95)
  })

  test.each(afternoons)(
    'a call, a payment and new prices at a $place in $language',
    async ({ place, options, sign, paid, language }) => {
      faults = []
      context = await openContext(browser, server.origin, faults, options)
      const shop = await openShop(server)
      const page = await context.newPage()
      let pictures = 0
      const look = (name: string) =>
        picture(page, `afternoon-${place.replace(' ', '-')}-${String(++pictures).padStart(2, '0')}-${name}`)
      const written = (amount: string) => amount.replace('.', sign)
      await signIn(page, shop)

      // Somebody calls: the order is found by a name, by the end of a telephone number, and by a product.
      for (const words of ['lovelace', '7946 0018', '#ab-1000']) {
        await page.locator('header [name=q]').fill(words)
        await page.locator('header [name=q]').press('Enter')
        await page.waitForURL(/\/admin\/search\?q=/)
        await page.getByRole('main').getByRole('link', { name: 'AB-1000' }).waitFor()
      }
      await look('found')
      await page.getByRole('main').getByRole('link', { name: 'AB-1000' }).click()
      await page.waitForURL('**/admin/orders/1')

      // A payment is written down twice; the second one becomes void.
      for (const _ of ['once', 'twice']) {
        await page.goto('/admin/orders/1/payments')
        await page.locator('[name=TransactionType]').selectOption('Sale')
        await page.locator('[name=TransactionAmount]').fill(paid)
        await page.locator('form:has([name=TransactionAmount]) button').click()
        await page.waitForURL(/notice=payment-recorded/)
      }
      await page.goto('/admin/orders/1/payments')
      await look('paid twice')
      await page.locator('a[href$="/void"]').first().click()
      await page.locator('[name=Reason]').fill('Entered twice')
      await page.locator('button.danger').click()
      await page.waitForURL(/notice=payment-voided/)
      await look('one is void')
      expect((await orderOf(shop)).TransactionList).toMatchObject([
        { TransactionAmount: 127.5 },
        { TransactionAmount: 127.5 },
      ])

      // A new order by telephone, which is left and found again as a draft.
      await page.goto('/admin/orders/new')
      await page.locator('[name=CustomerID]').fill('lovelace')
      await page.locator('button[data-then=CustomerID]').click()
      await page
        .locator('input[type=hidden][name=CustomerID][value="1"], button[name="CustomerID.choice"]')
        .first()
        .waitFor({ state: 'attached' })
      const choice = page.locator('button[name="CustomerID.choice"]')
      if ((await choice.count()) > 0) await choice.first().click()
      await page.locator('input[type=hidden][name=CustomerID]').waitFor({ state: 'attached' })
      await page.locator('[id="ItemID.1"]').fill('lamp')
      await page.locator('#lookup').click()
      await page.locator('[id="ItemID.1-name"] strong').waitFor()
      await page.locator('[id="ItemQuantity.1"]').fill('2')
      await page.locator('[name=ShipmentCost]').fill(written('5.50'))
      await page.locator('[name=OrderDiscountPromotion]').fill('10')
      await page.locator('[name=DiscountReason]').fill('A good customer')
      await page.locator('#work-out').click()
      await page.getByText(written('80.50')).first().waitFor()
      await look('worked out')
      await page.goto('/admin/orders/new')
      await page.locator('.drafts summary').click()
      await page.locator('.drafts li a').first().click()
      await page.waitForURL(/draft=/)
      expect(await page.locator('[name=ShipmentCost]').inputValue()).toBe(written('5.50'))
      await page.locator('#place').click()
      await page.waitForURL(/notice=order-placed/)
      await look('placed')
      const [placed] = (await shop.call('GET', '/Orders/2')).json()
      expect(placed).toMatchObject({ OrderAmount: 80.5, CustomerID: 1, OrderDiscountPromotion: 10 })

      // All prices rise, and are put back.
      await page.goto('/admin/products')
      for (const box of await page.locator('tbody [name=ids]').all()) await box.check()
      await page.locator('button[formaction^="/admin/products/bulk"]').click()
      const prices = page.locator('form:has([name=Kind][value=price])')
      await prices.locator('[name=How]').selectOption('raise-percent')
      await prices.locator('[name=Value]').fill(written('2.5'))
      await prices.locator('button').click()
      await page.waitForURL(/\/admin\/csv\/\d+$/)
      await server.services.csvImports.settle()
      await page.reload().catch(() => page.reload())
      await look('prices before they rise')
      await page.locator('form[action$="/apply"] button').click()
      await server.services.csvImports.settle()
      expect(await priceOf(shop)).toBe(43.56)
      await page.reload().catch(() => page.reload())
      await page.locator('form[action$="/back"] button').click()
      await page.waitForURL(/\/admin\/csv\/\d+$/)
      await server.services.csvImports.settle()
      await page.reload().catch(() => page.reload())
      await page.locator('form[action$="/apply"] button').click()
      await server.services.csvImports.settle()
      expect(await priceOf(shop)).toBe(42.5)
      await page.reload().catch(() => page.reload())
      await look('prices are back')

      // What the accountant gets.
      await page.goto('/admin/reports?by=product&period=this-year')
      await look('report')
      await page
        .getByRole('cell', { name: 'Lamp', exact: true })
        .or(page.getByRole('rowheader', { name: 'LAMP' }))
        .first()
        .waitFor()
      const file = await (
        await page.request.get('/admin/orders/lines.csv', { headers: { 'accept-language': options.locale } })
      ).text()
      expect(file.split('\n')[0]).toContain(language === 'German' ? 'Rechnungsnummer;' : 'Invoice number,')
      expect(file).toContain(written('42.5'))
    },
  )

  test('several orders get a status by pages that say what becomes of the stock', async () => {
    faults = []
    context = await openContext(browser, server.origin, faults)
    const shop = await openShop(server)
    await placeOrder(shop.caller, {
      BillingEmail: 'bea@mail.example',
      OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 1 }],
    })
    const page = await context.newPage()
    await signIn(page, shop)
    await page.goto('/admin/orders')
    await page.getByLabel('Choose all of this page').check()
    await page.getByLabel('Change the status to').selectOption('5')
    await page.getByRole('button', { name: 'Change status…' }).click()
    await page.getByRole('button', { name: /^Change .*2 orders$/ }).waitFor()
    expect(await stockOf(shop)).toBe(6)
    await inspect(page, 'admin-orders-status-asked')
    await page.getByRole('button', { name: /^Change .*2 orders$/ }).click()
    await page.getByRole('heading', { level: 1 }).waitFor()
    await inspect(page, 'admin-orders-status-changed')
    expect(await stockOf(shop)).toBe(10)
  })
})

/** A store with ten lamps, of which a customer has ordered three. */
async function openShop(server: ListeningServer): Promise<TestStore> {
  const shop = await server.openStore()
  const add = (path: string, body: object) => shop.call('POST', path, { body })
  await add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5, Stock: 10 } })
  await add('/Products', { SKUInfo: { SKU: 'SHADE', Name: 'Shade', Price: 12 } })
  await add('/Customers', {
    Email: 'ada@mail.example',
    Password: 'correct horse battery',
    BillingFirstName: 'Ada',
    BillingLastName: 'Lovelace',
    BillingPhoneNumber: '+44 20 7946 0018',
    BillingCity: 'London',
  })
  await placeOrder(shop.caller, {
    CustomerID: 1,
    BillingEmail: 'ada@mail.example',
    BillingFirstName: 'Ada',
    BillingLastName: 'Lovelace',
    BillingPhoneNumber: '+44 20 7946 0018',
    OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 3 }],
    ShipmentList: [{ ShipmentFirstName: 'Ada', ShipmentAddress: '12 St James Square', ShipmentCity: 'London' }],
  })
  return shop
}

async function signIn(page: Page, { store }: TestStore): Promise<void> {
  await page.goto(`/admin/sign-in?store=${encodeURIComponent(store.secureUrl)}`)
  await page.locator('[name=Email]').fill('merchant@shop.example')
  await page.locator('[name=Password]').fill('correct horse battery')
  await page.locator('form:has([name=Password]) button[type=submit]').first().click()
  await page.waitForURL('**/admin')
}

async function ship(page: Page, { quantity, tracking }: { quantity: string; tracking: string }): Promise<void> {
  await page.getByRole('link', { name: 'Ship the goods', exact: true }).click()
  await page.getByLabel('Quantity of LAMP that ships now').fill(quantity)
  await page.getByLabel('Tracking number').fill(tracking)
  await page.getByRole('button', { name: 'Ship', exact: true }).click()
  await page.getByText('The goods are shipped.').waitFor()
}

async function orderOf({ call }: TestStore) {
  return (await call('GET', '/Orders/1')).json()[0]
}

async function stockOf({ call }: TestStore): Promise<number> {
  return (await call('GET', '/Products?sku=LAMP')).json()[0].SKUInfo.Stock
}

async function priceOf({ call }: TestStore): Promise<number> {
  return (await call('GET', '/Products?sku=LAMP')).json()[0].SKUInfo.Price
}

/** By the navigation, which a button opens on a phone. */
async function goTo(page: Page, name: string): Promise<void> {
  const menu = page.getByRole('button', { name: 'Menu', exact: true })
  if (await menu.isVisible()) await menu.click()
  await page.getByRole('navigation', { name: 'Main' }).getByRole('link', { name, exact: true }).click()
}
