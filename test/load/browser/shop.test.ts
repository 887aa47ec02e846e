import type { Dialog, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { issueCustomerToken } from '../../../src/access/people/customer-tokens.ts'
import { english } from '../../../src/foundation/texts/language.ts'
import { plainOf } from '../../../src/http/pages/records/plain-html.ts'
import { orderPageAddress } from '../../../src/shop/resources/orders/order-page.ts'
import { hold } from '../../support/held.ts'
import { plainTexts } from '../../support/odd-html.ts'
import type { TestPerson } from '../../support/person.ts'
import { memberIn, merchantIn } from '../../support/signed-in.ts'
import type { TestStore } from '../../support/store.ts'
import { german, hasBrowser, inspect, openStage, type Stage } from './browser.ts'
import { findFaintControls } from './focus.ts'
import { fillShop, type Places } from './shop-fixture.ts'

const under = (folder: string, addresses: string) => addresses.split(' ').map((each) => `${folder}/${each}`)

/** One address of each template, and of what it shows when there is little or much, by who opens it. */
const pages = {
  owner: [
    '/admin',
    ...under('/admin', 'categories/tree search?q=lamp orders orders/{partlyShippedId}'),
    ...under('/admin', 'orders/{partlyShippedId}/packing-slip?shipment={parcelId} products'),
    ...under('/admin', 'products?pricefrom=much products/2 products/1/delete products/new category/2'),
    ...under('/admin', 'customers/2 customers/1/sign-in-link reports reports?by=product&period=this-year history'),
    ...under('/admin', 'records csv products/csv webhooks settings people people/{userId}/remove'),
    ...under('/admin', 'people/roles/{roleId} audit outbox outbox/{mailId}'),
    ...under('/admin/orders/1', 'invoice shipments/0 lines addresses payments'),
    ...under('/admin/orders/1', 'payments/{transactionId}/void returns/new returns/1 fields events'),
    ...under('/admin/orders/1', 'edit?section=items refund refund?return=1 credit-notes/{refundId}'),
    ...under('/admin/products/2', 'edit?section=option-sets edit?section=description'),
    ...under('/admin/products/2', 'edit?section=related-products stock options prices categories history'),
    ...under('/admin/csv', '{markedId} {markedId}?show=errors {mappingId}/columns {formerId}'),
    ...under('/admin/csv', '{applyingId} {doneId} {askingId}/change {bulkId}'),
    ...under('/admin/modules', 'rest-api rest-api/{subscriptionId} rest-api/{subscriptionId}/unsubscribe'),
    ...under('/admin/modules', 'cartapi'),
    ...under('/admin/webhooks', 'new {webhookId} {webhookId}/delete {pausedWebhookId}'),
    ...under('/admin/webhooks', '{webhookId}/deliveries/{deliveryId}'),
    ...under(
      '/admin/settings',
      'order-statuses payment-methods returns documents carriers taxes shipping mails privacy close',
    ),
    ...under('/admin/payments', 'closing'),
    ...under('/admin/settings/privacy', 'person?customerId=2 erase?customerId=2 idle?Years=10'),
  ],
  reader: ['/admin/orders/1', '/admin/products/2'],
  newcomer: ['/admin', '/admin/products', '/admin/webhooks'],
} as const

type Visitor = keyof typeof pages

describe.skipIf(!hasBrowser)('the pages of a shop', () => {
  let stage: Stage
  let shop: TestStore
  let owner: TestPerson
  let places: Places
  const visitors = new Map<Visitor, Page>()
  const knownControls = new Set<string>()

  beforeAll(async () => {
    stage = await openStage()
    shop = await stage.openStore()
    owner = await merchantIn(stage, shop.store)
    places = await fillShop(stage, shop, owner)
    visitors.set('owner', await stage.visit(owner, german))
    visitors.set('reader', await stage.visit(await memberIn(stage, shop, 'reader'), german))
    const newStore = await stage.openStore()
    visitors.set('newcomer', await stage.visit(await merchantIn(stage, newStore.store), german))
  })
  afterAll(() => stage?.close())
  afterEach(() => expect(stage.faults.splice(0)).toEqual([]))

  const all = Object.entries(pages).flatMap(([visitor, of]) => of.map((address) => [address, visitor] as const))
  test.each(all)(
    '%s is sound for the eyes, ears and keyboard of a %s, at a desk and on a phone',
    async (...[address, by]) => {
      const page = visitors.get(by as Visitor) as Page
      const answer = await page.goto(address.replace(/\{(\w+)\}/g, (_, place) => String(places[place])))
      expect(answer?.status()).toBe(address.includes('much') ? 400 : 200)
      await inspect(page, `${by}${address.replaceAll(/\W+/g, '-')}`)
      expect(await findFaintControls(page, knownControls)).toEqual([])
    },
  )

  test('a customer comes in by a link, and sees the orders on sound pages', async () => {
    const services = { ...stage.services, publicUrl: stage.origin }
    const { url } = await issueCustomerToken(services, shop.caller, { customerId: 1, minutes: 5 })
    const page = await stage.visit(undefined, german)
    await page.goto(url)
    await inspect(page, 'account-sign-in')
    await page.getByRole('main').getByRole('button').click()
    await page.waitForURL('**/account')
    await inspect(page, 'account')
    await page.goto('/account/orders/1')
    await inspect(page, 'account-order')
    expect(await findFaintControls(page, knownControls)).toEqual([])
  })

  test('whoever has the address of the page of an order sees it, without a cookie', async () => {
    const address = String(orderPageAddress(stage.services, shop.store.id, Number(places.partlyShippedId)))
    const page = await stage.visit(undefined, german)
    await page.goto(address)
    await inspect(page, 'order-page')
    expect(await findFaintControls(page, knownControls)).toEqual([])
    expect((await page.goto(`${address}x`))?.status()).toBe(404)
    await inspect(page, 'order-page-ended')
    expect(await page.context().cookies()).toEqual([])
  })

  test.each([true, false])(
    'a refused form begins with all that is wrong, which has the focus and leads to each field, JavaScript: %s',
    async (javaScriptEnabled) => {
      const page = await stage.visit(owner, { javaScriptEnabled })
      await page.goto('/admin/products/1/prices')
      await page.getByLabel('Price', { exact: true }).fill('much')
      await page.getByLabel('Cost', { exact: true }).fill('little')
      await page.getByRole('button', { name: 'Save' }).click()
      const alert = page.getByRole('alert')
      await alert.waitFor()
      expect(await page.title()).toMatch(/^Error: /)
      expect(await alert.getByRole('link').allTextContents()).toEqual(['Price', 'Cost'])
      expect(await page.locator('.failure:focus').count()).toBe(1)
      await alert.getByRole('link', { name: 'Price' }).click()
      expect(await page.locator('[id="SKUInfo.Price"]:focus').inputValue()).toBe('much')
      if (javaScriptEnabled) await inspect(page, 'refused')
    },
  )

  test('the bar is one row for names of any length, and all of it is reached by the keyboard', async () => {
    const page = await stage.visit(owner, german)
    const { id, name } = shop.store
    for (const length of [12, 60]) {
      const long = 'Nordic Lamp & Rug House '.repeat(3).slice(0, length)
      await stage.database.db.store.update({ where: { id }, data: { name: long } })
      for (const width of [390, 1024, 1440]) {
        await page.setViewportSize({ width, height: 850 })
        await page.goto('/admin/settings')
        const overhang = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
        const height = (await page.locator('header.site').boundingBox())?.height ?? 0
        expect({ length, width, overhang, isRow: height < 60 }).toMatchObject({ overhang: 0, isRow: true })
        expect(await page.locator('.brand a').getAttribute('title')).toBe(long)
        if (length === 60) expect(await missedByTab(page)).toEqual([])
      }
    }
    await stage.database.db.store.update({ where: { id }, data: { name } })
  })

  test('the menus of the bar open and close by keyboard and pointer', async () => {
    const page = await stage.visit(owner)
    await page.goto('/admin/settings')
    const integrations = page.getByText('Integrations', { exact: true })
    const store = page.locator('summary', { hasText: /^Store$/ })
    const webhooks = page.getByRole('link', { name: 'Webhooks', exact: true })
    const people = page.getByRole('link', { name: 'People', exact: true })
    expect(await store.getAttribute('aria-current')).toBe('true')
    await integrations.press('Enter')
    await webhooks.waitFor()
    await inspect(page, 'menu')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Escape')
    expect(await webhooks.isVisible()).toBe(false)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Integrations')
    await integrations.click()
    await store.press('Enter')
    expect([await webhooks.isVisible(), await people.isVisible()]).toEqual([false, true])
    await page.getByRole('heading', { level: 1 }).click()
    expect(await people.isVisible()).toBe(false)
  })

  test.each([true, false])('on a phone a button opens the navigation, JavaScript: %s', async (javaScriptEnabled) => {
    const page = await stage.visit(owner, { javaScriptEnabled, viewport: { width: 320, height: 640 } })
    await page.goto('/admin/settings')
    expect(await page.getByRole('link', { name: 'Orders', exact: true }).isVisible()).toBe(false)
    await page.getByRole('button', { name: 'Menu' }).press('Enter')
    await page.getByText('Integrations', { exact: true }).click()
    const menu = await page.locator('#menu').boundingBox()
    expect([(menu?.x ?? -1) >= 0, (menu?.x ?? 0) + (menu?.width ?? 321) <= 320]).toEqual([true, true])
    await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
    await page.waitForURL('**/admin/webhooks')
  })

  test('the keyboard begins with a link past the navigation, and finds records by a slash and arrows', async () => {
    const page = await stage.visit(owner)
    await page.goto('/admin/orders')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true)
    await page.locator('h1').click()
    await page.keyboard.press('/')
    await page.keyboard.type('shirt')
    await page.getByRole('option').getByText('Linen shirt').waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.waitForURL('**/admin/products/2')
  })

  test('the colours of states can be read in both schemes', async () => {
    const page = await stage.visit(owner)
    await page.goto('/admin/records')
    await page.evaluate(`document.querySelector('h1').after(...['', 'ok', 'warn', 'bad', 'info', 'neutral'].map((name) => {
      const badge = document.createElement('span')
      badge.className = 'badge ' + name
      badge.textContent = 'state ' + name
      return badge
    }))`)
    await inspect(page, 'badges')
  })

  test('the plain editor gives back a hundred odd texts as it got them, and changes what is typed alone', async () => {
    const page = await stage.visit(owner)
    const source = '<P ID=x>Fish &amp; chips &mdash; caf&eacute;</P >\r\n<UL>\r\n<LI>One<BR/></LI></UL>\n'
    await shop.call('PUT', '/Products/3', { body: { Description: source } })
    await page.goto('/admin/products/3/edit?section=description')
    const editors = plainTexts.map((text) => plainOf(text, english))
    const given = JSON.stringify(editors.map(({ html }) => html))
    const back = await page.evaluate(`${given}.map((html) => {
      const area = document.createElement('div')
      area.innerHTML = html
      return written(area)
    })`)
    expect(back).toEqual(editors.map(({ canonical }) => canonical))

    await page.locator('[data-source="Description"] .area').click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('Fresh: ')
    await page.keyboard.press('Control+End')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Two & <three>')
    await page.getByRole('button', { name: 'Edit the source' }).last().click()
    await page.getByRole('button', { name: 'Edit as it looks' }).click()
    await page.locator('.area li').last().waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/notice=record-saved/)
    const [{ Description }] = (await shop.call('GET', '/Products/3')).json()
    const typed = source.replace('Fish', 'Fresh: Fish').replace('</LI>', '</LI><li>Two &amp; &lt;three&gt;</li>')
    expect(Description).toBe(typed)
    await page.frameLocator('iframe').getByText('Two & <three>').waitFor()
    await inspect(page, 'framed')
  })

  test('what was typed and not sent is not left without a question', async () => {
    const page = await stage.visit(owner)
    const asked: string[] = []
    page.on('dialog', async (dialog: Dialog) => {
      asked.push(dialog.type())
      await dialog.dismiss()
    })
    await page.goto('/admin/products/1/edit')
    const name = page.locator('[id="SKUInfo.Name"]')
    await name.click()
    await page.keyboard.type('New ')
    await page.getByRole('link', { name: 'Orders', exact: true }).click()
    await expect.poll(() => asked).toEqual(['beforeunload'])
    expect(await name.inputValue()).toContain('New ')
    await name.press('Control+z')
    await page.getByRole('button', { name: 'Save' }).first().click()
    await page.waitForURL(/\/admin\/products\/1(\?|$)/)
    await page.goto('/admin/orders')
    await page.getByRole('checkbox').first().check()
    await page.getByRole('link', { name: 'Products', exact: true }).click()
    await page.waitForURL('**/admin/products')
    expect(asked).toHaveLength(1)
  })

  test('a file is chosen and read, and the page of its changes sees their end by itself', async () => {
    const another = await stage.openStore()
    await another.add('/Products', { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5 } })
    const page = await stage.visit(await merchantIn(stage, another.store))
    await page.goto('/admin/products/csv')
    const buffer = Buffer.from('SKUInfo.SKU,SKUInfo.Price\nLAMP,44.95\n')
    await page.getByLabel('CSV file').setInputFiles({ name: 'prices.csv', mimeType: 'text/csv', buffer })
    await page.getByRole('button', { name: 'Read the file' }).click()
    const held = await hold(
      stage,
      another,
      ({ db }) => db.$queryRaw`SELECT FROM "Product" WHERE "sku" = 'LAMP' FOR UPDATE`,
    )
    await page.getByRole('button', { name: 'Change 1 product' }).click()
    await page.locator('[data-follow]').waitFor()
    await held.commit()
    await page.getByText('1 changed, 0 added.').waitFor()
  })

  test('a link of the index opens what is folded, and all of it is sound', async () => {
    const page = await stage.visit(owner)
    await page.goto('/admin/products/2')
    const index = page.getByRole('navigation', { name: 'On this page' })
    for (const name of ['In the shop', 'Search engines', 'Feeds', 'Shipping and', 'Rarely needed']) {
      await index.getByRole('link', { name }).click()
    }
    await expect.poll(() => page.locator('details.fold:not([open])').count()).toBe(0)
    await inspect(page, 'product-unfolded')
  })

  test('documents are printed without what leads elsewhere', async () => {
    const page = await stage.visit(owner)
    await page.goto('/admin/orders/1/invoice')
    await page.getByRole('button', { name: 'Print' }).waitFor()
    await page.emulateMedia({ media: 'print' })
    for (const role of ['link', 'button'] as const) expect(await page.getByRole(role).count()).toBe(0)
  })

  test.each([
    ['/admin/orders?columns=InvoiceNumber&columns=OrderDate&columns=payment', /AB-1000/, ['Date', 'Payment']],
    ['/admin/products?columns=SKUInfo.SKU&columns=SKUInfo.Price&columns=SKUInfo.Stock', /LAMP/, ['Price', 'Stock']],
  ])(
    'on a phone the rows of %s are cards, with all of them below one another and in view',
    async (...[address, row, seen]) => {
      const page = await stage.visit(owner, { viewport: { width: 360, height: 780 } })
      await page.goto(address)
      // A box to choose the row stands beside them.
      const cells = await page.getByRole('row', { name: row }).locator('[role=cell][data-label]').all()
      expect(await Promise.all(cells.map((cell) => cell.getAttribute('data-label')))).toEqual(seen)
      expect(await page.getByRole('columnheader').allTextContents()).toEqual(expect.arrayContaining(seen))
      const boxes = await Promise.all(
        cells.map(async (cell) => (await cell.boundingBox()) ?? { x: 0, y: 0, width: 361 }),
      )
      expect(boxes.map(({ y }) => y)).toEqual(boxes.map(({ y }) => y).toSorted((one, other) => one - other))
      expect(new Set(boxes.map(({ x }) => x)).size).toBe(1)
      for (const { x, width } of boxes) expect(x + width).toBeLessThanOrEqual(360)
    },
  )

  test('of ticked orders the list says how many they are and what can be done, and several get a status', async () => {
    const page = await stage.visit(owner, { viewport: { width: 390, height: 780 } })
    await page.goto('/admin/orders')
    const card = page.getByRole('row', { name: /AB-1000/ })
    expect((await card.boundingBox())?.height).toBeLessThan(150)
    const bar = page.getByRole('group', { name: /chosen/ })
    const isInSight = async () => {
      const { y, height } = (await bar.boundingBox()) ?? { y: 780, height: 0 }
      return y + height <= 781
    }
    expect(await isInSight()).toBe(false)
    await card.getByRole('checkbox').check()
    expect(await isInSight()).toBe(true)
    expect((await bar.boundingBox())?.height).toBeLessThan(260)
    expect(await bar.getByText('1 chosen').isVisible()).toBe(true)
    await inspect(page, 'orders-ticked')
    const every = page.getByLabel('Choose all of this page')
    await every.check()
    await every.uncheck()
    expect(await bar.getByText('With what is chosen').isVisible()).toBe(true)
    await every.check()
    expect(await bar.getByText(/^\d+ chosen$/).isVisible()).toBe(true)
    await page.getByLabel('Change the status to').selectOption('5')
    await page.getByRole('button', { name: 'Change status…' }).click()
    const change = page.getByRole('button', { name: /^Change .*orders$/ })
    await change.waitFor()
    await inspect(page, 'orders-status-asked')
    await change.click()
    await change.waitFor({ state: 'detached' })
    await inspect(page, 'orders-status-changed')
  })

  test('what a change of an order’s goods does is worked out in place', async () => {
    const page = await stage.visit(owner)
    await page.goto('/admin/orders/1/lines')
    await page.getByLabel('New line 1: the product').fill('SHIRT')
    await page.locator('[id="ItemQuantity.1"]').focus()
    await page.getByLabel('Size').selectOption({ label: 'Large (+$3.00)' })
    await page.locator('[id="ItemQuantity.1"]').fill('60')
    await page.getByRole('button', { name: 'Work out totals' }).click()
    await page.getByText('below zero', { exact: true }).waitFor()
    expect(new URL(page.url()).hash).toBe('')
    await inspect(page, 'goods-worked-out')
  })

  test('a new order gets lines and shows options without losing what was typed, nor the focus', async () => {
    const page = await stage.visit(owner)
    await page.goto('/admin/orders/new')
    const product = page.getByLabel(/^Line \d: the product/)
    const quantity = page.getByLabel(/^Line \d: the quantity/)
    await page.getByLabel('E-mail', { exact: true }).fill('guest@customers.example')
    await product.nth(2).fill('SHIRT')
    await page.keyboard.press('Tab')
    await page.getByRole('button', { name: 'Add a line' }).click()
    await product.nth(3).waitFor()
    await page.getByLabel('Size').selectOption('Large (+$3.00)')
    await quantity.nth(2).fill('2')
    await page.getByRole('button', { name: 'Look up the products' }).press('Enter')
    await page.getByText('$23.00 each').waitFor()
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Look up the products')
    await product.nth(3).fill('nothing')
    await page.keyboard.press('Tab')
    await page.keyboard.type('7')
    await page.getByText('No product of this store has this name').waitFor()
    expect(await quantity.nth(3).inputValue()).toBe('7')
    await inspect(page, 'order-new-lines')
    expect(await findFaintControls(page, knownControls)).toEqual([])
    await product.nth(3).fill('')
    expect(await page.getByLabel('E-mail', { exact: true }).inputValue()).toBe('guest@customers.example')
    // Words are looked up as soon as the field is left, and the focus stays where it has gone.
    await product.first().fill('shir')
    await quantity.first().fill('1')
    await page.locator('[id="ItemID.1"][value=SHIRT]').waitFor()
    expect(await page.evaluate('document.activeElement.id')).toBe('ItemQuantity.1')
    expect(new URL(page.url()).search).toMatch(/^\?draft=\d+$/)
    await page.getByLabel('Size').nth(1).waitFor()
    await page.getByLabel('Size').first().selectOption('Medium')
    await page.getByRole('button', { name: 'Place the order' }).click()
    await page.getByText('The order is placed.').waitFor()
    expect(await page.getByRole('row', { name: /SHIRT/ }).allInnerTexts()).toHaveLength(2)
  })

  test('an order by telephone is placed by the keyboard alone: a draft begins with the first choice, and the total follows', async () => {
    const page = await stage.visit(owner)
    const drafts = () => stage.database.db.orderDraft.count({ where: { storeId: shop.store.id } })
    const before = await drafts()
    await shop.call('PUT', '/Products/1', { body: { SKUInfo: { Stock: 50 } } })
    await page.goto('/admin/orders/new')
    expect(await page.evaluate('document.activeElement.id')).toBe('ItemID.1')
    await page.keyboard.type('lam')
    await page.getByRole('option').nth(1).waitFor()
    await inspect(page, 'order-new-options')
    await page.keyboard.press('Enter')
    await page.getByRole('button', { name: /Brass lamp LAMP/ }).waitFor()
    expect(await drafts()).toBe(before)
    await page.keyboard.press('Backspace')
    await page.getByRole('option', { name: /Brass lamp/ }).waitFor()
    await page.keyboard.press('ArrowUp')
    const chosen = page.locator('[aria-selected=true]', { hasText: 'Brass' })
    if ((await chosen.count()) === 0) await page.keyboard.press('ArrowUp')
    await page.keyboard.press('Enter')
    await page.locator('[id="ItemQuantity.1"]:focus').waitFor()
    expect(await drafts()).toBe(before + 1)
    await page.keyboard.type('2')
    const total = page.getByRole('row', { name: /^Total/ })
    await total.getByText('$85.00').waitFor()
    expect((await total.boundingBox())?.y).toBeLessThan(page.viewportSize()?.height ?? 0)
    await page.keyboard.press('Enter')
    await page.locator('[id="ItemID.2"]:focus').waitFor()
    await page.keyboard.press('Enter')
    await page.locator('#CustomerID:focus').waitFor()
    await page.keyboard.type('ada')
    await page.getByRole('option', { name: /ada@customers/ }).waitFor()
    await page.keyboard.press('ArrowDown')
    await page.keyboard.press('Enter')
    await page.locator('#ShipmentMethodName:focus').waitFor()
    for (let n = 0; n < 15 && (await page.locator('#place:focus').count()) === 0; n++) await page.keyboard.press('Tab')
    await page.keyboard.press('Enter')
    await page.getByText('The order is placed.').waitFor()
    expect(await drafts()).toBe(before)
  })

  test('a field suggests records while somebody types, and says the name of the one that is chosen', async () => {
    const page = await stage.visit(owner)
    await page.goto('/admin/products/1/edit')
    const field = page.locator('[name="ManufacturerID"]')
    await field.fill('')
    await field.pressSequentially('alder', { delay: 20 })
    const suggestions = page.getByRole('option')
    await suggestions.nth(1).waitFor()
    expect(await suggestions.count()).toBe(2)
    await suggestions.getByText('Alder & Finch').click()
    await page.getByRole('status').getByText('Alder & Finch').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The changes are saved.').waitFor()
    expect((await shop.call('GET', '/Products/1')).json()).toMatchObject([{ ManufacturerID: 1 }])
  })

  test('a field offers what fits words, and Enter saves what is chosen with what was typed', async () => {
    const page = await stage.visit(owner)
    await page.goto('/admin/products/1/edit')
    await page.locator('[name="ManufacturerID"]').fill('alder')
    await page.locator('[id="SKUInfo.Name"]').fill('typed')
    await page.getByRole('button', { name: 'Look up the Manufacturer' }).click()
    await page.getByText('What fits “alder”').waitFor()
    await inspect(page, 'product-choices')
    await page.getByLabel('2 Alder Lamps').check()
    await page.getByLabel('Name', { exact: false }).first().press('Enter')
    await page.getByText('The changes are saved.').waitFor()
    const [product] = (await shop.call('GET', '/Products/1')).json()
    expect(product).toMatchObject({ ManufacturerID: 2, SKUInfo: { Name: 'typed' } })
  })
})

/** Presses Tab through the bar, and Enter at what opens. Returns the links that are never seen in the window with the focus. */
async function missedByTab(page: Page): Promise<string[]> {
  const links = await page.locator('header.site a').evaluateAll((all) => all.map((each) => each.getAttribute('href')))
  const seen = new Set<string | null>()
  for (let n = 0; n < 40; n++) {
    await page.keyboard.press('Tab')
    const focused = page.locator('header.site :focus')
    if ((await focused.count()) === 0 && n > 1) break
    const opens = page.locator('header.site :is(summary, .open-menu):focus')
    if ((await opens.count()) > 0) await page.keyboard.press('Enter')
    const box = (await focused.count()) > 0 ? await focused.boundingBox() : null
    const isInside = box !== null && box.x >= 0 && box.x + box.width <= (page.viewportSize()?.width ?? 0)
    if (isInside) seen.add(await focused.getAttribute('href'))
  }
  return links.flatMap((link) => (link === null || seen.has(link) ? [] : [link]))
}
