import type { Browser, BrowserContext, Dialog, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { writeMail } from '../../../src/access/mail/write.ts'
import { issueCustomerToken } from '../../../src/access/people/customer-tokens.ts'
import { requestFactorRemoval } from '../../../src/access/people/factors/removal.ts'
import { requestReset } from '../../../src/access/people/reset.ts'
import { inTransaction } from '../../../src/foundation/database/client.ts'
import { english } from '../../../src/foundation/texts/language.ts'
import { plainOf } from '../../../src/http/pages/records/plain-html.ts'
import { placeOrder } from '../../../src/shop/resources/orders/place-order.ts'
import { invite } from '../../../src/shop/staff/invitations.ts'
import { addMember } from '../../../src/shop/staff/members.ts'
import { saveRole } from '../../../src/shop/staff/store-roles.ts'
import { storedDelivery, storedWebhook } from '../../app/http/pages/shop/webhooks-fixture.ts'
import { mailTo, tokenIn } from '../../app/shop/staff/fixture.ts'
import { operator } from '../../support/actors.ts'
import { plainTexts } from '../../support/odd-html.ts'
import type { TestPerson } from '../../support/person.ts'
import { memberIn, operatorIn } from '../../support/signed-in.ts'
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
import { findFaintControls } from './focus.ts'

const PASSWORD = 'correct horse battery'

/** Every page that somebody can open, by a name for its picture; what only a form leads to follows below. */
const pages = {
  anyone: [
    ['start', '/'],
    ['not-found', '/nowhere'],
    ['cartapi-operations', '/cart.asmx'],
    ['admin-sign-in', '/admin/sign-in'],
    ['developers-sign-in', '/developers/sign-in'],
    ['developers-sign-up', '/developers/sign-up'],
    ['admin-reset', '/admin/reset'],
    ['admin-reset-used', '/admin/reset?token=nonsense'],
    ['admin-reset-link', '/admin/reset?token={resetToken}'],
    ['developers-reset', '/developers/reset'],
    ['admin-invitation', '/admin/invitations?token={invitationToken}'],
    ['admin-invitation-used', '/admin/invitations?token=nonsense'],
    ['operator-sign-in', '/operator/sign-in'],
    ['operator-reset', '/operator/reset'],
    ['account-sign-in-nonsense', '/account/sign-in?token=nonsense'],
  ],
  merchant: [
    ['admin-overview', '/admin'],
    ['admin-orders', '/admin/orders'],
    ['admin-orders-none', '/admin/orders?find=999999'],
    ['admin-orders-refused', '/admin/orders?find=nobody'],
    ['admin-order', '/admin/orders/1'],
    ['admin-order-parcels', '/admin/orders/{partlyShippedId}'],
    ['admin-order-parcel-slip', '/admin/orders/{partlyShippedId}/packing-slip?shipment={parcelId}'],
    ['admin-order-ship', '/admin/orders/1/shipments/0'],
    ['admin-order-packing-slip', '/admin/orders/1/packing-slip'],
    ['admin-order-invoice', '/admin/orders/1/invoice'],
    ['admin-order-slips', '/admin/orders/slips?ids=1,2&kind=packing-slip'],
    ['admin-order-new', '/admin/orders/new'],
    ['admin-order-goods', '/admin/orders/1/lines'],
    ['admin-order-addresses', '/admin/orders/1/addresses'],
    ['admin-order-payments', '/admin/orders/1/payments'],
    ['admin-order-payment-void', '/admin/orders/1/payments/{transactionId}/void'],
    ['admin-order-return-new', '/admin/orders/1/returns/new'],
    ['admin-order-return', '/admin/orders/1/returns/1'],
    ['admin-order-fields', '/admin/orders/1/fields'],
    ['admin-order-events', '/admin/orders/1/events'],
    ['admin-order-items', '/admin/orders/1/edit?section=items'],
    ['admin-products', '/admin/products'],
    ['admin-products-refused', '/admin/products?pricefrom=much'],
    ['admin-product', '/admin/products/1'],
    ['admin-product-edit', '/admin/products/1/edit'],
    ['admin-product-option-sets', '/admin/products/1/edit?section=option-sets'],
    ['admin-product-option-lines', '/admin/products/2/edit?section=option-sets'],
    ['admin-product-description', '/admin/products/2/edit?section=description'],
    ['admin-product-related', '/admin/products/1/edit?section=related-products'],
    ['admin-product-stock', '/admin/products/2/stock'],
    ['admin-product-options', '/admin/products/2/options'],
    ['admin-product-prices', '/admin/products/2/prices'],
    ['admin-product-categories', '/admin/products/2/categories'],
    ['admin-product-parts', '/admin/products/2'],
    ['admin-categories-tree', '/admin/categories/tree'],
    ['admin-category', '/admin/category/2'],
    ['admin-product-new', '/admin/products/new'],
    ['admin-product-delete', '/admin/products/1/delete'],
    ['admin-customers', '/admin/customers'],
    ['admin-customer', '/admin/customers/1'],
    ['admin-customer-long', '/admin/customers/2'],
    ['admin-customer-link', '/admin/customers/1/sign-in-link'],
    ['admin-product-history', '/admin/products/1/history'],
    ['admin-reports', '/admin/reports?period=last-year'],
    ['admin-reports-product', '/admin/reports?by=product&period=this-year'],
    ['admin-history', '/admin/history'],
    ['admin-records', '/admin/records'],
    ['admin-csv', '/admin/csv'],
    ['admin-csv-products', '/admin/products/csv'],
    ['admin-csv-marked', '/admin/csv/{csvId}'],
    ['admin-csv-preview', '/admin/csv/{csvId}?show=new'],
    ['admin-csv-errors', '/admin/csv/{csvId}?show=errors'],
    ['admin-csv-waiting', '/admin/csv/{mappingCsvId}'],
    ['admin-csv-columns', '/admin/csv/{mappingCsvId}/columns'],
    ['admin-csv-former-columns', '/admin/csv/{formerCsvId}/columns'],
    ['admin-csv-former', '/admin/csv/{formerCsvId}'],
    ['admin-csv-applying', '/admin/csv/{applyingCsvId}'],
    ['admin-csv-done', '/admin/csv/{doneCsvId}'],
    ['admin-bulk-asking', '/admin/csv/{askingBulkId}/change'],
    ['admin-bulk-preview', '/admin/csv/{bulkId}'],
    ['admin-bulk-done', '/admin/csv/{doneBulkId}'],
    ['admin-rest-api', '/admin/modules/rest-api'],
    ['admin-rest-api-subscribe', '/admin/modules/rest-api/subscribe?PublicKey={publicKey}'],
    ['admin-rest-api-application', '/admin/modules/rest-api/{subscriptionId}'],
    ['admin-rest-api-unsubscribe', '/admin/modules/rest-api/{subscriptionId}/unsubscribe'],
    ['admin-cartapi', '/admin/modules/cartapi'],
    ['admin-webhooks', '/admin/webhooks'],
    ['admin-webhook-new', '/admin/webhooks/new'],
    ['admin-webhook', '/admin/webhooks/{webhookId}'],
    ['admin-webhook-none', '/admin/webhooks/{webhookId}?state=delivered'],
    ['admin-webhook-delete', '/admin/webhooks/{webhookId}/delete'],
    ['admin-webhook-paused', '/admin/webhooks/{pausedWebhookId}'],
    ['admin-delivery', '/admin/webhooks/{webhookId}/deliveries/{deliveryId}'],
    ['admin-delivery-pending', '/admin/webhooks/{webhookId}/deliveries/{pendingId}'],
    ['admin-settings', '/admin/settings'],
    ['admin-order-statuses', '/admin/settings/order-statuses'],
    ['admin-payment-methods', '/admin/settings/payment-methods'],
    ['admin-return-names', '/admin/settings/returns'],
    ['admin-documents', '/admin/settings/documents'],
    ['admin-people', '/admin/people'],
    ['admin-person-remove', '/admin/people/{userId}/remove'],
    ['admin-role-new', '/admin/people/roles/new'],
    ['admin-role', '/admin/people/roles/{roleId}'],
    ['admin-invitation-of-another', '/admin/invitations?token={invitationToken}'],
    ['admin-audit', '/admin/audit'],
    ['admin-outbox', '/admin/outbox'],
    ['admin-mail', '/admin/outbox/{mailId}'],
    ['admin-account', '/admin/account'],
    ['admin-account-factors-none', '/admin/account/factors'],
    ['admin-prove-early', '/admin/prove'],
    ['admin-people-security-none', '/admin/people/security'],
    ['admin-account-address', '/admin/account/address?token=nonsense'],
    ['admin-change-store', '/admin/change-store'],
    [
      'oauth-ask-store',
      '/oauth/authorize?client_id={publicKey}&redirect_uri=https%3A%2F%2Fapp.example%2Fback&response_type=code',
    ],
    [
      'oauth-consent',
      '/oauth/authorize?client_id={publicKey}&redirect_uri=https%3A%2F%2Fapp.example%2Fback&response_type=code&store_url={store}',
    ],
    ['oauth-refused', '/oauth/authorize?client_id=nobody'],
  ],
  packer: [
    ['packer-overview', '/admin'],
    ['packer-orders', '/admin/orders'],
    ['packer-order', '/admin/orders/1'],
    ['packer-order-ship', '/admin/orders/1/shipments/0'],
    ['packer-order-addresses', '/admin/orders/1/addresses'],
    ['packer-order-fields', '/admin/orders/1/fields'],
    ['packer-order-events', '/admin/orders/1/events'],
    ['packer-records', '/admin/records'],
  ],
  reader: [
    ['reader-overview', '/admin'],
    ['reader-orders', '/admin/orders'],
    ['reader-order', '/admin/orders/1'],
    ['reader-products', '/admin/products'],
    ['reader-product', '/admin/products/2'],
    ['reader-categories-tree', '/admin/categories/tree'],
    ['reader-customer', '/admin/customers/1'],
    ['reader-webhooks', '/admin/webhooks'],
    ['reader-webhook', '/admin/webhooks/{webhookId}'],
  ],
  newMerchant: [
    ['admin-overview-empty', '/admin'],
    ['admin-orders-empty', '/admin/orders'],
    ['admin-products-empty', '/admin/products'],
    ['admin-csv-empty', '/admin/csv'],
    ['admin-outbox-empty', '/admin/outbox'],
    ['admin-customers-none', '/admin/customers?state=NY'],
    ['admin-rest-api-empty', '/admin/modules/rest-api'],
    ['admin-webhooks-empty', '/admin/webhooks'],
  ],
  developer: [
    ['developers-applications-empty', '/developers/applications'],
    ['developers-application-new', '/developers/applications/new'],
    ['developers-test-stores-empty', '/developers/test-stores'],
    ['developers-inboxes-empty', '/developers/inboxes'],
    ['developers-audit', '/developers/audit'],
    ['developers-account', '/developers/account'],
    ['developers-account-factors', '/developers/account/factors'],
    ['developers-account-address', '/developers/account/address?token=nonsense'],
  ],
  applicant: [
    ['developers-applications', '/developers/applications'],
    ['developers-application', '/developers/applications/{applicationId}'],
    ['developers-called-stores', '/developers/applications/{applicationId}/calls'],
    ['developers-calls', '/developers/applications/{applicationId}/calls/{subscriptionId}'],
    ['developers-application-stores', '/developers/applications/{applicationId}/stores'],
    ['developers-application-delete', '/developers/applications/{applicationId}/delete'],
    ['developers-test-stores', '/developers/test-stores'],
    ['developers-test-store', '/developers/test-stores/{testStoreId}'],
    ['developers-inboxes', '/developers/inboxes'],
    ['developers-inbox', '/developers/inbox/{inbox}'],
    ['developers-inbox-message', '/developers/inbox/{inbox}/{inboxMessageId}'],
  ],
  operator: [
    ['operator-overview', '/operator'],
    ['operator-stores', '/operator/stores'],
    ['operator-stores-none', '/operator/stores?name=nowhere'],
    ['operator-test-stores', '/operator/test-stores'],
    ['operator-store-new', '/operator/stores/new'],
    ['operator-store', '/operator/stores/{storeId}'],
    ['operator-applications', '/operator/applications'],
    ['operator-application', '/operator/applications/{applicationId}'],
    ['operator-developers', '/operator/developers'],
    ['operator-people', '/operator/people'],
    ['operator-person', '/operator/people/{factorId}'],
    ['operator-person-factor-ends', '/operator/people/{endingId}'],
    ['operator-deliveries', '/operator/deliveries'],
    ['operator-mails', '/operator/mails'],
    ['operator-sizes', '/operator/sizes'],
    ['operator-operators', '/operator/operators'],
    ['operator-audit', '/operator/audit'],
    ['operator-account', '/operator/account'],
    ['operator-account-factors', '/operator/account/factors?notice=factor-needed'],
    ['operator-not-found', '/operator/nowhere'],
  ],
  customer: [
    ['account-orders', '/account'],
    ['account-order', '/account/orders/1'],
  ],
} as const

type Visitor = keyof typeof pages

describe.skipIf(!hasBrowser)('every page', () => {
  let browser: Browser
  let server: ListeningServer
  let shop: TestStore
  let emptyShop: TestStore
  const faults: string[] = []
  const knownControls = new Set<string>()
  const visitors = new Map<Visitor, { context: BrowserContext; page: Page }>()
  let places: Record<string, string>

  beforeAll(async () => {
    server = await openListeningServer()
    browser = await launchBrowser()
    shop = await server.openStore()
    emptyShop = await server.openStore()
    for (const visitor of Object.keys(pages) as Visitor[]) {
      const context = await openContext(browser, server.origin, faults)
      visitors.set(visitor, { context, page: await context.newPage() })
    }
    await signIn('merchant', shop)
    await signIn('newMerchant', emptyShop)
    await enter('packer', await memberIn(server, shop, { Name: 'Packer', Privileges: { Orders: ['write'] } }))
    await enter('reader', await memberIn(server, shop, 'reader'))
    await enter('operator', await operatorIn(server))
    await signUp('developer')
    await signUp('applicant')
    const application = await registerApplication()
    places = { ...application, store: encodeURIComponent(shop.store.secureUrl) }
    await fillShop(application.publicKey)
    await addWebhooks()
    await importFiles()
    await writeMails()
    await addPeople()
    await signInCustomer()
    await losePhones()
    await tryThingsOut()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  const all = Object.entries(pages).flatMap(([visitor, of]) =>
    of.map(([name, address]) => ({ visitor: visitor as Visitor, name, address })),
  )
  test.each(all)(
    '$name is sound for eyes, ears and keyboards, at a desk and on a phone, in English and German',
    async ({ visitor, name, address }) => {
      const page = pageOf(visitor)
      await inspect(page, name, () => page.goto(fill(address)))
      expect(await page.locator('h1').count()).toBe(1)
      expect(await findFaintControls(page, knownControls)).toEqual([])
      expect(faults).toEqual([])
    },
  )

  test('a refused form says what is wrong, and what was typed is still there', async () => {
    const page = pageOf('applicant')
    await page.goto('/developers/applications/new')
    await page.getByLabel('Name', { exact: true }).fill('Stock sync')
    await page.getByLabel('A new one').check()
    await page.locator('[name=CallBackURL]').fill('http://10.0.0.5/callback')
    await page.locator('[name=RedirectURIs]').fill('nowhere')
    await page.getByRole('button', { name: 'Register' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.locator('[aria-invalid=true]').count()).toBe(2)
    expect(await page.getByLabel('Name', { exact: true }).inputValue()).toBe('Stock sync')
    await inspect(page, 'developers-application-refused')
  })

  test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
    'a refused form begins with all that is wrong, which has the focus and leads to each field, JavaScript: $javaScriptEnabled',
    async ({ javaScriptEnabled }) => {
      const storageState = await pageOf('merchant').context().storageState()
      const context = await browser.newContext({ baseURL: server.origin, javaScriptEnabled, storageState })
      try {
        const page = await context.newPage()
        await page.goto('/admin/products/1/edit')
        await page.getByLabel('Price', { exact: true }).fill('much')
        await page.getByLabel('Cost', { exact: true }).fill('little')
        await page.getByRole('button', { name: 'Save' }).click()
        const alert = page.getByRole('alert')
        await alert.waitFor()
        expect(await page.title()).toMatch(/^Error: /)
        expect(await alert.getByRole('link').allTextContents()).toEqual(['Cost', 'Price'])
        expect(await page.locator('.failure:focus').count()).toBe(1)
        await alert.getByRole('link', { name: 'Price' }).click()
        expect(await page.locator('[id="SKUInfo.Price"]:focus').count()).toBe(1)
      } finally {
        await context.close()
      }
    },
  )

  test.each(['en-US', 'de-DE'])(
    'the bar is one row for names of any length, and all of it is reached by the keyboard, in %s',
    async (language) => {
      const page = pageOf('merchant')
      const { id, name } = shop.store
      await page.setExtraHTTPHeaders({ 'accept-language': language })
      for (const length of [12, 30, 60]) {
        const long = 'Nordic Lamp & Rug House '.repeat(3).slice(0, length)
        await server.database.db.store.update({ where: { id }, data: { name: long } })
        for (const width of [390, 1024, 1280, 1440]) {
          await page.setViewportSize({ width, height: 850 })
          await page.goto('/admin/settings')
          const overhang = await page.evaluate('document.documentElement.scrollWidth - innerWidth')
          const height = (await page.locator('header.site').boundingBox())?.height ?? 0
          expect({ length, width, overhang, isRow: height < 60 }).toMatchObject({ overhang: 0, isRow: true })
          expect(await page.locator('.brand a').getAttribute('title')).toBe(long)
          if (length === 60) expect(await reachedByTab(page)).toEqual([])
        }
      }
      await server.database.db.store.update({ where: { id }, data: { name } })
      await page.setExtraHTTPHeaders({})
      await page.setViewportSize({ width: 1200, height: 850 })
    },
  )

  test('the menus of the bar open and close by keyboard and pointer', async () => {
    const page = pageOf('merchant')
    await page.goto('/admin/settings')
    const [integrations, store] = [
      page.getByText('Integrations', { exact: true }),
      page.locator('summary', { hasText: /^Store$/ }),
    ]
    const [webhooks, people] = ['Webhooks', 'People'].map((name) => page.getByRole('link', { name, exact: true }))
    expect(await store.getAttribute('aria-current')).toBe('true')
    await integrations.press('Enter')
    await webhooks?.waitFor()
    await inspect(page, 'admin-menu')
    await page.keyboard.press('Tab')
    await page.keyboard.press('Escape')
    expect(await webhooks?.isVisible()).toBe(false)
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Integrations')
    await integrations.click()
    await store.press('Enter')
    expect([await webhooks?.isVisible(), await people?.isVisible()]).toEqual([false, true])
    await page.getByRole('heading', { level: 1 }).click()
    expect(await people?.isVisible()).toBe(false)
  })

  test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
    'on a phone a button opens the navigation, JavaScript: $javaScriptEnabled',
    async ({ javaScriptEnabled }) => {
      const storageState = await pageOf('merchant').context().storageState()
      const viewport = { width: 320, height: 640 }
      const context = await browser.newContext({ baseURL: server.origin, javaScriptEnabled, storageState, viewport })
      try {
        const page = await context.newPage()
        await page.goto('/admin/settings')
        expect(await page.getByRole('link', { name: 'Orders', exact: true }).isVisible()).toBe(false)
        await page.getByRole('button', { name: 'Menu' }).press('Enter')
        await page.getByText('Integrations', { exact: true }).click()
        const menu = await page.locator('#menu').boundingBox()
        expect([(menu?.x ?? -1) >= 0, (menu?.x ?? 0) + (menu?.width ?? 321) <= 320]).toEqual([true, true])
        await picture(page, `admin-menu-320-${javaScriptEnabled}`)
        await page.getByRole('link', { name: 'Webhooks', exact: true }).click()
        await page.waitForURL('**/admin/webhooks')
      } finally {
        await context.close()
      }
    },
  )

  test('the colours of states can be read in both schemes', async () => {
    const page = pageOf('merchant')
    await page.goto('/admin/records')
    await page.evaluate(`document.querySelector('h1').after(...['', 'ok', 'warn', 'bad', 'info', 'neutral'].map((name) => {
      const badge = document.createElement('span')
      badge.className = 'badge ' + name
      badge.textContent = 'state ' + name
      return badge
    }))`)
    await inspect(page, 'badges')
  })

  test('a column that needs a choice says so beside it, and what was chosen is still there', async () => {
    const page = pageOf('merchant')
    await page.goto(fill('/admin/csv/{mappingCsvId}/columns'))
    await page.getByLabel('Prise').selectOption('SKUInfo.RetailPrice')
    await page.getByRole('button', { name: 'Read the file' }).click()
    await page.getByRole('alert').waitFor()
    expect(await page.locator('[aria-invalid=true]').count()).toBe(1)
    expect(await page.getByLabel('Prise').inputValue()).toBe('SKUInfo.RetailPrice')
    await inspect(page, 'admin-csv-columns-refused')
  })

  test('the plain editor gives back a hundred odd texts as it got them, and changes what is typed alone', async () => {
    const page = pageOf('merchant')
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

    await page.locator('.area').click()
    await page.keyboard.press('Control+Home')
    await page.keyboard.type('Fresh: ')
    await page.keyboard.press('Control+End')
    await page.keyboard.press('Enter')
    await page.keyboard.type('Two & <three>')
    await page.getByRole('button', { name: 'Edit the source' }).click()
    await page.getByRole('button', { name: 'Edit as it looks' }).click()
    await page.locator('.area li').last().waitFor()
    await page.getByRole('button', { name: 'Save' }).click()
    await page.waitForURL(/notice=record-saved/)
    const [{ Description }] = (await shop.call('GET', '/Products/3')).json()
    const typed = source.replace('Fish', 'Fresh: Fish').replace('</LI>', '</LI><li>Two &amp; &lt;three&gt;</li>')
    expect(Description).toBe(typed)
    await page.frameLocator('iframe').getByText('Two & <three>').waitFor()
    await inspect(page, 'admin-product-framed')
    expect(faults).toEqual([])
  })

  test('what was typed and not sent is not left without a question', async () => {
    const page = pageOf('merchant')
    const asked: string[] = []
    const refuse = async (dialog: Dialog) => {
      asked.push(dialog.type())
      await dialog.dismiss()
    }
    page.on('dialog', refuse)
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
    page.off('dialog', refuse)
  })

  test('a webhook is added, and the result of a test event appears by itself', async () => {
    const page = pageOf('newMerchant')
    await page.goto('/admin/webhooks/new')
    await page.getByLabel('Event').selectOption('Order New')
    await page.getByLabel('Name').fill('Warehouse')
    await page.getByLabel('Address').fill('https://hooks.example/orders')
    await page.getByRole('button', { name: 'Add the webhook' }).click()
    await page.getByText('The webhook is added.').waitFor()
    await page.getByRole('button', { name: 'Send a test event' }).click()
    await page.getByText('It is being sent.').waitFor()
    await page.waitForURL(/looks=1\d$/)

    await server.services.db.delivery.updateMany({
      where: { storeId: emptyShop.store.id },
      data: { state: 'delivered', status: 200, attempts: 1, dueAt: null, endedAt: new Date() },
    })
    await page.getByText('delivered', { exact: true }).waitFor()
    await inspect(page, 'admin-delivery-test')
  })

  test('what a change of an order’s goods does is worked out in place', async () => {
    const page = pageOf('merchant')
    await page.goto('/admin/orders/1/lines')
    await page.getByLabel('Product', { exact: true }).fill('SHIRT')
    await page.locator('[id="ItemQuantity.1"]').focus()
    await page.getByLabel('Size').selectOption({ label: 'Large (+$3.00)' })
    await page.locator('[id="ItemQuantity.1"]').fill('60')
    await page.getByRole('button', { name: 'Work out totals' }).click()
    await page.getByText('below zero', { exact: true }).waitFor()
    expect(new URL(page.url()).hash).toBe('')
    await inspect(page, 'admin-order-goods-worked-out')
  })

  test('on a phone the lists of orders and products are cards, with status and amount in view', async () => {
    const page = pageOf('merchant')
    await page.setViewportSize({ width: 360, height: 780 })
    const lists = [
      {
        address: '/admin/orders?columns=InvoiceNumber&columns=OrderDate&columns=payment',
        row: /AB-1000/,
        seen: ['Date', 'Payment'],
      },
      { address: '/admin/products', row: /LAMP/, seen: ['Name', 'Cost', 'Price', 'On sale', 'Stock'] },
    ]
    for (const { address, row, seen } of lists) {
      await page.goto(address)
      const card = page.getByRole('row', { name: row })
      // A box to choose the row stands beside them.
      const cells = await card.locator('[role=cell][data-label]').all()
      const boxes = await Promise.all(cells.map((cell) => cell.boundingBox()))
      const labels = await Promise.all(cells.map((cell) => cell.getAttribute('data-label')))
      expect(labels).toEqual(seen)
      expect(await page.getByRole('columnheader').allTextContents()).toEqual(expect.arrayContaining(seen))
      // Below one another, each in view.
      expect(boxes.map((box) => box?.y)).toEqual(
        boxes.map((box) => box?.y).toSorted((one = 0, other = 0) => one - other),
      )
      expect(new Set(boxes.map((box) => box?.x)).size).toBe(1)
      for (const box of boxes) expect((box?.x ?? 0) + (box?.width ?? 361)).toBeLessThanOrEqual(360)
    }
  })

  test('the list of orders says what is paid in a few lines on a phone, and what can be done once rows are ticked', async () => {
    const page = pageOf('merchant')
    await page.setViewportSize({ width: 390, height: 780 })
    await page.goto('/admin/orders')
    const card = page.getByRole('row', { name: /AB-1000/ })
    const box = await card.boundingBox()
    expect(box?.height).toBeLessThan(150)
    expect(await card.textContent()).toMatch(/Unpaid|Partly paid/)
    const bar = page.getByRole('group', { name: 'With the chosen orders' })
    expect(await bar.isVisible()).toBe(false)
    await card.getByRole('checkbox').check()
    expect(await bar.getByRole('button', { name: 'Print packing slips' }).isVisible()).toBe(true)
    expect(await bar.locator('[data-count]').textContent()).toBe('1')
    await inspect(page, 'admin-orders-ticked')
    await page.getByLabel('Choose all of this page').check()
    await page.getByLabel('Choose all of this page').uncheck()
    expect(await bar.isVisible()).toBe(false)
  })

  test.each([{ javaScriptEnabled: true }, { javaScriptEnabled: false }])(
    'a new order gets lines and shows options without losing what was typed, JavaScript: $javaScriptEnabled',
    async ({ javaScriptEnabled }) => {
      const storageState = await pageOf('merchant').context().storageState()
      const context = await browser.newContext({ baseURL: server.origin, javaScriptEnabled, storageState })
      context.setDefaultTimeout(10_000)
      const page = await context.newPage()
      try {
        await page.goto('/admin/orders/new')
        await page.getByLabel('E-mail', { exact: true }).fill('guest@customers.example')
        await page.getByLabel('Product', { exact: true }).nth(2).fill('SHIRT')
        await page.getByRole('button', { name: 'Add a line' }).click()
        await page.getByText('Line 4').waitFor()
        await page.getByLabel('Size').selectOption('Large (+$3.00)')
        await page.getByLabel('Quantity').nth(2).fill('2')
        await page.getByRole('button', { name: 'Look up the products' }).press('Enter')
        await page.getByText('$23.00 each').waitFor()
        if (javaScriptEnabled) {
          expect(await page.evaluate('document.activeElement.textContent')).toBe('Look up the products')
          await page.getByLabel('Product', { exact: true }).nth(3).fill('nothing')
          await page.keyboard.press('Tab')
          await page.keyboard.type('7')
          await page.getByText('No product of this store has this name').waitFor()
          expect(await page.getByLabel('Quantity').nth(3).inputValue()).toBe('7')
          await inspect(page, 'admin-order-new-lines')
          await page.getByLabel('Product', { exact: true }).nth(3).fill('')
        }
        expect(await page.getByLabel('E-mail', { exact: true }).inputValue()).toBe('guest@customers.example')
        // With a script, words are looked up as soon as the field is left, and the focus stays where it has gone.
        await page
          .getByLabel('Product', { exact: true })
          .first()
          .fill(javaScriptEnabled ? 'shir' : 'SHIRT')
        await page.getByLabel('Quantity').first().fill('1')
        if (javaScriptEnabled) {
          await page.locator('[id="ItemID.1"][value=SHIRT]').waitFor()
          expect(await page.evaluate('document.activeElement.id')).toBe('ItemQuantity.1')
          expect(new URL(page.url()).search).toMatch(/^\?draft=\d+$/)
        }
        if (!javaScriptEnabled) {
          // A line that was looked up can be emptied again.
          await page.getByLabel('Product', { exact: true }).nth(3).fill('SHIRT')
          await page.getByRole('button', { name: 'Look up the products' }).click()
          await page.getByLabel('Product', { exact: true }).nth(3).fill('')
          await page.getByRole('button', { name: 'Place the order' }).click()
          await page.getByRole('alert').getByText('has to be chosen').waitFor()
        }
        await page.getByLabel('Size').nth(1).waitFor()
        await page.getByLabel('Size').first().selectOption('Medium')
        await page.getByRole('button', { name: 'Place the order' }).click()
        await page.getByText('The order is placed.').waitFor()
        expect(await page.getByRole('row', { name: /SHIRT/ }).allInnerTexts()).toHaveLength(2)
      } finally {
        await context.close()
      }
    },
  )

  test('everything is reached by the keyboard alone, beginning with a link past the navigation', async () => {
    const page = pageOf('merchant')
    await page.goto('/admin/orders')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.textContent')).toBe('Skip to the content')
    await page.keyboard.press('Enter')
    await page.keyboard.press('Tab')
    expect(await page.evaluate('document.activeElement.closest("main") !== null')).toBe(true)
  })

  /** Presses Tab through the bar, and Enter at what opens. Returns the links that are never seen in the window with the focus. */
  async function reachedByTab(page: Page): Promise<string[]> {
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

  function fill(address: string): string {
    return address.replace(/\{(\w+)\}/g, (_, place) => places[place] ?? '')
  }

  function pageOf(visitor: Visitor): Page {
    const found = visitors.get(visitor)
    if (!found) throw new Error(`nobody is ${visitor}`)
    return found.page
  }

  /** Gives the visitor's browser the session of somebody who has signed in. */
  async function enter(visitor: Visitor, { cookies }: TestPerson) {
    const context = pageOf(visitor).context()
    await context.addCookies([...cookies].map(([name, value]) => ({ name, value, url: server.origin })))
  }

  async function signIn(visitor: Visitor, { store }: TestStore) {
    const page = pageOf(visitor)
    await page.goto(`/admin/sign-in?store=${encodeURIComponent(store.secureUrl)}`)
    await page.getByLabel('E-mail address').fill('merchant@shop.example')
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL('**/admin')
  }

  /** Two people with a second factor, of which an operator takes one off. */
  async function losePhones() {
    const { db, secrets, now } = server.services
    const newFactor = async (where: object) => {
      const { id } = await db.identity.findFirstOrThrow({ where })
      await db.identity.update({ where: { id }, data: { totpSealed: secrets.seal('key'), totpSince: now() } })
      return id
    }
    const factorId = await newFactor({ email: 'developer@tools.example' })
    const endingId = await newFactor({ users: { some: { storeId: emptyShop.store.id } } })
    await requestFactorRemoval(server.services, endingId, operator)
    places = { ...places, storeId: `${shop.store.id}`, factorId: `${factorId}`, endingId: `${endingId}` }
  }

  async function signUp(visitor: Visitor) {
    const page = pageOf(visitor)
    await page.goto('/developers/sign-up')
    await page.getByLabel('E-mail address').fill(`${visitor}@tools.example`)
    await page.getByLabel('Password').fill(PASSWORD)
    await page.getByRole('main').getByRole('button').click()
    await page.waitForURL('**/developers/applications')
  }

  /** A test store in which something has happened, and an inbox with a message that is signed and one that is not. */
  async function tryThingsOut() {
    const page = pageOf('applicant')
    await page.goto('/developers/test-stores')
    await page.getByLabel('Name').fill('Returns and refunds')
    await page.getByRole('button', { name: 'Make a test store' }).click()
    await page.waitForURL('**/developers/test-stores/*')
    const testStoreId = /\/(\d+)/.exec(new URL(page.url()).pathname)?.[1] ?? ''
    const { db, testStores } = server.services
    await testStores.settle()
    await page.reload()
    for (const name of ['A return', 'A change of stock']) {
      await page.getByRole('button', { name }).click()
      await page.waitForURL('**#happened')
    }
    await page.goto('/developers/inboxes')
    await page.getByLabel('Name').fill('Order webhooks')
    await page.getByRole('button', { name: 'Make an inbox' }).click()
    await page.waitForURL('**/developers/inbox/*')
    const inbox = new URL(page.url()).pathname.split('/').at(-1) ?? ''
    const headers = { 'webhook-id': 'evt_1', 'webhook-timestamp': '1', 'webhook-signature': 'v1,none' }
    for (const each of [headers, {}]) {
      const options = { method: 'POST', headers: each, body: JSON.stringify([{ OrderID: 5 }]) }
      await fetch(`${server.origin}/developers/inbox/${inbox}?from=here`, options)
    }
    const { id } = await db.inboxMessage.findFirstOrThrow({ where: { inbox: { name: inbox } } })
    places = { ...places, testStoreId, inbox, inboxMessageId: String(id) }
  }

  async function registerApplication() {
    const page = pageOf('applicant')
    await page.goto('/developers/applications/new')
    await page.getByLabel('Name', { exact: true }).fill('Order sync')
    await page.getByLabel('An existing program').check()
    await page.locator('[name=RedirectURIs]').fill('https://app.example/back')
    await page.getByLabel('Read Orders', { exact: true }).check()
    await page.getByRole('button', { name: 'Register' }).click()
    await page.getByText('The application is registered.').waitFor()
    const applicationId = /\/(\d+)/.exec(new URL(page.url()).pathname)?.[1] ?? ''
    const publicKey = (await page.locator('#PublicKey').textContent()) ?? ''
    return { applicationId, publicKey }
  }

  async function fillShop(publicKey: string) {
    for (const body of [
      { CategoryName: 'Clothes', CategoryIcon: `${server.origin}/assets/icon.svg` },
      { CategoryName: 'Shirts', CategoryParent: 1, Hide: true },
    ]) {
      await shop.call('POST', '/Category', { body })
    }
    await shop.call('POST', '/CustomerGroups', { body: { Name: 'Dealers', PriceLevel: 2 } })
    const product = { SKUInfo: { SKU: 'LAMP', Name: 'Brass lamp', Price: 42.5, Stock: 3 } }
    const shirt = {
      SKUInfo: { SKU: 'SHIRT', Name: 'Linen shirt', Price: 20, Stock: 50 },
      MainImageFile: `${server.origin}/assets/icon.svg`,
      ImageGalleryList: [{ ImageGalleryFile: `${server.origin}/assets/icon.svg`, ImageGalleryCaption: 'Front' }],
      CategoryList: [{ CategoryID: 2 }],
      PriceLevel2: 18,
      Description: '<p>Of <b>linen</b>, with <a href="/care">care</a>.</p>\n<ul><li>Wash it.</li></ul>',
      DiscountList: [{ DiscountLowbound: 10, DiscountPrice: 17 }],
      OptionSetList: [
        {
          OptionSetName: 'Size',
          OptionType: 'Dropdown',
          OptionRequired: true,
          OptionList: [{ OptionName: 'Medium' }, { OptionName: 'Large', OptionValue: 3 }],
        },
        { OptionSetName: 'Extras', OptionType: 'Checkbox', OptionList: [{ OptionName: 'Gift box', OptionValue: 1.5 }] },
      ],
    }
    const shade = {
      SKUInfo: { SKU: 'SHADE', Name: 'Linen lampshade in a very long range of colours', Stock: 2 },
      StockAlert: 5,
    }
    await shop.call('POST', '/Products', { body: [product, shirt, shade] })
    const RelatedProductList = [{ RelatedProductID: 3 }]
    await shop.call('PUT', '/Products/1', { body: { RelatedProductList } })
    await shop.call('POST', '/Customers', {
      body: { Email: 'ada@customers.example', Password: 'secret' },
    })
    const Email = 'marie-antoinette.de.la.montagne-blanche@customers.example'
    await shop.call('POST', '/Customers', { body: { Email, Password: 'secret' } })
    await placeOrder(shop.caller, { CustomerID: 1, OrderItemList: [{ ItemID: 'LAMP', ItemQuantity: 3 }] })
    await shop.call('POST', '/RMA', {
      body: { OrderID: 1, RMAItemList: [{ SKU: 'LAMP', ReturnQuantity: 1, RestockQuantity: 1 }] },
    })
    for (const TransactionType of ['Void', 'Refund', 'Sale']) {
      const body = {
        TransactionType,
        TransactionAmount: 20,
        TransactionMethod: 'Bank transfer',
        TransactionReference: 'T-1',
      }
      places.transactionId = String(await shop.add('/Orders/1/Transactions', body))
    }
    await shipPart()
    const TransactionType = 'Void'
    const added = await shop.add('/Orders/1/Transactions', { TransactionType: 'Sale', TransactionAmount: 3 })
    await shop.call('PUT', `/Orders/1/Transactions/${added}`, { body: { TransactionType } })
    const page = pageOf('merchant')
    await page.goto(`/admin/modules/rest-api/subscribe?PublicKey=${publicKey}`)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByText('The application can now access your store.').waitFor()
    places.subscriptionId = /\/(\d+)/.exec(new URL(page.url()).pathname)?.[1] ?? ''
    await logCalls(Number(places.subscriptionId))
    // An application whose last three calls were refused fails.
    for (let count = 0; count < 3; count++) await shop.call('GET', '/Orders?limit=x')
    await server.services.callLog.flush()
  }

  /** An order of long words, of which a parcel has left and one is still to ship, each to an address of its own. */
  async function shipPart() {
    const long = 'x'.repeat(60)
    const { id } = await placeOrder(shop.caller, {
      CustomerID: 2,
      BillingEmail: `${long}@customers.example`,
      BillingFirstName: `Marie ${long}`,
      BillingPhoneNumber: '+1 555 0100 200 300',
      CustomerComments: `Leave it at the back door ${long}`,
      OrderItemList: [
        { ItemID: 'SHADE', ItemQuantity: 1 },
        { CatalogID: 1, ItemQuantity: 1 },
      ],
    })
    const sent = {
      ShipmentFirstName: 'Bob',
      ShipmentCity: 'Paris',
      ShipmentTrackingCode: long,
      ShipmentShippedDate: '03/11/2026',
    }
    await shop.call('PUT', `/Orders/${id}`, {
      body: { InternalComments: long, ShipmentList: [{ ShipmentID: 0 }, sent] },
    })
    const [{ ShipmentList, OrderItemList }] = (await shop.call('GET', `/Orders/${id}`)).json()
    const parcelId = String(ShipmentList[1].ShipmentID)
    const [first, second] = OrderItemList
    const lines = [first, { ...second, ItemShipmentID: Number(parcelId) }]
    await shop.call('PUT', `/Orders/${id}`, { body: { OrderItemList: lines } })
    places = { ...places, partlyShippedId: String(id), parcelId }
  }

  /** Calls of the applicant's application, one with everything that is kept, and all of it long. */
  async function logCalls(subscriptionId: number) {
    const { callLog, db } = server.services
    await db.subscription.update({ where: { id: subscriptionId }, data: { keepsBodies: true } })
    const call = {
      subscriptionId,
      method: 'PUT',
      requestId: '5f0c1f4e-8d8c-4c39-9f55-f8e6c62b8d07',
      ignored: [],
      body: null,
    }
    callLog.record({ ...call, method: 'GET', path: '/StoreWebAPI/v1/Products', status: 200, message: '' })
    const body = JSON.stringify({ SKUInfo: { SKU: 'LAMP', Price: 'cheap', Description: 'x'.repeat(2_000) } })
    const message = `SKUInfo.Price must be a number, ${'and '.repeat(50)}more`
    const ignored = ['SKUInfo.Prise', `${'Nested.'.repeat(30)}Name`]
    callLog.record({ ...call, path: `/StoreWebAPI/v1/${'Products'.repeat(20)}`, status: 400, message, ignored, body })
    await callLog.flush()
  }

  async function addWebhooks() {
    const webhook = await storedWebhook(server, shop, { failingSince: server.services.now() })
    const { id } = await storedWebhook(server, shop, {
      enabled: false,
      disabledAt: server.services.now(),
      pauseReason: 'The receiver answered 410',
    })
    const log = [{ status: 500, reason: 'The answer has the status 500', answer: 'x'.repeat(4_096) }]
    const deliveryId = await storedDelivery(server, webhook, {
      state: 'failed',
      reason: 'The answer has the status 500',
      event: { body: JSON.stringify({ OrderID: 17, CustomerComments: 'x'.repeat(2_000) }) },
      log: [...log, ...log],
    })
    const dueAt = new Date(server.clock.ms + 300_000)
    const pendingId = await storedDelivery(server, webhook, { state: 'pending', dueAt, endedAt: null, attempts: 0 })
    await storedDelivery(server, webhook, {
      event: { recordId: 1 },
      reason: 'The answer has the status 500',
      attempts: 10,
    })
    const ids = { webhookId: webhook.id, pausedWebhookId: id, deliveryId, pendingId }
    places = { ...places, ...Object.fromEntries(Object.entries(ids).map(([name, each]) => [name, String(each)])) }
  }

  /** A mail that the sandbox shows, and one that was refused, each with long words. */
  async function writeMails() {
    const { services } = server
    const { db } = services
    const long = 'x'.repeat(60)
    const link = `/account/sign-in?token=${long}` as const
    const data = { storeName: 'Garden Shop', link, expiresAt: new Date() }
    const to = `${long}@shop.example`
    const of = { to, identityId: null, storeId: shop.store.id, causedBy: null }
    await inTransaction(db, (tx) => writeMail(tx, services, { kind: 'customer-link', data, ...of }))
    await inTransaction(db, (tx) => writeMail(tx, services, { kind: 'customer-link', data, ...of }))
    await inTransaction(db, (tx) => writeMail(tx, services, { kind: 'address-change', data, ...of }))
    const [refused, shown] = await db.mail.findMany({ orderBy: { id: 'asc' } })
    const reason = `The mail server answered: 550 ${'no such mailbox '.repeat(20)}`
    await db.mail.updateMany({ where: { id: refused?.id ?? 0 }, data: { state: 'bounced', reason } })
    places = { ...places, mailId: String(shown?.id) }
  }

  /** CSV files that were read, that are being applied and that were. */
  async function importFiles() {
    const page = pageOf('merchant')
    const take = async (name: string, lines: string[], button?: RegExp) => {
      await page.goto('/admin/products/csv')
      const buffer = Buffer.from(['SKUInfo.SKU,SKUInfo.Name,SKUInfo.Price,LastUpdate', ...lines].join('\n'))
      await page.getByLabel('CSV file').setInputFiles({ name: `${name}.csv`, mimeType: 'text/csv', buffer })
      await page.getByRole('button', { name: 'Read the file' }).click()
      await page.waitForURL(/csv\/\d+$/)
      if (button) await page.getByRole('button', { name: button }).click()
      return page.url().split('/').at(-1) ?? ''
    }
    const many = Array.from({ length: 60 }, (_, at) => `CSV-${at},Lamp ${at},${at},`)
    const csvId = await take('prices of spring '.repeat(4), [
      ...many,
      `LAMP,${'LongName'.repeat(25)},7,`,
      // Marked as a number that a spreadsheet has shortened.
      '9.4001E+21,Label,7,',
      'CSV-0,Lamp,much,',
      'NONE,,1,',
    ])
    const doneCsvId = await take('done', [...many.slice(0, 3), 'CSV-0,,,'], /^Add 3 products/)
    // The page sees the end by itself.
    await page.getByText('0 changed, 3 added.').waitFor()
    // A store's files are applied one after the other, so this comes before the one that is not over.
    const changes = await changeMany()
    const applyingCsvId = await take('applying', many)
    const { id: storeId } = shop.store
    // By a process that lives elsewhere.
    const leasedUntil = new Date(server.clock.ms + 86_400_000)
    await server.services.db.csvImport.updateMany({
      where: { storeId, id: Number(applyingCsvId) },
      data: { state: 'applying', startedAt: new Date(server.clock.ms), appliedBy: 'ada@shop.example', leasedUntil },
    })
    places = { ...places, csvId, doneCsvId, applyingCsvId, ...(await importOthers()), ...changes }
  }

  /** Changes of many products: one that waits for what is to be done, one that is shown and one that was made. */
  async function changeMany() {
    const page = pageOf('merchant')
    const choose = async () => {
      await page.goto('/admin/products')
      await page.locator('input[name=ids]').first().check()
      await page.getByRole('button', { name: /^Change price/ }).click()
      await page.waitForURL(/change$/)
      return /csv\/(\d+)/.exec(page.url())?.[1] ?? ''
    }
    const askingBulkId = await choose()
    const say = async (quantity: string) => {
      const id = await choose()
      await page.getByLabel('Pieces').fill(quantity)
      await page.getByRole('button', { name: 'Show what becomes of the stock' }).click()
      await page.waitForURL(/csv\/\d+$/)
      return id
    }
    const bulkId = await say('5')
    const doneBulkId = await say('1')
    await page.getByRole('button', { name: 'Change 1 product' }).click()
    await page.getByText('1 changed.').waitFor()
    return { askingBulkId, bulkId, doneBulkId }
  }

  /** CSV files of other programs: one whose columns nobody has assigned yet, and one of the platform that merchants come from. */
  async function importOthers() {
    const page = pageOf('merchant')
    const take = async (name: string, lines: string[]) => {
      await page.goto('/admin/products/csv')
      const buffer = Buffer.from(lines.join('\n'))
      await page.getByLabel('CSV file').setInputFiles({ name: `${name}.csv`, mimeType: 'text/csv', buffer })
      await page.getByRole('button', { name: 'Read the file' }).click()
      await page.waitForURL(/columns$/)
      return /csv\/(\d+)/.exec(page.url())?.[1] ?? ''
    }
    const long = 'LongWord'.repeat(20)
    const mappingCsvId = await take('of another shop', [
      `Article,Description,Prise,Password,,${'A heading of many words '.repeat(5)},${long}`,
      `A-1,"<b>Text</b> of some length that is cut off somewhere",7.5,secret,x,${long},1`,
      'A-2,Another text,8,,,,',
    ])
    const headings =
      'catalogid,id,name,categories,manufacturer,price,price2,description,extended_description,nontax,usecatoptions'
    const formerCsvId = await take('of the former platform', [
      headings,
      ...Array.from(
        { length: 6 },
        (_, n) => `${n},F-${n},Lamp,Lamps@Lamps/Desk ${n}@${long.slice(0, 140)},Maker ${n % 7},1,2,s,l,1,1`,
      ),
    ])
    await page.getByRole('button', { name: 'Read the file' }).click()
    await page.waitForURL(/csv\/\d+$/)
    for (const summary of await page.locator('#import details > summary').all()) await summary.click()
    await inspect(page, 'admin-csv-former-open')
    return { mappingCsvId, formerCsvId }
  }

  /** Somebody with a role of the store's own, and links that were not used. */
  async function addPeople() {
    const { services } = server
    const storeId = shop.store.id
    const by = { actor: operator, userId: null }
    const role = { Name: 'Packer of parcels', Privileges: { Orders: ['read'] } as const }
    await saveRole(services, { storeId, id: null }, role, by)
    const account = { Email: 'packer@shop.example', Password: PASSWORD, Role: role.Name }
    const { id: userId } = await addMember(services, storeId, account, operator)
    const { id: roleId } = await services.db.storeRole.findFirstOrThrow({ where: { storeId } })
    await invite(services, storeId, { Email: 'mailed@shop.example', Role: 'reader' }, by)
    const { link } = await invite(services, storeId, { Email: 'new@shop.example', Role: 'orders', HandOver: true }, by)
    await requestReset(services, 'merchant', { Email: account.Email }, { address: '192.0.2.1' })
    const mail = await mailTo(server, account.Email)
    const tokens = { invitationToken: tokenIn(link ?? ''), resetToken: tokenIn(mail?.link ?? '') }
    places = { ...places, ...tokens, userId: String(userId), roleId: String(roleId) }
  }

  async function signInCustomer() {
    const { url } = await issueCustomerToken({ ...server.services, publicUrl: server.origin }, shop.caller, {
      customerId: 1,
      minutes: 5,
    })
    const page = pageOf('customer')
    await page.goto(url)
    await inspect(page, 'account-sign-in')
    await page.getByRole('main').getByRole('button').click()
    await page.waitForURL('**/account')
  }
})
