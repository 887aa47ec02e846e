import { afterEach, describe, expect, test } from 'vitest'
import { registerApplication } from '../../../../../src/access/applications/applications.ts'
import type { Privileges } from '../../../../../src/engine/caller.ts'
import type { TestPerson } from '../../../../support/person.ts'
import { type Answer, json, openReceiver, type Receiver, status } from '../../../../support/receiver.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { wordsOf } from './webhooks-fixture.ts'

const home = '/admin/modules/rest-api'

const receivers: Receiver[] = []

const server = await sharedServer({ OUTBOUND_ALLOW: '127.0.0.0/8' })
/** Its clock stands at noon of March 10 in New York. */
const shop = await server.openStore()
const merchant = await merchantIn(server, shop.store)

afterEach(async () => {
  await Promise.all(receivers.splice(0).map(({ close }) => close()))
})

interface TestApplication {
  readonly id: number
  readonly publicKey: string
  /** Changes what it asks for, as its developer does. */
  readonly ask: (privileges: Privileges) => Promise<unknown>
  /** A call with a token of the shop's; the status of its answer. */
  readonly callWith: (token: string, path?: string) => Promise<number>
}

let serial = 0

async function newApplication({
  name = `Tool ${++serial}`,
  privileges = null,
  callbackUrl = null,
}: {
  name?: string
  privileges?: Privileges
  callbackUrl?: string | null
} = {}): Promise<TestApplication> {
  const { services } = server
  const { id, publicKey, privateKey } = await registerApplication(services, { Name: name, Privileges: privileges })
  await services.db.application.update({ where: { id }, data: { callbackUrl } })
  return {
    id,
    publicKey,
    ask: (asked) => services.db.application.update({ where: { id }, data: { privileges: asked as object } }),
    callWith: async (token, path = '/OrderStatus') => {
      const { statusCode } = await server.app.inject({
        url: `/StoreWebAPI/v1${path}`,
        headers: { secureurl: shop.store.secureUrl, privatekey: privateKey, token },
      })
      return statusCode
    },
  }
}

/** An application that wants to be asked, with what it is asked. */
async function askedApplication(answer: Answer = status(200)) {
  const receiver = await openReceiver(answer)
  receivers.push(receiver)
  return { receiver, application: await newApplication({ callbackUrl: receiver.url }) }
}

function subscribeAddress({ publicKey }: TestApplication): string {
  return `${home}/subscribe?PublicKey=${publicKey}`
}

/** Opens a page, and gives what presses its button `action`, now or later and as often as wanted. */
async function openForm(url: string, action: string) {
  const { body } = await merchant.open(url)
  const [form = ''] = body.slice(body.indexOf(`action="${action}"`)).split('</form>', 1)
  const fields = [...form.matchAll(/<input type="hidden" name="([^"]+)" value="([^"]*)">/g)]
  const payload = new URLSearchParams()
  for (const [, name = '', value = ''] of fields) payload.append(name, value.replaceAll('&quot;', '"'))
  const headers = {
    accept: 'text/html',
    'content-type': 'application/x-www-form-urlencoded',
    cookie: [...merchant.cookies].map(([name, value]) => `${name}=${value}`).join('; '),
  }
  return () => server.app.inject({ method: 'POST', url: action, headers, payload: payload.toString() })
}

/** Presses Allow on the screen that the public key leads to. */
function allow(application: TestApplication, headers: Record<string, string> = {}) {
  return merchant.submit(subscribeAddress(application), {}, { action: `${home}/subscribe`, headers })
}

/** Presses Allow, and gives the address of the application's page. */
async function subscribed(application: TestApplication): Promise<string> {
  const answer = await allow(application)
  expect(answer.statusCode).toBe(303)
  return String(answer.headers.location).replace(/\?.*/, '')
}

async function tokenOn(address: string): Promise<string> {
  const { body } = await merchant.open(address)
  return /<code id="token">([^<]+)</.exec(body)?.[1] ?? ''
}

/** What joins the shop and the application. */
async function leftOf({ id: applicationId }: TestApplication) {
  const { db } = server.services
  const where = { storeId: shop.store.id, applicationId }
  const [subscriptions, handshakes, notices] = [
    await db.subscription.count({ where }),
    await db.handshake.count({ where }),
    await db.removalNotice.count({ where }),
  ]
  return { subscriptions, handshakes, notices }
}

const nothing = { subscriptions: 0, handshakes: 0, notices: 0 }

describe('letting an application in', () => {
  test('begins with its public key, and shows its name, what it asks for and whose server is asked', async () => {
    const privileges = { Products: ['read', 'write'], Orders: ['read'], GiftRegistries: ['write'], RMA: [] } as const
    const callbackUrl = 'https://hooks.tools.example:8443/callback'
    const application = await newApplication({ name: 'Stock Sync', privileges, callbackUrl })
    const list = await merchant.open(home)
    expect(list.body).toContain(`<form class="form" method="get" action="${home}/subscribe">`)

    const page = await merchant.open(`${home}/subscribe?PublicKey=%20${application.publicKey}%20`)
    const words = wordsOf(page.body)
    expect(page.statusCode).toBe(200)
    expect(words).toContain('Let Stock Sync in?')
    expect(words).toContain('Read and change Products Read Orders Change, without reading Gift registries ')
    expect(words).not.toContain('RMA')
    expect(words).toContain('Its server at hooks.tools.example:8443 is asked to confirm first')
    expect(await leftOf(application)).toEqual(nothing)
  })

  test('without a CallBackURL works at once: the token on its page is good', async () => {
    const application = await newApplication()
    expect(wordsOf((await merchant.open(subscribeAddress(application))).body)).not.toContain('is asked to confirm')

    const answer = await allow(application)
    expect([answer.statusCode, answer.headers.location]).toEqual([
      303,
      expect.stringMatching(/^\/admin\/modules\/rest-api\/\d+\?notice=subscribed$/),
    ])
    const page = await merchant.open(String(answer.headers.location))
    expect(wordsOf(page.body)).toContain('The application can now access your store.')
    expect(await application.callWith(await tokenOn(String(answer.headers.location)))).toBe(200)
  })

  test.each([
    ['500', status(500)],
    ['nothing', (response: Parameters<Answer>[0]) => response.destroy()],
  ])(
    'is refused when the CallBackURL answers %s: Server not Responding, and nothing is left',
    async (_what, answer) => {
      const { receiver, application } = await askedApplication(answer)

      const page = await allow(application)
      expect(page.statusCode).toBe(502)
      expect(wordsOf(page.body)).toMatch(/Server not Responding.*did not confirm.*Let Tool \d+ in\?/)
      const forProgram = await allow(application, { accept: 'application/json' })
      expect([forProgram.statusCode, forProgram.json()]).toEqual([
        502,
        [{ Key: 'Error', Value: '', Status: '502', Message: expect.stringMatching(/^Server not Responding/) }],
      ])
      const german = { accept: 'application/json', 'accept-language': 'de-DE' }
      expect((await allow(application, german)).json()).toMatchObject([
        { Message: expect.stringMatching(/Die Anwendung hat nicht zugestimmt, deshalb wurde nichts geändert/) },
      ])
      expect(await leftOf(application)).toEqual(nothing)

      receiver.answer = status(200)
      await subscribed(application)
    },
  )

  test('that asks the merchant to go on: the script is told where, and the page links there', async () => {
    const setUp = 'https://tools.example/set-up?store=1&step=2'
    const { application } = await askedApplication(json({ PostBackURL: setUp }))

    const answer = await allow(application, { accept: 'application/json' })
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      { PostBackURL: setUp, Location: expect.stringMatching(/^\/admin\/modules\/rest-api\/\d+\?notice=subscribed$/) },
    ])
    const page = await merchant.open(answer.json().Location)
    expect(page.body).toContain(
      `<a href="${setUp.replace('&', '&amp;')}" target="_blank" rel="noopener noreferrer" class="button">Complete the set-up at the application</a>`,
    )
    expect(wordsOf(page.body)).toContain('opens tools.example')
  })

  test('that asks for nothing more: the script is told where the page is alone', async () => {
    const { application } = await askedApplication(json({ PostBackURL: 'javascript:alert(1)' }))

    const answer = await allow(application, { accept: 'application/json' })
    expect(Object.keys(answer.json())).toEqual(['Location'])
    const page = await merchant.open(answer.json().Location)
    expect(page.body).not.toContain('javascript:')
    expect(page.body).not.toContain('Complete the set-up')
  })

  test('that the store uses already leads to its page', async () => {
    const { receiver, application } = await askedApplication()
    const address = await subscribed(application)

    const screen = await merchant.open(subscribeAddress(application))
    expect([screen.statusCode, screen.headers.location]).toEqual([303, address])
    expect(receiver.received).toHaveLength(1)
  })

  test('that asks for something else than was shown is shown again with what it asks for now, and not let in', async () => {
    const { receiver, application } = await askedApplication()
    await application.ask({ Products: ['read'] })
    const press = await openForm(subscribeAddress(application), `${home}/subscribe`)
    await application.ask({ Products: ['read'], Customers: ['read', 'write'] })

    const page = await press()
    expect(page.statusCode).toBe(409)
    expect(wordsOf(page.body)).toMatch(
      /has changed the privileges it asks for.*Read and change Customers Read Products/,
    )
    expect(page.body).toContain(`name="Privileges" value="${quoted(await askedBy(application))}"`)
    expect(receiver.received).toHaveLength(0)
    expect(await leftOf(application)).toEqual(nothing)
  })

  test.each([
    ['is no application’s', 'nonsense', 'is not the public key of an application'],
    ['is empty', '', 'must be a text of 1 to 200 characters on one line'],
  ])('by a key that %s says so beside the field, with what was typed', async (_which, key, problem) => {
    const page = await merchant.open(`${home}/subscribe?PublicKey=${key}`)

    expect(page.statusCode).toBe(400)
    expect(page.body).toContain(`name="PublicKey" type="text" value="${key}" required aria-invalid="true"`)
    expect(page.body).toContain(problem)
  })

  test.each([
    ['no privileges', undefined],
    ['no JSON', '{'],
    ['other privileges than there are', '{"Products":["own"]}'],
  ])('by a form with %s is refused', async (_what, privileges) => {
    const application = await newApplication()
    const fields = { Privileges: privileges ?? [] }

    const page = await merchant.submit(subscribeAddress(application), fields, { action: `${home}/subscribe` })
    expect(page.statusCode).toBe(400)
    expect(wordsOf(page.body)).toContain('is not what the page showed; load it again')
    expect(await leftOf(application)).toEqual(nothing)
  })
})

describe('the list', () => {
  test('of a store without applications says what to do next', async () => {
    const { store } = await server.openStore()
    await server.services.db.subscription.deleteMany({ where: { storeId: store.id } })
    const other = await merchantIn(server, store)

    const page = await other.open(home)
    expect(page.statusCode).toBe(200)
    expect(wordsOf(page.body)).toContain('No application works for your store yet.')
    expect(page.body).toContain('name="PublicKey"')
  })

  test('tells of each the name, what it may do, since when, and the last use', async () => {
    const own = await server.openStore({ privileges: { Products: ['read'] } })
    const owner = await merchantIn(server, own.store)
    expect(wordsOf((await owner.open(home)).body)).toContain(
      `${own.application.name} Read Products Mar 10, 2026, 12:00 PM EDT Not yet`,
    )

    await own.call('GET', '/Products')
    await server.services.callLog.flush()
    expect(wordsOf((await owner.open(home)).body)).toContain('Mar 10, 2026, 12:00 PM EDT now')
  })

  test('goes on after a hundred, and loses none', async () => {
    const { store } = await server.openStore()
    const owner = await merchantIn(server, store)
    const { db } = server.services
    const keys = Array.from({ length: 120 }, (_, index) => `many-${String(index).padStart(3, '0')}`)
    const createdAt = server.services.now()
    const sealed = { privateKeySealed: '', createdAt }
    await db.application.createMany({
      data: keys.map((key) => ({ name: key, publicKey: key, privateKeyHash: key, ...sealed })),
    })
    const applications = await db.application.findMany({ where: { publicKey: { in: keys } } })
    const tokenSealed = server.services.secrets.seal('token')
    await db.subscription.createMany({
      data: applications.map(({ id, publicKey }) => {
        return { storeId: store.id, applicationId: id, tokenHash: publicKey, tokenSealed, createdAt }
      }),
    })

    const seen: string[] = []
    let next: string | undefined = home
    while (next !== undefined) {
      const { body } = await owner.open(next)
      seen.push(...(body.match(/many-\d{3}/g) ?? []))
      next = /href="([^"]+)">More applications/.exec(body)?.[1]
    }
    expect(seen.toSorted()).toEqual(keys)
  })
})

describe('the page of an application', () => {
  test('shows names as they are, and runs nothing that they hold', async () => {
    const name = '<script>alert(1)</script>"\'&amp;'
    const screen = await newApplication({ name })
    const address = await subscribed(await newApplication({ name }))

    for (const url of [subscribeAddress(screen), home, address, `${address}/unsubscribe`]) {
      const page = await merchant.open(url)
      expect(page.statusCode).toBe(200)
      expect(page.body).toContain('&lt;script&gt;alert(1)&lt;/script&gt;')
      expect(page.body).not.toContain('<script>alert')
    }
  })

  test('tells the last calls and refusals, newest first, in the store’s time zone', async () => {
    const own = await server.openStore({ privileges: { Orders: ['read'] }, timeZone: 'Europe/Berlin' })
    const owner = await merchantIn(server, own.store)
    const address = await firstApplicationOf(owner)
    expect(wordsOf((await owner.open(address)).body)).toMatch(
      /None of its calls was refused\..*It has not called yet\./,
    )

    await own.call('GET', '/OrderStatus?limit=1')
    await own.call('GET', '/Customers')
    server.clock.ms += 60_000
    await own.call('GET', '/OrderStatus/new')
    await own.call('GET', '/OrderStatus')
    server.clock.ms -= 60_000
    await server.services.callLog.flush()

    const page = await owner.open(address)
    const [, refusals = '', calls = ''] = page.body
      .split(/<h2>Last (?:refusals|calls)<\/h2>/)
      .map((part) => wordsOf(part))
    const at = (time: string) => `Mar 10, 2026, ${time} PM GMT\\+1`
    const id = ' request [0-9a-f-]{36}'
    expect(refusals).toMatch(
      new RegExp(
        `${at('5:01')} GET /StoreWebAPI/v1/OrderStatus/:id${id} 400 .+ ` +
          `${at('5:00')} GET /StoreWebAPI/v1/Customers${id} 401 The application lacks the read privilege for Customers`,
      ),
    )
    expect(calls).toMatch(
      new RegExp(
        `${at('5:01')} GET /StoreWebAPI/v1/OrderStatus${id} 200 ${at('5:00')} GET /StoreWebAPI/v1/OrderStatus${id} 200`,
      ),
    )
    expect(page.body).not.toContain('limit=1')
  })

  test('lets the bodies of refused requests be kept, shows them, and deletes them when that ends', async () => {
    const own = await server.openStore({ timeZone: 'Europe/Berlin' })
    const owner = await merchantIn(server, own.store)
    const address = await firstApplicationOf(owner)
    const page = async () => (await owner.open(address)).body
    const press = () => owner.submit(address, {}, { action: `${address}/bodies` })
    expect(wordsOf(await page())).toMatch(/It is not kept\. .* names, addresses and orders of your customers/)

    expect((await press()).headers.location).toBe(`${address}?notice=bodies-kept`)
    await own.call('PUT', '/Products', { body: { SKUInfo: { CatalogID: 99, Name: '<b>Lamp</b>' } } })
    await server.services.callLog.flush()
    const kept = await page()
    expect(kept).toContain('It is kept and shown here and to the developer')
    expect(kept).toContain('&quot;Name&quot;: &quot;&lt;b&gt;Lamp&lt;/b&gt;&quot;')

    expect((await press()).headers.location).toBe(`${address}?notice=bodies-deleted`)
    expect(await page()).not.toContain('Lamp')
    const entries = await server.services.db.auditEntry.findMany({
      where: { storeId: own.store.id, action: { startsWith: 'subscription.bodies' } },
      orderBy: { id: 'asc' },
    })
    const by = { actorKind: 'merchant', applicationId: own.application.id, target: own.application.name }
    expect(entries).toMatchObject([
      { action: 'subscription.bodies-kept', ...by },
      { action: 'subscription.bodies-deleted', ...by },
    ])
  })

  test('refuses a switch that is neither on nor off, and changes nothing by one that is there already', async () => {
    const own = await server.openStore()
    const owner = await merchantIn(server, own.store)
    const address = await firstApplicationOf(owner)
    const answer = await owner.submit(address, { Keep: 'maybe' }, { action: `${address}/bodies` })
    expect([answer.statusCode, wordsOf(answer.body)]).toEqual([400, expect.stringContaining('must be true or false')])
    await owner.submit(address, { Keep: 'false' }, { action: `${address}/bodies` })
    const where = { storeId: own.store.id, action: { startsWith: 'subscription.bodies' } }
    expect(await server.services.db.auditEntry.count({ where })).toBe(0)
  })

  test('says what more is asked for; it may do that after the merchant agreed, and not before', async () => {
    const application = await newApplication({ privileges: { Products: ['read'] } })
    const address = await subscribed(application)
    const token = await tokenOn(address)
    expect((await merchant.open(home)).body).not.toContain('asks for more')

    await application.ask({ Products: ['read', 'write'], Orders: ['read'] })
    expect((await merchant.open(home)).body).toContain('asks for more')
    const page = wordsOf((await merchant.open(address)).body)
    expect(page).toMatch(
      /It asks for more .*to: Read Orders Change, without reading Products .*What it may do Read Products /,
    )
    expect(await application.callWith(token)).toBe(401)

    const agreed = await merchant.submit(address, {}, { action: `${address}/agree` })
    expect([agreed.statusCode, agreed.headers.location]).toEqual([303, `${address}?notice=agreed`])
    expect(await application.callWith(token)).toBe(200)
    const after = wordsOf((await merchant.open(`${address}?notice=agreed`)).body)
    expect(after).toMatch(/now has the privileges it asked for.*What it may do Read and change Products Read Orders/)
    expect(after).not.toContain('It asks for more')
  })

  test('shows what is asked for by now when it is more than was agreed to', async () => {
    const application = await newApplication({ privileges: {} })
    const address = await subscribed(application)
    await application.ask({ Products: ['read'] })
    const seen = JSON.stringify({ Products: ['read'] })
    await application.ask({ Products: ['read'], Customers: ['read'] })

    const page = await merchant.submit(address, { Privileges: seen }, { action: `${address}/agree` })
    expect(page.statusCode).toBe(409)
    expect(wordsOf(page.body)).toMatch(
      /has changed the privileges it asks for.*to: Read Customers, Products.*What it may do Nothing/,
    )
  })
})

describe('removing an application', () => {
  test('without a CallBackURL is done at once: its token is refused', async () => {
    const application = await newApplication()
    const address = await subscribed(application)
    const token = await tokenOn(address)
    expect(await application.callWith(token)).toBe(200)

    expect((await merchant.open(address)).body).toContain(`href="${address}/unsubscribe"`)
    const answer = await merchant.submit(`${address}/unsubscribe`, {})
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${home}?notice=unsubscribed`])
    expect(await application.callWith(token)).toBe(401)
    expect((await merchant.open(address)).statusCode).toBe(404)
  })

  test('is refused when the CallBackURL does not answer 200: it stays, and can be removed anyway', async () => {
    const { receiver, application } = await askedApplication()
    const address = await subscribed(application)
    const token = await tokenOn(address)
    const asked = wordsOf((await merchant.open(`${address}/unsubscribe`)).body)
    expect(asked).toMatch(/server at 127\.0\.0\.1:\d+ is notified first/)
    expect(asked).not.toContain('Remove anyway')
    receiver.answer = status(500)

    const refused = await merchant.submit(`${address}/unsubscribe`, {})
    expect(refused.statusCode).toBe(502)
    expect(wordsOf(refused.body)).toMatch(
      /Server not Responding.*did not confirm.*keeps trying in the background.*Remove anyway/,
    )
    expect(refused.body).toContain('<input type="hidden" name="Force" value="true">')
    expect(await application.callWith(token)).toBe(200)
    const forProgram = await merchant.submit(`${address}/unsubscribe`, {}, { headers: { accept: 'application/json' } })
    expect(forProgram.headers['x-error-code']).toBe('bad-gateway')
    expect([forProgram.statusCode, forProgram.json()[0].Message]).toEqual([
      502,
      expect.stringMatching(/^Server not Responding/),
    ])

    const forced = await merchant.submit(`${address}/unsubscribe`, { Force: 'true' })
    expect([forced.statusCode, forced.headers.location]).toEqual([303, `${home}?notice=unsubscribed`])
    expect(await application.callWith(token)).toBe(401)
    expect(await leftOf(application)).toEqual({ ...nothing, notices: 1 })
  })
})

test('what is done is in the audit log with the merchant’s name', async () => {
  const application = await newApplication({ privileges: {} })
  const address = await subscribed(application)
  await application.ask({ Products: ['read'] })
  await merchant.submit(address, {}, { action: `${address}/agree` })
  await merchant.submit(`${address}/unsubscribe`, {})

  const entries = await server.services.db.auditEntry.findMany({
    where: { storeId: shop.store.id, applicationId: application.id },
    orderBy: { id: 'asc' },
  })
  const by = { actorKind: 'merchant', actor: 'merchant@shop.example', storeId: shop.store.id }
  expect(entries).toMatchObject([
    { action: 'subscription.created', ...by },
    { action: 'subscription.agreed', ...by },
    { action: 'subscription.removed', ...by },
  ])
})

async function firstApplicationOf(person: TestPerson): Promise<string> {
  const { body } = await person.open(home)
  return new RegExp(`href="(${home}/\\d+)"`).exec(body)?.[1] ?? ''
}

async function askedBy({ id }: TestApplication): Promise<string> {
  const { privileges } = await server.services.db.application.findUniqueOrThrow({ where: { id } })
  return JSON.stringify(privileges)
}

function quoted(text: string): string {
  return text.replaceAll('"', '&quot;')
}
