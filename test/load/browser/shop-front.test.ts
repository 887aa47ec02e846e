import { cp, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { fillSandbox } from '../../../src/operations/sandbox/records.ts'
import { compileBeside, installClient } from '../../support/installed-client.ts'
import { freePort, type Run, runProgram, temporaryFolder } from '../../support/run-server.ts'
import type { TestStore } from '../../support/store.ts'
import { hasBrowser, inspect, openStage, type Stage } from './browser.ts'

// The program of the guide docs/guides/shop-front.md, with the client that the server hands out, as a shopper sees it.

const program = fileURLToPath(new URL('../../../docs/guides/examples/shop-front/shop-front.ts', import.meta.url))

const address = {
  'First name': 'Ada',
  'Last name': '<i>O’Hara</i> & "Sons"',
  'E-mail address': 'ada@example.com',
  'Street and number': '1 Main Street',
  'Postal code': '33101',
  City: 'Miami',
  'Country, such as US': 'US',
}

describe.skipIf(!hasBrowser)('the shop front of the guide', () => {
  const folder = temporaryFolder()
  const app = join(folder, 'app')
  let stage: Stage
  let store: TestStore
  let shop: Run
  let url: string
  let page: Page

  beforeAll(async () => {
    stage = await openStage()
    store = await stage.openStore({ privileges: { Products: ['read', 'write'], Checkout: ['read', 'write'] } })
    await stage.database.db.$transaction((tx) => fillSandbox({ ...store.caller, db: tx }), { timeout: 60_000 })
    await skillet({ Name: 'Skillet <i>10"</i>' })
    await installClient(stage.origin, app)
    await cp(program, join(app, 'shop-front.ts'))
    const port = await freePort()
    const { secureurl: SECURE_URL, privatekey: PRIVATE_KEY, token: TOKEN } = store.credentials
    const keys = { API: `${stage.origin}/StoreWebAPI/v1`, PICTURES: stage.origin, SECURE_URL, PRIVATE_KEY, TOKEN }
    const env = { PATH: process.env.PATH ?? '', ...keys, PORT: String(port) }
    shop = runProgram(process.execPath, ['shop-front.ts'], { cwd: app, env })
    url = `http://localhost:${port}`
    await shop.shows(url)
    page = await stage.visit(undefined, { baseURL: url })
  })
  afterAll(async () => {
    await shop?.end()
    await stage?.close()
    await rm(folder, { recursive: true, force: true })
  })
  afterEach(() => expect(stage.faults.splice(0)).toEqual([]))

  const skillet = (SKUInfo: object) => store.call('PUT', '/Products/1', { body: { SKUInfo } })
  const orders = () => stage.services.db.order.count({ where: { storeId: store.store.id } })
  const button = (name: RegExp | string) => page.getByRole('button', { name })

  async function addToCart(name: string): Promise<void> {
    await page.goto(`/?q=${encodeURIComponent(name)}`)
    await button(/^Add /).first().click()
    await page.waitForURL('**/cart')
  }

  async function fillIn(): Promise<void> {
    for (const [label, text] of Object.entries(address)) await page.getByLabel(label).fill(text)
  }

  test('has 200 lines of 120 characters at most, and compiles as strictly as the compiler can', async () => {
    const lines = (await readFile(program, 'utf8')).trimEnd().split('\n')
    expect([lines.length <= 200, Math.max(...lines.map((line) => line.length)) <= 120]).toEqual([true, true])
    await compileBeside(app, 'shop-front.ts')
  })

  test('shows products and finds them by name, at a desk and on a phone', async () => {
    await page.goto('/')
    expect(await page.locator('.products > li').count()).toBe(24)
    expect(await page.locator('.products h2').first().textContent()).toBe('Skillet <i>10"</i>')
    await inspect(page, 'shop-front')
    await page.getByRole('link', { name: 'More' }).click()
    await page.getByLabel('Search').fill('<b>')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'No products found' }).waitFor()
    await page.getByLabel('Search').fill('t-shirt')
    await page.keyboard.press('Enter')
    await page.getByRole('heading', { name: 'Products named “t-shirt”' }).waitFor()
    expect(await page.locator('.products h2').first().textContent()).toContain('T-Shirt')
  })

  test('sells a cart once, though the button is pressed twice, and leads to the page of the order', async () => {
    await addToCart('t-shirt')
    await addToCart('skillet')
    await button(/^Remove /)
      .nth(1)
      .click()
    await addToCart('skillet')
    await inspect(page, 'shop-front-cart')
    await fillIn()
    const before = await orders()
    const [total = 'none'] = /[\d.]+/.exec((await button(/^Order and pay/).textContent()) ?? '') ?? []
    await button(/^Order and pay/).dblclick()
    await page.waitForURL(`${stage.origin}/order/**`)
    expect(await orders()).toBe(before + 1)
    expect(await page.locator('main').textContent()).toContain(total)
    await inspect(page, 'shop-front-order')

    await page.goBack()
    await button(/^Order and pay/).click()
    await page.waitForURL(`${stage.origin}/order/**`)
    expect(await orders()).toBe(before + 1)
    await page.goto(`${url}/cart`)
    await page.getByRole('heading', { name: 'Your cart is empty' }).waitFor()
  })

  test('sells at the price that was seen, and what is there; then the same cart again', async () => {
    await addToCart('skillet')
    await fillIn()
    const before = await orders()
    await skillet({ Price: 60 })
    await button(/^Order and pay/).click()
    await page.getByText('A price has changed').waitFor()
    await skillet({ Stock: 0 })
    await button('Order and pay 60.00 USD').click()
    await page.getByText('It is sold out.').waitFor()
    await inspect(page, 'shop-front-refused')
    expect([await orders(), await page.getByLabel('Last name').inputValue()]).toEqual([before, address['Last name']])
    await skillet({ Stock: 1 })
    await button(/^Order and pay/).click()
    await page.waitForURL(`${stage.origin}/order/**`)
    expect(await orders()).toBe(before + 1)
  })

  test('takes no form of another site', async () => {
    const body = new URLSearchParams({ product: '1', quantity: '1' })
    const send = (site: string) =>
      fetch(`${url}/cart`, { method: 'POST', body, headers: { 'sec-fetch-site': site }, redirect: 'manual' })
    const cookies = await Promise.all(
      ['same-origin', 'cross-site'].map(async (site) => (await send(site)).headers.get('set-cookie')),
    )
    expect(cookies).toEqual([expect.stringMatching(/^cart=[\da-f-]{36}~1:1; Path=/), null])
  })
})
