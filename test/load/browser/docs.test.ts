import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { subscribe } from '../../../src/access/applications/subscriptions/subscriptions.ts'
import { registered } from '../../app/http/pages/developers/fixture.ts'
import { operator } from '../../support/actors.ts'
import { developerIn } from '../../support/signed-in.ts'
import type { TestStore } from '../../support/store.ts'
import { hasBrowser, inspect, openStage, type Stage } from './browser.ts'
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
  ['docs-operation-operator', '/docs/reference/Operator/createStore'],
  ['docs-operation-oauth', '/docs/reference/OAuth/exchangeCode'],
  ['docs-changelog', '/docs/changelog'],
  ['docs-changelog-operators', '/docs/changelog/operators'],
  ['docs-policy', '/docs/policy'],
  ['docs-search', '/docs/search?q=stock'],
  ['docs-search-nothing', '/docs/search?q=xyzzy'],
  ['docs-not-found', '/docs/nothing'],
] as const

describe.skipIf(!hasBrowser)('the documentation', () => {
  let stage: Stage
  let shop: TestStore
  let page: Page
  const knownControls = new Set<string>()

  beforeAll(async () => {
    stage = await openStage()
    shop = await stage.openStore()
    await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Brass lamp', Price: 42.5 } } })
    await shop.call('POST', '/Manufacturers', { body: { ManufacturerName: 'Smith' } })
    // The first page makes all of them.
    await stage.app.inject('/docs')
    page = await stage.visit()
  })
  afterAll(() => stage?.close())
  afterEach(() => expect(stage.faults.splice(0)).toEqual([]))

  test.each(pages)('%s is sound for eyes, ears and keyboards, at a desk and on a phone', async (name, address) => {
    const answer = await page.goto(address)
    expect(answer?.status()).toBe(name === 'docs-not-found' ? 404 : 200)
    await inspect(page, name)
    expect(await findFaintControls(page, knownControls)).toEqual([])
  })

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
  })

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
    const stranger = await stage.visit()
    await stranger.goto(address)
    await stranger.getByText('Try it on this server').click()
    await stranger.getByRole('button', { name: 'Use the keys of my application' }).click()
    await stranger.getByText('You are not signed in.').waitFor()
    const signIn = await stranger.getByRole('link', { name: 'Sign in as a developer' }).getAttribute('href')
    expect(signIn).toBe(`/developers/sign-in?next=${encodeURIComponent(address)}`)

    const person = await developerIn(stage)
    const { PublicKey: publicKey } = await registered(person)
    const { token: Token } = await subscribe(stage.services, { storeId: shop.store.id, publicKey, actor: operator })
    const developer = await stage.visit(person)
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
    const html = await (await developer.request.get('/docs/reference/Customers/listCustomers')).text()
    expect(html).not.toContain(Token)

    stage.clock.ms += 16 * 60_000
    await developer.reload()
    await developer.getByText('Try it on this server').click()
    await developer.getByRole('link', { name: 'Show who you are' }).waitFor()
    expect(await developer.locator('[data-key=Token]').inputValue()).toBe('')
  })

  test('the language that was chosen is that of all examples, here and on the next page', async () => {
    await page.goto('/docs/guides/first-webhook')
    await page.getByRole('group', { name: 'Language' }).nth(1).getByLabel('Python').check()
    await page.goto('/docs/guides/order-export')
    const shown = page.locator('.sample:visible .caption')
    expect(await shown.allTextContents()).toEqual([expect.stringContaining('Python')])
  })

  test('without a script everything can be read, examples can be chosen, and the search finds', async () => {
    const reader = await stage.visit(undefined, { javaScriptEnabled: false })
    await reader.goto('/docs')
    await reader.getByRole('searchbox').fill('stock sync')
    await reader.getByRole('button', { name: 'Search' }).click()
    await reader.getByRole('main').getByRole('link', { name: 'Keep stock in sync' }).first().click()
    const shown = reader.locator('.sample:visible .caption')
    expect(await shown.allTextContents()).toEqual([expect.stringContaining('curl')])
    await reader.getByLabel('PHP').check()
    expect(await shown.allTextContents()).toEqual([expect.stringContaining('PHP')])
    await reader.goto('/docs/reference/Products/updateProduct')
    await reader.getByText('curl -X PUT').waitFor()
    // What an address leads to is not folded.
    await reader.goto('/docs/reference/Products/getProduct#answer.RewardPoints')
    await reader.getByText('RewardPoints', { exact: true }).waitFor()
    await reader.goto('/docs/reference/Products/updateProduct')
    expect(await reader.getByText('Try it on this server').isVisible()).toBe(false)
  })
})
