import type { Browser, BrowserContext, CDPSession, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { codeOf } from '../../app/access/people/factors/fixture.ts'
import { merchantAccount } from '../../support/signed-in.ts'
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

const MINUTE_MS = 60_000
const factors = '/admin/account/factors'

describe.skipIf(!hasBrowser)('second factors in a browser', () => {
  let browser: Browser
  let server: ListeningServer
  const faults: string[] = []

  beforeAll(async () => {
    server = await openListeningServer()
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
  })

  interface Visit {
    readonly context: BrowserContext
    readonly page: Page
    readonly shop: TestStore
    readonly cdp: CDPSession
    /** Adds a device that may or may not make sure of its owner; its id. */
    readonly addDevice: (options?: { verifies?: boolean }) => Promise<string>
  }

  /** The owner of a new store, signed in with a browser that has no device for passkeys yet. */
  async function visit(): Promise<Visit> {
    const shop = await server.openStore()
    const context = await openContext(browser, server.origin, faults)
    const page = await context.newPage()
    await signIn(page, shop)
    await page.waitForURL('**/admin')
    const cdp = await context.newCDPSession(page)
    await cdp.send('WebAuthn.enable')
    const addDevice = async ({ verifies = true } = {}) => {
      const { authenticatorId } = await cdp.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: verifies,
          isUserVerified: verifies,
          automaticPresenceSimulation: true,
        },
      })
      return authenticatorId
    }
    return { context, page, shop, cdp, addDevice }
  }

  async function signIn(page: Page, { store }: TestStore) {
    await page.goto(`/admin/sign-in?store=${encodeURIComponent(store.secureUrl)}`)
    await page.getByLabel('E-mail address').fill(merchantAccount.Email)
    await page.getByLabel('Password').fill(merchantAccount.Password)
    await page.getByRole('button', { name: 'Sign in' }).click()
  }

  async function signOut(page: Page) {
    await page.goto('/admin/account')
    await page.locator('header').getByText('Account', { exact: true }).click()
    await page.locator('header').getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
  }

  async function addPasskey(page: Page, name: string) {
    await page.goto(factors)
    await page.getByLabel('Name of the passkey').fill(name)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
  }

  test('a passkey is added, is the second factor, and signs in alone where the device knows its owner', async () => {
    const { context, page, shop, addDevice } = await visit()
    await addDevice()
    await addPasskey(page, 'My phone')
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    await page.goto(factors)
    await page.getByRole('rowheader', { name: 'My phone' }).waitFor()
    await inspect(page, 'admin-account-factors-passkey')

    await signOut(page)
    await signIn(page, shop)
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
    await inspect(page, 'admin-sign-in-factor')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin')

    await signOut(page)
    await page.goto('/admin/sign-in?next=%2Fadmin%2Forders')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin/orders')
    const entries = await server.services.db.auditEntry.findMany({
      where: { storeId: shop.store.id, action: 'account.signed-in' },
      orderBy: { id: 'asc' },
    })
    expect(entries.map(({ details }) => details)).toEqual([{}, { factor: 'passkey' }, { factor: 'passkey' }])
    expect(faults).toEqual([])
    await context.close()
  })

  test('the proof after 15 minutes takes a passkey', async () => {
    const { context, page, addDevice } = await visit()
    await addDevice()
    await addPasskey(page, 'My phone')
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    server.clock.ms += 16 * MINUTE_MS
    await page.goto('/admin/people')
    await page.getByRole('heading', { name: 'Is it still you?' }).waitFor()
    await inspect(page, 'admin-prove')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin/people')
    await page.goto('/admin/people/security')
    await inspect(page, 'admin-people-security')
    expect(await findFaintControls(page, new Set())).toEqual([])
    expect(faults).toEqual([])
    await context.close()
  })

  test('a device that cannot make sure of its owner is a second factor, but does not sign in alone', async () => {
    const { context, page, shop, addDevice } = await visit()
    await addDevice({ verifies: false })
    await addPasskey(page, 'My key')
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    await signOut(page)
    await page.goto('/admin/sign-in')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('alert').getByText('No passkey was used').waitFor()
    await signIn(page, shop)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin')
    await context.close()
  })

  test('a copy of a passkey whose counter does not rise is refused, and so is one that was removed', async () => {
    const { context, page, shop, cdp, addDevice } = await visit()
    const authenticatorId = await addDevice()
    await addPasskey(page, 'My phone')
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    const [credential] = (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials
    if (!credential) throw new Error('The device has no passkey')
    const { db } = server.services
    await db.passkey.updateMany({ where: { credentialId: toUrl(credential.credentialId) }, data: { counter: 1_000 } })
    await signOut(page)
    await page.goto('/admin/sign-in')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('alert').getByText('The passkey was not accepted').waitFor()
    await db.passkey.updateMany({ where: { credentialId: toUrl(credential.credentialId) }, data: { counter: 0 } })
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin')

    await page.goto(factors)
    await page.getByRole('button', { name: 'Remove the passkey My phone' }).click()
    await page.getByText('The passkey is removed.').waitFor()
    await signOut(page)
    await page.goto('/admin/sign-in')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.getByRole('alert').getByText('The passkey was not accepted').waitFor()
    await signIn(page, shop)
    await page.waitForURL('**/admin')
    await context.close()
  })

  test('what a device has signed opens one session, however often and at once it is sent, and nothing for another purpose', async () => {
    const { context, page, shop, addDevice } = await visit()
    await addDevice()
    await addPasskey(page, 'My phone')
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    await signOut(page)
    await page.goto('/admin/sign-in')
    // As the page's script does, but without sending it.
    const Credential = await page.evaluate<string>(`(async () => {
      const answer = await fetch('/admin/sign-in/passkey/options', { method: 'POST', headers: { 'x-requested-with': 'a test' } })
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await answer.json())
      return JSON.stringify(await navigator.credentials.get({ publicKey }))
    })()`)
    const send = (url: string) => server.app.inject({ method: 'POST', url, payload: { Credential } })
    const { db } = server.services
    const ofStore = { where: { storeUser: { storeId: shop.store.id } } }
    const before = await db.session.count(ofStore)
    expect((await send('/developers/sign-in/passkey')).statusCode).toBe(401)
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('/admin/sign-in/passkey')))
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
    expect(await db.session.count(ofStore)).toBe(before + 1)
    await context.close()
  })

  test('ten passkeys are kept at most, and a device has one', async () => {
    const { context, page, addDevice, cdp } = await visit()
    const first = await addDevice()
    await addPasskey(page, 'Device 1')
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    await addPasskey(page, 'Device 1 again')
    await page.getByRole('alert').getByText('has a passkey of yours already').waitFor()
    let device = first
    for (let number = 2; number <= 10; number++) {
      await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId: device })
      device = await addDevice()
      await addPasskey(page, `Device ${number}`)
      await page.getByRole('rowheader', { name: `Device ${number}`, exact: false }).waitFor()
    }
    expect(await page.getByLabel('Name of the passkey').count()).toBe(0)
    const csrf = await page.locator('[name=_csrf]').first().inputValue()
    const answer = await page.request.post(`${factors}/passkeys/options`, {
      headers: { accept: 'application/json' },
      form: { _csrf: csrf },
    })
    expect(answer.status()).toBe(409)
    await context.close()
  })

  test('without JavaScript an app and a recovery code do, and no button for passkeys is seen', async () => {
    const shop = await server.openStore()
    const context = await browser.newContext({ baseURL: server.origin, javaScriptEnabled: false })
    context.setDefaultTimeout(10_000)
    const page = await context.newPage()
    await signIn(page, shop)
    await page.goto(factors)
    expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0)
    await page.getByRole('button', { name: 'Set up an app' }).click()
    const key = ((await page.locator('p:has-text("Key:") code').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code').fill(codeOf(server, key))
    await page.getByRole('button', { name: 'Confirm' }).click()
    const [recoveryCode = ''] = ((await page.locator('#codes').textContent()) ?? '').split('\n')
    await signOut(page)
    await signIn(page, shop)
    expect(await page.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0)
    await page.getByLabel('Code').fill(recoveryCode)
    await page.getByRole('button', { name: 'Sign in' }).click()
    await page.waitForURL('**/admin')
    await context.close()
  })

  test('the QR code and the recovery codes are sound for eyes, ears and keyboards', async () => {
    const { context, page } = await visit()
    await page.goto(factors)
    await inspect(page, 'admin-account-factors')
    await page.getByRole('button', { name: 'Set up an app' }).click()
    await page.getByRole('heading', { name: 'Set up an authenticator app' }).waitFor()
    expect(await page.evaluate(`document.querySelector('img.qr').naturalWidth > 0`)).toBe(true)
    await inspect(page, 'admin-account-authenticator')
    const key = ((await page.locator('p:has-text("Key:") code').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code').fill(codeOf(server, key))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    await inspect(page, 'admin-account-recovery-codes')
    expect(faults).toEqual([])
    await context.close()
  })
})

/** Base64url of base64, without padding. */
function toUrl(base64: string): string {
  return Buffer.from(base64, 'base64').toString('base64url')
}
