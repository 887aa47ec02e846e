import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { TestStore } from '../../support/store.ts'
import { hasBrowser, inspect, type ListeningServer, launchBrowser, openListeningServer } from './browser.ts'

describe.skipIf(!hasBrowser)('a field that names a record', () => {
  let browser: Browser
  let server: ListeningServer
  let shop: TestStore

  beforeAll(async () => {
    server = await openListeningServer()
    browser = await launchBrowser()
    shop = await server.openStore()
    await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp' } } })
    for (const ManufacturerName of ['Alder & Finch', 'Alder Lamps of the long and winding road', 'Birch']) {
      await shop.call('POST', '/Manufacturers', { body: { ManufacturerName } })
    }
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  const openForm = async (javaScriptEnabled: boolean) => {
    const context = await browser.newContext({ baseURL: server.origin, javaScriptEnabled })
    context.setDefaultTimeout(10_000)
    const page = await context.newPage()
    await page.goto(`/admin/sign-in?store=${encodeURIComponent(shop.store.secureUrl)}`)
    await page.getByLabel('E-mail address').fill('merchant@shop.example')
    await page.getByLabel('Password').fill('correct horse battery')
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL('**/admin')
    await page.goto('/admin/products/1/edit')
    return { context, page, field: page.locator('[name="ManufacturerID"]') }
  }

  test('suggests records while somebody types, and says the name of the one that is chosen', async () => {
    const { context, page, field } = await openForm(true)
    await field.fill('')
    await field.pressSequentially('alder', { delay: 20 })
    const suggestions = page.locator('[id="ManufacturerID-matches"] option')
    await suggestions.nth(1).waitFor({ state: 'attached' })
    expect(await suggestions.count()).toBe(2)
    const chosen = await suggestions.last().getAttribute('value')
    await field.fill(chosen ?? '')
    await page.getByRole('status').getByText('Alder & Finch').waitFor()
    await page.getByRole('button', { name: 'Save', exact: true }).click()
    await page.getByText('The changes are saved.').waitFor()
    const link = page.getByRole('link', { name: 'Alder & Finch', exact: true })
    expect(await link.first().getAttribute('href')).toBe('/admin/manufacturers/1')
    await context.close()
  })

  test.each([true, false])('offers what fits, and Enter saves, JavaScript: %s', async (javaScriptEnabled) => {
    const { context, page, field } = await openForm(javaScriptEnabled)
    await field.fill('alder')
    await page.getByRole('textbox', { name: 'Short description' }).fill('typed')
    await page.getByRole('button', { name: 'Look up the Manufacturer' }).click()
    await page.getByText('What fits “alder”').waitFor()
    if (javaScriptEnabled) await inspect(page, 'admin-product-choices')
    await page.getByLabel('2 Alder Lamps').check()
    await page.getByLabel('Name', { exact: false }).first().press('Enter')
    await page.getByText('The changes are saved.').waitFor()
    const [product] = (await shop.call('GET', '/Products/1')).json()
    expect(product).toMatchObject({ ManufacturerID: 2, ShortDescription: 'typed' })
    await shop.call('PUT', '/Products/1', { body: { ManufacturerID: 0, ShortDescription: '' } })
    await context.close()
  })
})
