import type { Browser, BrowserContext, Page } from 'playwright-core'
import { Webhook } from 'standardwebhooks'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import type { TestStore } from '../../support/store.ts'
import { hasBrowser, type ListeningServer, launchBrowser, openContext, openListeningServer } from './browser.ts'
import { openReceiver } from './receiver.ts'

const PASSWORD = 'correct horse battery'

describe.skipIf(!hasBrowser)('in a browser', () => {
  let browser: Browser
  let server: ListeningServer
  let shop: TestStore
  let receiver: Awaited<ReturnType<typeof openReceiver>>
  let developer: Page
  let merchant: Page
  let contexts: BrowserContext[]
  let faults: string[]

  beforeAll(async () => {
    server = await openListeningServer()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })
  beforeEach(async () => {
    shop = await server.openStore()
    receiver = await openReceiver({ postBack: true })
    faults = []
    contexts = [await openContext(browser, server.origin, faults), await openContext(browser, server.origin, faults)]
    const pages = await Promise.all(contexts.map((context) => context.newPage()))
    developer = pages[0] as Page
    merchant = pages[1] as Page
  })
  afterEach(async () => {
    await Promise.all(contexts.map((context) => context.close()))
    await receiver.close()
    expect(faults).toEqual([])
  })

  test('a developer registers an application, a merchant lets it in, it calls, and is removed', async () => {
    await signUp()
    const { publicKey, privateKey } = await registerApplication({ CallBackURL: `${receiver.origin}/callback` })
    await signIn()

    await merchant.goto('/admin/modules/rest-api')
    await merchant.getByLabel('Public key').fill(publicKey)
    await merchant.getByRole('button', { name: 'Continue' }).click()
    await expect(merchant.getByRole('heading', { level: 1 }).textContent()).resolves.toContain('Order sync')
    const popup = merchant.waitForEvent('popup')
    await merchant.getByRole('button', { name: 'Allow' }).click()
    expect((await popup).url()).toBe(`${receiver.origin}/welcome`)
    await merchant.getByText('The application can now access your store.').waitFor()
    const token = await secretOf(merchant, 'token')

    const [authorize] = receiver.received
    expect(JSON.parse(authorize?.body ?? '')).toMatchObject({
      Action: 'AUTHORIZE',
      PublicKey: publicKey,
      TokenKey: token,
    })
    const callbackSecret = await secretOf(developer, 'CallBackSecret')
    new Webhook(callbackSecret).verify(authorize?.body ?? '', authorize?.headers as Record<string, string>)

    await developer.getByRole('link', { name: 'store uses this application' }).click()
    await developer.getByText('Token: show').click()
    expect(await developer.locator('details.secret code').textContent()).toBe(token)

    expect(await statusOf({ privateKey, token })).toBe(200)
    await merchant.getByText('Remove…').click()
    await merchant.getByRole('button', { name: 'Remove' }).click()
    await merchant.getByText('The application is removed.').waitFor()
    expect(receiver.received.map(({ body }) => JSON.parse(body).Action)).toEqual(['AUTHORIZE', 'REMOVE'])
    expect(await statusOf({ privateKey, token })).toBe(401)
  })

  test('the copy button copies what is hidden, and says so', async () => {
    await signUp()
    const { privateKey } = await registerApplication({})

    const secret = developer.locator('details.secret').filter({ has: developer.locator('#PrivateKey') })
    await secret.getByRole('button', { name: 'Copy' }).click()
    await secret.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await developer.evaluate('navigator.clipboard.readText()')).toBe(privateKey)
  })

  test('without JavaScript everything works but the popup, which is a link then', async () => {
    await signUp()
    const { publicKey } = await registerApplication({ CallBackURL: `${receiver.origin}/callback` })
    const plain = await browser.newContext({ baseURL: server.origin, javaScriptEnabled: false })
    contexts.push(plain)
    merchant = await plain.newPage()
    await signIn()

    await merchant.goto('/admin/modules/rest-api')
    await merchant.getByLabel('Public key').fill(publicKey)
    await merchant.getByRole('button', { name: 'Continue' }).click()
    await merchant.getByRole('button', { name: 'Allow' }).click()
    const link = merchant.getByText('Complete the set-up')
    expect(await link.getAttribute('href')).toBe(`${receiver.origin}/welcome`)
    expect(await link.getAttribute('rel')).toContain('noopener')
  })

  async function signUp() {
    await developer.goto('/developers')
    await developer
      .getByRole('main')
      .getByRole('link', { name: /account|sign up/i })
      .click()
    await developer.getByLabel('E-mail address').fill(`dev-${shop.store.id}@tools.example`)
    await developer.getByLabel('Password').fill(PASSWORD)
    await developer.getByRole('main').getByRole('button').click()
    await developer.waitForURL('**/developers/applications')
  }

  async function registerApplication(fields: { CallBackURL?: string; RedirectURIs?: string }) {
    await developer.getByText('New application', { exact: true }).click()
    await developer.getByLabel('Name', { exact: true }).fill('Order sync')
    await developer.getByLabel('An existing program').check()
    for (const [name, value] of Object.entries(fields)) await developer.locator(`[name=${name}]`).fill(value)
    await developer.getByLabel('Everything').check()
    await developer.getByRole('button', { name: 'Register' }).click()
    await developer.getByText('The application is registered.').waitFor()
    const publicKey = await developer.locator('#PublicKey').textContent()
    return { publicKey: publicKey ?? '', privateKey: await secretOf(developer, 'PrivateKey') }
  }

  async function signIn() {
    await merchant.goto(`/admin/sign-in?store=${encodeURIComponent(shop.store.secureUrl)}`)
    await merchant.getByLabel('E-mail address').fill('merchant@shop.example')
    await merchant.getByLabel('Password').fill(PASSWORD)
    await merchant.getByRole('button', { name: 'Sign in' }).click()
    await merchant.waitForURL('**/admin')
  }

  async function secretOf(page: Page, id: string): Promise<string> {
    const secret = page.locator('details.secret').filter({ has: page.locator(`#${id}`) })
    await secret.locator('summary').click()
    return (await secret.locator('code').textContent()) ?? ''
  }

  async function statusOf({ privateKey, token }: { privateKey: string; token: string }): Promise<number> {
    const answer = await fetch(`${server.origin}/StoreWebAPI/v1/Customers?countonly=1`, {
      headers: { PrivateKey: privateKey, Token: token, SecureURL: shop.store.secureUrl },
    })
    return answer.status
  }
})
