import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import type { Page } from 'playwright-core'
import { afterAll, afterEach, beforeAll, describe, expect, test } from 'vitest'
import {
  page as address,
  callStatus,
  exchangeOf,
  openClient,
  post,
  queryOf,
  type TestClient,
} from '../../../app/http/oauth/fixture.ts'
import { merchantAccount } from '../../../support/signed-in.ts'
import type { TestStore } from '../../../support/store.ts'
import { hasBrowser, openStage, type Stage } from '../../browser/browser.ts'

let stage: Stage
let program: Awaited<ReturnType<typeof openProgram>>
beforeAll(async () => {
  if (!hasBrowser) return
  stage = await openStage()
  program = await openProgram()
})
afterAll(async () => {
  program?.close()
  await stage?.close()
})
afterEach(() => expect(stage?.faults.splice(0) ?? []).toEqual([]))

describe.skipIf(!hasBrowser)('in a browser', () => {
  test.each([true, false])(
    'a merchant signs in on the way, allows, and is led on to wherever the application leads, JavaScript: %s',
    async (javaScriptEnabled) => {
      const { client, shop } = await prepare()
      const page = await stage.visit(undefined, { javaScriptEnabled })
      await page.goto(`${address}?${queryOf(client, null, { state: 'a b%FF&=é' })}`)
      await page.getByLabel('Address of your store').fill(shop.store.secureUrl.replace('https://', ''))
      await page.getByRole('button', { name: 'Continue' }).click()
      await signIn(page)
      await page.getByRole('button', { name: 'Allow' }).click()
      await page.waitForURL(`${program.elsewhere}/done*`)

      const back = new URL(program.visits.at(-1) ?? '', program.origin).searchParams
      expect([back.get('state'), back.get('iss')]).toEqual(['a b%FF&=é', stage.origin])
      const answer = await post(stage, '/oauth/token', exchangeOf(client, back.get('code') ?? ''))
      expect(await callStatus(stage, { authorization: `Bearer ${answer.json().access_token}` })).toBe(200)
    },
  )

  test('an application that does not confirm is not let in, as the page says in place', async () => {
    const { client, shop } = await prepare({ CallBackURL: `${program.origin}/callback` })
    const page = await stage.visit()
    program.callback = [500, '']
    await page.goto(`${address}?${queryOf(client, shop.store)}`)
    await signIn(page)
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.getByRole('alert').getByText('Server not Responding').waitFor()
    expect(page.url()).toContain(address)
    program.callback = [200, '']
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${program.elsewhere}/done*`)
  })

  test('PostBackURL opens in a popup, and the page goes on to the application', async () => {
    const { client, shop } = await prepare({ CallBackURL: `${program.origin}/callback` })
    const page = await stage.visit()
    program.callback = [200, JSON.stringify({ PostBackURL: `${program.origin}/setup` })]
    await page.goto(`${address}?${queryOf(client, shop.store)}`)
    await signIn(page)
    const popup = page.context().waitForEvent('page')
    await page.getByRole('button', { name: 'Allow' }).click()
    await page.waitForURL(`${program.elsewhere}/done*`)
    await (await popup).waitForURL(`${program.origin}/setup`)
  })

  test('an application that opened a window for it hears from its redirect address in there', async () => {
    const { client, shop } = await prepare({ RedirectURIs: [`${program.origin}/popup`] })
    const page = await stage.visit()
    await page.goto(`${program.origin}/app`)
    const opened = page.context().waitForEvent('page')
    const url = `${stage.origin}${address}?${queryOf(client, shop.store)}`
    await page.evaluate(`addEventListener('message', ({ data }) => { window.heard = data });
      void window.open(${JSON.stringify(url)}, '_blank', 'popup')`)
    const popup = await opened
    await signIn(popup)
    await popup.getByRole('button', { name: 'Allow' }).click()
    await page.waitForFunction('window.heard')
    expect(await page.evaluate('window.heard')).toMatch(/^\?code=[\w-]{43}&state=xyz&iss=/)
  })
})

async function prepare(body: object = {}): Promise<{ client: TestClient; shop: TestStore }> {
  const client = await openClient(stage, { RedirectURIs: [`${program.origin}/back?x=1`], ...body })
  return { client, shop: await stage.openStore() }
}

async function signIn(page: Page): Promise<void> {
  await page.getByLabel('E-mail').fill(merchantAccount.Email)
  await page.getByLabel('Password').fill(merchantAccount.Password)
  await page.getByRole('button', { name: 'Sign in' }).click()
}

/** An application: its redirect address leads on to a host of its own choice, as many do. */
async function openProgram() {
  const visits: string[] = []
  const state = { callback: [200, ''] as [number, string] }
  const receiver: Server = createServer((request, response) => {
    const url = request.url ?? ''
    request.resume()
    if (url.startsWith('/callback')) return response.writeHead(...([state.callback[0]] as const)).end(state.callback[1])
    if (url.startsWith('/back')) {
      visits.push(url)
      return response.writeHead(302, { location: `${elsewhere}/done` }).end()
    }
    const script = url.startsWith('/popup') ? '<script>window.opener.postMessage(location.search, "*")</script>' : ''
    return response.writeHead(200, { 'content-type': 'text/html' }).end(`<!doctype html><title>App</title>${script}`)
  }).listen(0, '127.0.0.1')
  await new Promise((done) => receiver.once('listening', done))
  const { port } = receiver.address() as AddressInfo
  const elsewhere = `http://localhost:${port}`
  return Object.assign(state, {
    visits,
    elsewhere,
    origin: `http://127.0.0.1:${port}`,
    close: () => {
      receiver.closeAllConnections()
      receiver.close()
    },
  })
}
