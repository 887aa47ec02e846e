import type { CDPSession, Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import { codeOf } from '../../app/access/people/factors/fixture.ts'
import { registered } from '../../app/http/pages/developers/fixture.ts'
import type { TestPerson } from '../../support/person.ts'
import { developerIn, merchantAccount, merchantIn, operatorIn } from '../../support/signed-in.ts'
import type { TestStore } from '../../support/store.ts'
import { german, hasBrowser, inspect, openStage, type Stage } from './browser.ts'
import { findFaintControls } from './focus.ts'
import { prepare } from './people-fixture.ts'
import type { Places } from './shop-fixture.ts'

const MINUTE_MS = 60_000
const factors = '/admin/account/factors'
const consent =
  '/oauth/authorize?client_id={publicKey}&redirect_uri=https%3A%2F%2Fapp.example%2Fback&response_type=code'

/** One address of each template, by who opens it. */
const pages = {
  stranger: [
    '/',
    '/nowhere',
    '/cart.asmx',
    '/admin/sign-in',
    '/developers/sign-up',
    '/admin/reset',
    '/admin/reset?token=nonsense',
    '/admin/reset?token={resetToken}',
    '/admin/invitations?token={invitationToken}',
    '/admin/invitations?token=nonsense',
    '/account/sign-in?token=nonsense',
  ],
  owner: [
    '/admin/account',
    factors,
    '/admin/prove',
    '/admin/people/security',
    '/admin/account/address?token=nonsense',
    '/admin/change-store',
    '/admin/invitations?token={invitationToken}',
    '/admin/modules/rest-api/subscribe?PublicKey={publicKey}',
    consent,
    `${consent}&store_url={store}`,
    '/oauth/authorize?client_id=nobody',
  ],
  newcomer: [
    '/developers/applications',
    '/developers/applications/new',
    '/developers/test-stores',
    '/developers/inboxes',
    '/developers/audit',
  ],
  developer: [
    '/developers/applications',
    '/developers/applications/{applicationId}',
    '/developers/applications/{applicationId}/calls',
    '/developers/applications/{applicationId}/calls/{subscriptionId}',
    '/developers/applications/{applicationId}/stores',
    '/developers/applications/{applicationId}/delete',
    '/developers/test-stores',
    '/developers/test-stores/{testStoreId}',
    '/developers/inboxes',
    '/developers/inbox/{inbox}',
    '/developers/inbox/{inbox}/{messageId}',
  ],
  operator: [
    '/operator',
    '/operator/stores',
    '/operator/test-stores',
    '/operator/stores/new',
    '/operator/stores/{storeId}',
    '/operator/applications',
    '/operator/applications/{applicationId}',
    '/operator/developers',
    '/operator/people',
    '/operator/people/{factorId}',
    '/operator/people/{endingId}',
    '/operator/deliveries',
    '/operator/mails',
    '/operator/sizes',
    '/operator/operators',
    '/operator/account/factors?notice=factor-needed',
  ],
} as const

type Visitor = keyof typeof pages

let stage: Stage
beforeAll(async () => {
  if (hasBrowser) stage = await openStage()
})
afterAll(() => stage?.close())
afterEach(() => expect(stage?.faults.splice(0) ?? []).toEqual([]))

describe.skipIf(!hasBrowser)('the pages of people and programs', () => {
  let places: Places
  const visitors = new Map<Visitor, Page>()
  const knownControls = new Set<string>()

  beforeAll(async () => {
    const shop = await stage.openStore()
    const developer = await developerIn(stage)
    places = { ...(await prepare(stage, shop, developer)), store: encodeURIComponent(shop.store.secureUrl) }
    const people: Record<Visitor, TestPerson | undefined> = {
      stranger: undefined,
      owner: await merchantIn(stage, shop.store),
      newcomer: await developerIn(stage),
      developer,
      operator: await operatorIn(stage),
    }
    for (const [visitor, person] of Object.entries(people)) {
      visitors.set(visitor as Visitor, await stage.visit(person, german))
    }
  })

  const all = Object.entries(pages).flatMap(([visitor, of]) => of.map((address) => [address, visitor] as const))
  test.each(all)(
    '%s is sound for the eyes, ears and keyboard of a %s, at a desk and on a phone',
    async (...[address, by]) => {
      const page = visitors.get(by as Visitor) as Page
      await page.goto(address.replace(/\{(\w+)\}/g, (_, place) => String(places[place])))
      await inspect(page, `${by}${address.replaceAll(/\W+/g, '-').slice(0, 80)}`)
      expect(await findFaintControls(page, knownControls)).toEqual([])
    },
  )

  test('the copy button copies a secret, and says so', async () => {
    const developer = await developerIn(stage)
    const { Id, PrivateKey } = await registered(developer)
    const page = await stage.visit(developer)
    await page.goto(`/developers/applications/${Id}`)
    const secret = page.locator('details.secret').filter({ has: page.locator('#PrivateKey') })
    await secret.locator('summary').click()
    await secret.getByRole('button', { name: 'Copy' }).click()
    await secret.getByRole('button', { name: 'Copied' }).waitFor()
    expect(await page.evaluate('navigator.clipboard.readText()')).toBe(PrivateKey)
  })
})

describe.skipIf(!hasBrowser)('second factors', () => {
  interface Visit {
    readonly page: Page
    readonly shop: TestStore
    readonly cdp: CDPSession
    /** Adds a device that may or may not make sure of its owner; its id. */
    readonly addDevice: (options?: { verifies?: boolean }) => Promise<string>
  }

  /** The owner of a new store, signed in with a browser that has no device for passkeys yet. */
  async function visit(): Promise<Visit> {
    const shop = await stage.openStore()
    const page = await stage.visit(await merchantIn(stage, shop.store))
    const cdp = await page.context().newCDPSession(page)
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
    return { page, shop, cdp, addDevice }
  }

  /** As `visit`, with a passkey on a device. */
  async function visitWithPasskey(options?: { verifies: boolean }): Promise<Visit & { readonly device: string }> {
    const owner = await visit()
    const device = await owner.addDevice(options)
    await addPasskey(owner.page, 'My phone')
    await owner.page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
    return { ...owner, device }
  }

  async function addPasskey(page: Page, name: string) {
    await page.goto(factors)
    await page.getByLabel('Name of the passkey').fill(name)
    await page.getByRole('button', { name: 'Add a passkey' }).click()
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

  async function signInByPasskey(page: Page, next = '/admin') {
    await page.goto(`/admin/sign-in?next=${encodeURIComponent(next)}`)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
  }

  const refusal = (page: Page) => page.getByRole('alert').getByText('The passkey was not accepted').waitFor()

  test('a passkey is added, is the second factor, and signs in alone where the device knows its owner', async () => {
    const { page, shop } = await visitWithPasskey()
    await page.goto(factors)
    await page.getByRole('rowheader', { name: 'My phone' }).waitFor()
    await inspect(page, 'factors-passkey')

    await signOut(page)
    await signIn(page, shop)
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
    await inspect(page, 'sign-in-factor')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin')

    await signOut(page)
    await signInByPasskey(page, '/admin/orders')
    await page.waitForURL('**/admin/orders')
    const entries = await stage.services.db.auditEntry.findMany({
      where: { storeId: shop.store.id, action: 'account.signed-in' },
      orderBy: { id: 'asc' },
    })
    expect(entries.map(({ details }) => details)).toEqual([{}, { factor: 'passkey' }, { factor: 'passkey' }])
  })

  test('the proof after 15 minutes takes a passkey', async () => {
    const { page } = await visitWithPasskey()
    stage.clock.ms += 16 * MINUTE_MS
    await page.goto('/admin/people')
    await page.getByRole('heading', { name: 'Is it still you?' }).waitFor()
    await inspect(page, 'prove')
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin/people')
    await page.goto('/admin/people/security')
    await inspect(page, 'people-security')
    expect(await findFaintControls(page, new Set())).toEqual([])
  })

  test('a device that cannot make sure of its owner is a second factor, but does not sign in alone', async () => {
    const { page, shop } = await visitWithPasskey({ verifies: false })
    await signOut(page)
    await signInByPasskey(page)
    await page.getByRole('alert').getByText('No passkey was used').waitFor()
    await signIn(page, shop)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin')
  })

  test('a copy of a passkey whose counter does not rise is refused, and so is one that was removed', async () => {
    const { page, shop, cdp, device: authenticatorId } = await visitWithPasskey()
    const [credential] = (await cdp.send('WebAuthn.getCredentials', { authenticatorId })).credentials
    const credentialId = Buffer.from(credential?.credentialId ?? '', 'base64').toString('base64url')
    const { db } = stage.services
    const setCounter = (counter: number) => db.passkey.update({ where: { credentialId }, data: { counter } })
    await setCounter(1_000)
    await signOut(page)
    await signInByPasskey(page)
    await refusal(page)
    await setCounter(0)
    await page.getByRole('button', { name: 'Use a passkey' }).click()
    await page.waitForURL('**/admin')

    await page.goto(factors)
    await page.getByRole('button', { name: 'Remove the passkey My phone' }).click()
    await page.getByText('The passkey is removed.').waitFor()
    await signOut(page)
    await signInByPasskey(page)
    await refusal(page)
    await signIn(page, shop)
    await page.waitForURL('**/admin')
  })

  test('what a device has signed opens one session, however often and at once it is sent, and nothing for another purpose', async () => {
    const { page, shop } = await visitWithPasskey()
    await signOut(page)
    await page.goto('/admin/sign-in')
    // As the page's script does, but without sending it.
    const Credential = await page.evaluate<string>(`(async () => {
      const answer = await fetch('/admin/sign-in/passkey/options', { method: 'POST', headers: { 'x-requested-with': 'a test' } })
      const publicKey = PublicKeyCredential.parseRequestOptionsFromJSON(await answer.json())
      return JSON.stringify(await navigator.credentials.get({ publicKey }))
    })()`)
    const send = (url: string) => stage.app.inject({ method: 'POST', url, payload: { Credential } })
    const { db } = stage.services
    const ofStore = { where: { storeUser: { storeId: shop.store.id } } }
    const before = await db.session.count(ofStore)
    expect((await send('/developers/sign-in/passkey')).statusCode).toBe(401)
    const answers = await Promise.all(Array.from({ length: 20 }, () => send('/admin/sign-in/passkey')))
    expect(answers.filter(({ statusCode }) => statusCode === 200)).toHaveLength(1)
    expect(await db.session.count(ofStore)).toBe(before + 1)
  })

  test('ten passkeys are kept at most, and a device has one', async () => {
    const { page, shop, cdp, addDevice, device: authenticatorId } = await visitWithPasskey()
    await addPasskey(page, 'My phone again')
    await page.getByRole('alert').getByText('has a passkey of yours already').waitFor()
    const { db } = stage.services
    const ofOwner = { identity: { users: { some: { storeId: shop.store.id } } } }
    const { id, ...passkey } = await db.passkey.findFirstOrThrow({ where: ofOwner })
    for (let n = 2; n <= 9; n++)
      await db.passkey.create({ data: { ...passkey, credentialId: `${passkey.credentialId}${n}` } })
    await cdp.send('WebAuthn.removeVirtualAuthenticator', { authenticatorId })
    await addDevice()
    await addPasskey(page, 'The tenth')
    await page.getByRole('rowheader', { name: 'The tenth' }).waitFor()
    expect(await page.getByLabel('Name of the passkey').count()).toBe(0)
    const csrf = await page.locator('[name=_csrf]').first().inputValue()
    const answer = await page.request.post(`${factors}/passkeys/options`, {
      headers: { accept: 'application/json' },
      form: { _csrf: csrf },
    })
    expect(answer.status()).toBe(409)
  })

  test('without JavaScript no button for passkeys is seen, and an app is set up', async () => {
    const shop = await stage.openStore()
    const page = await stage.visit(undefined, { javaScriptEnabled: false })
    await signIn(page, shop)
    await page.goto(factors)
    expect(await page.getByRole('button', { name: 'Add a passkey' }).count()).toBe(0)
    await setUpApp(page)
    await signOut(page)
    await signIn(page, shop)
    await page.getByRole('heading', { name: 'Second factor' }).waitFor()
    expect(await page.getByRole('button', { name: 'Use a passkey' }).count()).toBe(0)
  })

  test('the QR code and the recovery codes are sound for eyes, ears and keyboards', async () => {
    const { page } = await visit()
    await page.goto(factors)
    await setUpApp(page, async () => {
      expect(await page.evaluate(`document.querySelector('img.qr').naturalWidth > 0`)).toBe(true)
      await inspect(page, 'authenticator')
    })
    await inspect(page, 'recovery-codes')
  })

  async function setUpApp(page: Page, look = async () => {}) {
    await page.getByRole('button', { name: 'Set up an app' }).click()
    await page.getByRole('heading', { name: 'Set up an authenticator app' }).waitFor()
    await look()
    const key = ((await page.locator('p:has-text("Key:") code').textContent()) ?? '').replaceAll(' ', '')
    await page.getByLabel('Code').fill(codeOf(stage, key))
    await page.getByRole('button', { name: 'Confirm' }).click()
    await page.getByRole('heading', { name: 'Your recovery codes' }).waitFor()
  }
})
