import type { Browser, BrowserContext, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { operatorKey } from '../../support/services.ts'
import type { TestStore } from '../../support/store.ts'
import {
  hasBrowser,
  inspect,
  type ListeningServer,
  launchBrowser,
  openContext,
  openListeningServer,
} from './browser.ts'
import { findFaintControls } from './focus.ts'

/** One of each template, with the longest of what it may have, by a name for its picture. */
const pages = [
  ['docs', '/docs'],
  ['docs-guides', '/docs/guides'],
  ['docs-guide', '/docs/guides/order-export'],
  ['docs-guide-table', '/docs/guides/from-cartapi-to-rest'],
  ['docs-reference', '/docs/reference'],
  ['docs-conventions', '/docs/reference/conventions'],
  ['docs-service', '/docs/reference/Products'],
  ['docs-operation', '/docs/reference/Manufacturers/updateManufacturer'],
  ['docs-operation-list', '/docs/reference/Orders/listOrderRefunds'],
  ['docs-operation-operator', '/docs/reference/Operator/createStore'],
  ['docs-operation-oauth', '/docs/reference/OAuth/exchangeCode'],
  ['docs-changelog', '/docs/changelog'],
  ['docs-search', '/docs/search?q=stock'],
  ['docs-search-nothing', '/docs/search?q=xyzzy'],
  ['docs-not-found', '/docs/nothing'],
] as const

describe.skipIf(!hasBrowser)('the documentation', () => {
  let browser: Browser
  let server: ListeningServer
  let shop: TestStore
  let context: BrowserContext
  let page: Page
  const faults: string[] = []
  const knownControls = new Set<string>()

  beforeAll(async () => {
    server = await openListeningServer()
    browser = await launchBrowser()
    shop = await server.openStore()
    await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Brass lamp', Price: 42.5 } } })
    await shop.call('POST', '/Manufacturers', { body: { ManufacturerName: 'Smith' } })
    // The first page makes all of them.
    await server.app.inject('/docs')
    context = await openContext(browser, server.origin, faults)
    page = await context.newPage()
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  test.each(pages)(
    '%s is sound for eyes, ears and keyboards, at a desk and on a phone',
    async (name, address) => {
      const answer = await page.goto(address)
      expect(answer?.status()).toBe(name === 'docs-not-found' ? 404 : 200)
      expect(await page.locator('h1').count()).toBe(1)
      await inspect(page, name)
      expect(await findFaintControls(page, knownControls)).toEqual([])
      expect(faults).toEqual([])
    },
    60_000,
  )

  test('a form to try an operation is sound when it is open, with an answer', async () => {
    await page.goto('/docs/reference/Manufacturers/listManufacturers')
    await page.getByText('Try it on this server').click()
    await page.getByText('More parameters').click()
    const { secureurl, privatekey, token } = shop.credentials
    await page.getByLabel('SecureURL').fill(secureurl)
    await page.getByLabel('PrivateKey').fill(privatekey)
    await page.getByLabel('Token').fill(token)
    await page.locator('[data-name=limit]').fill('1')
    await page.getByRole('button', { name: 'Send' }).click()
    await page.getByText(/^200 OK after/).waitFor()
    expect(await page.locator('.answer').textContent()).toMatch(/x-request-id: [\s\S]*"ManufacturerName": "Smith"/)
    await inspect(page, 'docs-try')
    expect(await findFaintControls(page, knownControls)).toEqual([])
  }, 60_000)

  test('a change is sent with its body, and a refusal shows what is wrong', async () => {
    await page.goto('/docs/reference/Products/updateProduct')
    await page.getByText('Try it on this server').click()
    for (const [name, value] of Object.entries(shop.credentials)) {
      await page.locator(`[data-key=${name} i]`).fill(value)
    }
    await page.getByLabel('Body').fill('{"SKUInfo": {"Price": "much"}}')
    const send = page.getByRole('button', { name: 'Send' })
    await send.click()
    await page.getByText(/^400 Bad Request after/).waitFor()
    expect(await page.locator('.answer').textContent()).toContain('SKUInfo.Price must be a number')
    await page.getByLabel('Body').fill('{"SKUInfo": {"Price": 9.5}}')
    await send.click()
    await page.getByText(/^200 OK after/).waitFor()
    expect((await shop.call('GET', '/Products/1')).json()[0].SKUInfo.Price).toBe(9.5)
  })

  test('a developer’s keys are filled in after a recent proof, and kept nowhere', async () => {
    const address = '/docs/reference/OrderStatus/listOrderStatuses'
    const own = await openContext(browser, server.origin, faults)
    const developer = await own.newPage()
    await developer.goto(address)
    await developer.getByText('Try it on this server').click()
    await developer.getByRole('button', { name: 'Use the keys of my application' }).click()
    await developer.getByText('You are not signed in.').waitFor()
    const signIn = await developer.getByRole('link', { name: 'Sign in as a developer' }).getAttribute('href')
    expect(signIn).toBe(`/developers/sign-in?next=${encodeURIComponent(address)}`)

    const publicKey = await signUpWithApplication(developer)
    const subscribed = await fetch(`${server.origin}/admin/stores/${shop.store.id}/subscriptions`, {
      method: 'POST',
      headers: { authorization: `Bearer ${operatorKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ PublicKey: publicKey }),
    })
    expect(subscribed.status).toBe(201)
    const { Token } = (await subscribed.json()) as { Token: string }

    await developer.goto(address)
    await developer.getByText('Try it on this server').click()
    await developer.getByRole('button', { name: 'Use the keys of my application' }).click()
    await developer.getByText('The keys are filled in.').waitFor()
    expect(await developer.locator('[data-key=Token]').inputValue()).toBe(Token)
    expect(await developer.locator('#try-store option').allTextContents()).toEqual([shop.store.name])
    await developer.getByRole('button', { name: 'Send' }).click()
    await developer.getByText(/^200 OK after/).waitFor()
    await inspect(developer, 'docs-try-own-keys')

    // On the next page they come by themselves; the browser has kept which ones, but none of them.
    await developer.goto('/docs/reference/Customers/listCustomers')
    await developer.getByText('Try it on this server').click()
    await developer.getByText('The keys are filled in.').waitFor()
    const kept = await developer.evaluate('JSON.stringify([{ ...localStorage }, { ...sessionStorage }])')
    expect(kept).not.toContain(Token)
    const html = await (await own.request.get('/docs/reference/Customers/listCustomers')).text()
    expect(html).not.toContain(Token)

    server.clock.ms += 16 * 60_000
    await developer.reload()
    await developer.getByText('Try it on this server').click()
    await developer.getByRole('link', { name: 'Show who you are' }).waitFor()
    expect(await developer.locator('[data-key=Token]').inputValue()).toBe('')
    await own.close()
  }, 60_000)

  test('the language that was chosen is that of all examples, here and on the next page', async () => {
    await page.goto('/docs/guides/first-webhook')
    await page.getByRole('group', { name: 'Language' }).nth(1).getByLabel('Python').check()
    await page.goto('/docs/guides/order-export')
    const shown = page.locator('.sample:visible .caption')
    expect(await shown.allTextContents()).toEqual([expect.stringContaining('Python')])
  })

  test('without a script everything can be read, examples can be chosen, and the search finds', async () => {
    const plain = await openContext(browser, server.origin, faults, { javaScriptEnabled: false })
    const reader = await plain.newPage()
    await reader.goto('/docs')
    await reader.getByRole('searchbox').fill('stock sync')
    await reader.getByRole('button', { name: 'Search' }).click()
    await reader.getByRole('main').getByRole('link', { name: 'Keep stock in sync' }).first().click()
    const shown = reader.locator('.sample:visible .caption')
    expect(await shown.allTextContents()).toEqual([expect.stringContaining('curl')])
    await reader.getByLabel('PHP').check()
    expect(await shown.allTextContents()).toEqual([expect.stringContaining('PHP')])
    await reader.goto('/docs/reference/Products/updateProduct')
    await reader.locator('details:has(#curl) > summary').click()
    await reader.getByText('curl -X PUT').waitFor()
    expect(await reader.getByText('Try it on this server').isVisible()).toBe(false)
    await plain.close()
  })

  async function signUpWithApplication(developer: Page): Promise<string> {
    await developer.goto('/developers/sign-up')
    await developer.getByLabel('E-mail address').fill('docs@developers.example')
    await developer.getByLabel('Password', { exact: true }).fill('correct horse battery')
    await developer.getByRole('main').getByRole('button').click()
    await developer.waitForURL('**/developers/applications**')
    await developer.goto('/developers/applications/new')
    await developer.getByLabel('Name', { exact: true }).fill('Stock sync')
    await developer.getByLabel('An existing program').check()
    await developer.getByLabel('Everything').check()
    await developer.getByRole('button', { name: 'Register' }).click()
    await developer.getByText('The application is registered.').waitFor()
    return (await developer.locator('#PublicKey').textContent()) ?? ''
  }
})
