import type { Browser, BrowserContext, BrowserContextOptions, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { senderOf } from '../../app/access/mail/fixture.ts'
import { codeOf } from '../../app/access/people/factors/fixture.ts'
import { freshEmail, password } from '../../app/shop/staff/fixture.ts'
import { type MailReceiver, openMailReceiver } from '../../support/mail-receiver.ts'
import { programEnv, runProgram } from '../../support/run-server.ts'
import { merchantAccount } from '../../support/signed-in.ts'
import type { TestStore } from '../../support/store.ts'
import {
  hasBrowser,
  type ListeningServer,
  launchBrowser,
  openContext,
  openListeningServer,
  picture,
} from './browser.ts'

// How people come in and help themselves, at a desk and on a phone, with mails that arrive.

const desk = { width: 1280, height: 850 }
const phone = { width: 390, height: 844 }
const sizes = [
  { place: 'desk', options: { viewport: desk } },
  { place: 'phone', options: { viewport: phone } },
] as const
const looks = [...sizes, { place: 'phone without script', options: { viewport: phone, javaScriptEnabled: false } }]

describe.skipIf(!hasBrowser)('people', () => {
  let browser: Browser
  let receiver: MailReceiver
  let server: ListeningServer
  const faults: string[] = []
  const contexts: BrowserContext[] = []

  beforeAll(async () => {
    receiver = await openMailReceiver()
    server = await openListeningServer({ SANDBOX: 'no', SMTP_URL: receiver.url, MAIL_FROM: 'mail@shop.example' })
    browser = await launchBrowser()
  })
  afterAll(async () => {
    await browser?.close()
    await server?.close()
    await receiver?.close()
  })
  afterEach(async () => {
    await Promise.all(contexts.splice(0).map((context) => context.close()))
    expect(faults).toEqual([])
  })

  /** A browser that nobody has used yet. */
  async function newPage(options: BrowserContextOptions): Promise<Page> {
    const context = await openContext(browser, server.origin, faults, options)
    contexts.push(context)
    return context.newPage()
  }

  /** Sends what is due, and the link in the newest mail to an address. */
  async function linkTo(email: string): Promise<string> {
    const sender = senderOf(server.services)
    await sender.runDue()
    await sender.stop()
    const mail = receiver.mails.findLast(({ to }) => to.includes(email))
    const [link] = /http:\/\/\S+/.exec(mail?.text ?? '') ?? []
    if (link === undefined) throw new Error(`No mail with a link came to ${email}`)
    return link
  }

  /** Keeps a picture of the page, which is not wider than the screen. */
  async function look(page: Page, name: string): Promise<void> {
    await picture(page, `people-${name.replaceAll(' ', '-')}`)
    const overhang = await page.evaluate('document.documentElement.scrollWidth - document.documentElement.clientWidth')
    expect({ name, overhang }).toEqual({ name, overhang: 0 })
  }

  async function fillSignIn(page: Page, path: string, account: { Email: string; Password: string }): Promise<void> {
    await page.goto(path)
    await page.getByLabel('E-mail address').fill(account.Email)
    await page.getByLabel('Password').fill(account.Password)
    await page.getByRole('button', { name: 'Sign in', exact: true }).click()
  }

  /** Sets up an authenticator app from the page of factors; a recovery code. */
  async function setUpApp(page: Page, name = ''): Promise<string> {
    await page.getByRole('button', { name: 'Set up an app' }).click()
    const key = ((await page.locator('p:has-text("Key:") code').textContent()) ?? '').replaceAll(' ', '')
    if (name !== '') await look(page, name)
    await page.getByLabel('Code').fill(codeOf(server, key))
    await page.getByRole('button', { name: 'Confirm' }).click()
    return ((await page.locator('#codes').textContent()) ?? '').split('\n')[0] ?? ''
  }

  const signInOf = ({ store }: TestStore) => `/admin/sign-in?store=${encodeURIComponent(store.secureUrl)}`

  async function signOut(page: Page, area: string): Promise<void> {
    await page.goto(`/${area}/account`)
    const menu = page.getByRole('button', { name: 'Menu' })
    if (await menu.isVisible()) await menu.click()
    await page.locator('header').getByText('Account', { exact: true }).click()
    await page.locator('header').getByRole('button', { name: 'Sign out' }).click()
    await page.getByText('You are signed out.').waitFor()
  }

  test.each(sizes)(
    'at a $place, an owner invites a packer, who signs in with a passkey, ships, and is refused keys and products',
    async ({ place, options }) => {
      const shop = await server.openStore()
      await shop.call('POST', '/Products', { body: { SKUInfo: { SKU: 'LAMP', Name: 'Lamp', Price: 42.5, Stock: 10 } } })
      const order = await shop.placeOrder([{ ItemID: 'LAMP', ItemQuantity: 3 }])
      const email = freshEmail()

      const owner = await newPage(options)
      await fillSignIn(owner, signInOf(shop), merchantAccount)
      await owner.waitForURL('**/admin')
      await owner.goto('/admin/people')
      await owner.getByLabel('E-mail address').fill(email)
      await owner.getByRole('radio', { name: /^Orders/ }).check()
      await look(owner, `${place}-inviting`)
      await owner.getByRole('button', { name: 'Invite' }).click()
      await owner.getByRole('rowheader', { name: email }).waitFor()
      await look(owner, `${place}-invited`)

      const packer = await newPage(options)
      const cdp = await packer.context().newCDPSession(packer)
      await cdp.send('WebAuthn.enable')
      await cdp.send('WebAuthn.addVirtualAuthenticator', {
        options: {
          protocol: 'ctap2',
          transport: 'internal',
          hasResidentKey: true,
          hasUserVerification: true,
          isUserVerified: true,
          automaticPresenceSimulation: true,
        },
      })
      await packer.goto(await linkTo(email))
      await look(packer, `${place}-invitation`)
      await packer.getByLabel('New password').fill(password)
      await packer.getByRole('button', { name: 'Join the store' }).click()
      await packer.waitForURL('**/admin')
      await packer.goto('/admin/account/factors')
      await packer.getByLabel('Name of the passkey').fill('My phone')
      await packer.getByRole('button', { name: 'Add a passkey' }).click()
      await packer.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
      await look(packer, `${place}-recovery-codes`)
      await signOut(packer, 'admin')

      await packer.goto('/admin/sign-in')
      await packer.getByRole('button', { name: 'Use a passkey' }).click()
      await packer.waitForURL('**/admin')
      await look(packer, `${place}-packer-home`)
      await packer.goto(`/admin/orders/${order}`)
      await packer.getByRole('link', { name: 'Ship', exact: true }).click()
      await packer.getByLabel('Tracking number').fill('1Z 999')
      await packer.getByRole('button', { name: 'Ship', exact: true }).click()
      await packer.getByText('The goods are shipped.').waitFor()
      await look(packer, `${place}-shipped`)
      const [{ ShipmentList }] = (await shop.call('GET', `/Orders/${order}`)).json()
      expect(ShipmentList).toMatchObject([{ ShipmentTrackingCode: '1Z 999' }])

      // On a phone they lie behind a button.
      const inBar = (name: string) =>
        packer.locator('header').getByRole('link', { name, exact: true, includeHidden: true })
      await inBar('Orders').waitFor({ state: 'attached' })
      for (const name of ['Products', 'Applications', 'People', 'Webhooks']) {
        expect(await inBar(name).count(), name).toBe(0)
      }
      const keys = `stores/${shop.store.id}/subscriptions`
      for (const path of ['products', 'products/1/edit', keys, 'people', 'webhooks']) {
        const answer = await packer.goto(`/admin/${path}`)
        expect({ path, status: answer?.status() }).toEqual({ path, status: 403 })
      }
      await look(packer, `${place}-refused`)
    },
  )

  test.each(looks)(
    'at a $place, an owner without the phone comes in by a recovery code and takes the lost factor off',
    async ({ place, options }) => {
      const shop = await server.openStore()
      const before = await newPage(options)
      await fillSignIn(before, signInOf(shop), merchantAccount)
      await before.goto('/admin/account/factors')
      const recoveryCode = await setUpApp(before, `${place}-authenticator`)

      const page = await newPage(options)
      await fillSignIn(page, signInOf(shop), merchantAccount)
      await page.getByRole('heading', { name: 'Second factor' }).waitFor()
      await look(page, `${place}-second-factor`)
      await page.getByLabel('Code').fill(recoveryCode)
      await page.getByRole('button', { name: 'Sign in', exact: true }).click()
      await page.waitForURL('**/admin')
      await page.goto('/admin/account/factors')
      await page.getByText('9 are left').waitFor()
      await page.getByRole('button', { name: 'Remove the app' }).click()
      await page.getByRole('button', { name: 'Set up an app' }).waitFor()
      await look(page, `${place}-taken-off`)

      const after = await newPage(options)
      await fillSignIn(after, signInOf(shop), merchantAccount)
      await after.waitForURL('**/admin')
    },
  )

  test.each(looks)(
    'at a $place, an operator whom the command lets in opens a store, whose owner comes in by mail',
    async ({ place, options }) => {
      const [operator, owner] = [freshEmail(), freshEmail()]
      const program = new URL('../../../src/cli/new-operator.ts', import.meta.url).pathname
      const { operatorKey: OPERATOR_KEY } = server.services
      const { exited, output } = runProgram(process.execPath, [program, '--email', operator], {
        env: { ...programEnv, PUBLIC_URL: server.origin, OPERATOR_KEY },
      })
      expect(await exited, output()).toBe(0)
      const [link = ''] = /http:\/\/\S+/.exec(output()) ?? []

      const page = await newPage(options)
      await page.goto(link)
      await page.getByLabel('New password').fill(password)
      await look(page, `${place}-operator-password`)
      await page.getByRole('button', { name: 'Set the password' }).click()
      await page.waitForURL('**/operator/sign-in*')
      await fillSignIn(page, '/operator/sign-in', { Email: operator, Password: password })
      await page.getByText('Set up a second factor first').waitFor()
      await look(page, `${place}-operator-factor`)
      await setUpApp(page)
      await page.goto('/operator')
      await page.getByRole('heading', { name: 'This installation' }).waitFor()
      await look(page, `${place}-operator-home`)
      await page.goto('/operator/stores/new')
      const secureUrl = `https://${operator.split('@')[0]}.example`
      await page.getByLabel('Name of the store').fill('Garden & Co')
      await page.getByLabel('Secure address').fill(secureUrl)
      await page.getByLabel('E-mail address of the owner').fill(owner)
      await look(page, `${place}-opening`)
      await page.getByRole('button', { name: 'Open the store' }).click()
      await page.getByRole('heading', { name: 'Garden & Co' }).waitFor()
      await look(page, `${place}-opened`)

      const theirs = await newPage(options)
      await theirs.goto(await linkTo(owner))
      await theirs.getByLabel('New password').fill(password)
      await theirs.getByRole('button', { name: 'Join the store' }).click()
      await theirs.waitForURL('**/admin')
      await theirs.getByText('Garden & Co').first().waitFor()
      expect(await server.services.db.store.count({ where: { secureUrl } })).toBe(1)
    },
  )
})
