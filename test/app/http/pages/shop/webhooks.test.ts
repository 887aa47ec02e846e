import { beforeEach, describe, expect, test } from 'vitest'
import type { TestPerson } from '../../../../support/person.ts'
import { merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer, type TestStore } from '../../../../support/store.ts'
import { pageAt, storedDelivery, storedWebhook, wordsOf } from './webhooks-fixture.ts'

const home = '/admin/webhooks'

/** Its clock stands at noon of March 10 in New York. */
let shop: TestStore
let merchant: TestPerson

const server = await sharedServer()
const start = server.clock.ms
beforeEach(async () => {
  shop = await server.openStore()
  merchant = await merchantIn(server, shop.store)
})

const valid = {
  Name: 'Warehouse',
  Url: 'https://hooks.example/orders',
  EventType: '1',
  Format: 'JSON',
  Enabled: 'true',
}

function add(fields: Record<string, string | string[]> = {}) {
  return merchant.submit(`${home}/new`, { ...valid, ...fields }, { action: home })
}

/** Presses a button of a webhook's page. */
function press(id: number, button: string, fields: Record<string, string> = {}) {
  const address = `${home}/${id}`
  return merchant.submit(address, fields, { action: button === '' ? address : `${address}/${button}` })
}

function webhookRow(id: number) {
  return server.services.db.webhook.findFirstOrThrow({ where: { storeId: shop.store.id, id } })
}

function deliveriesOf(id: number) {
  return server.services.db.delivery.findMany({
    where: { storeId: shop.store.id, webhookId: id },
    orderBy: { id: 'asc' },
    include: { event: true },
  })
}

/** The newest entries of the store's audit log. */
async function audited(limit: number) {
  const entries = (await merchant.call('GET', `/admin/audit?limit=${limit}`)).json()
  return entries.map(({ Action, Target, Details }: Record<string, unknown>) => ({ Action, Target, Details }))
}

const page = (address: string) => pageAt(merchant, address)

describe('a new webhook', () => {
  test('belongs to the store, is on, and is told of in the audit log without its query', async () => {
    const answer = await add({ Url: ' https://hooks.example/orders?token=s3cret ' })
    const id = Number(/webhooks\/(\d+)\?notice=webhook-added$/.exec(String(answer.headers.location))?.[1])
    expect(answer.statusCode).toBe(303)
    expect(await webhookRow(id)).toMatchObject({
      subscriptionId: null,
      name: 'Warehouse',
      url: 'https://hooks.example/orders?token=s3cret',
      eventType: 1,
      format: 'JSON',
      enabled: true,
      updatedBy: 'merchant@shop.example',
    })
    expect(await audited(1)).toEqual([
      {
        Action: 'webhook.created',
        Target: 'Warehouse',
        Details: { event: 'Order New', address: 'hooks.example/orders?…' },
      },
    ])
    expect(wordsOf(await page(String(answer.headers.location)))).toContain('The webhook is added.')
    expect(wordsOf(await page('/admin/audit'))).toContain('Webhook added')
  })

  test('may be off, and speak XML', async () => {
    const answer = await add({ Format: 'XML', Enabled: [] })
    const id = Number(/webhooks\/(\d+)/.exec(String(answer.headers.location))?.[1])
    expect(await webhookRow(id)).toMatchObject({ format: 'XML', enabled: false, disabledAt: new Date(start) })
  })

  test.each([
    { field: 'Name', given: { Name: '' }, says: 'is required' },
    { field: 'Url', given: { Url: 'ftp://hooks.example/' }, says: 'must begin with http:// or https://' },
    { field: 'EventType', given: { EventType: '' }, says: 'is required' },
    { field: 'EventType', given: { EventType: '99' }, says: 'must be one of' },
    { field: 'Format', given: { Format: 'CSV' }, says: 'must be' },
    { field: 'Members', given: { Members: 'OrderItemList' }, says: 'does not apply to Order New' },
  ])('is refused with what is wrong beside $field: $given, and what was typed is still there', async (wrong) => {
    const { body, statusCode } = await add({ Name: 'Lager "1"', Enabled: [], ...wrong.given })
    expect(statusCode).toBe(400)
    const problem = new RegExp(`<small id="${wrong.field}-problem"[^>]*>([^<]*)<`).exec(body)?.[1]
    expect(problem).toContain(wrong.says)
    expect(problem).toMatch(/^(Name|Address|Event|Format|Members) (is|must|has|does)/)
    expect(new RegExp(`id="${wrong.field}"[^>]* aria-invalid="true"`).test(body)).toBe(true)
    if (wrong.field !== 'Name') expect(body).toContain('value="Lager &quot;1&quot;"')
    if (wrong.field !== 'EventType') expect(body).toContain('<option value="1" selected>Order New</option>')
    expect(/name="Enabled"[^>]*checked/.test(body)).toBe(false)
    expect(await server.services.db.webhook.count({ where: { storeId: shop.store.id } })).toBe(0)
    expect(await audited(1)).not.toMatchObject([{ Action: 'webhook.created' }])
  })
})

describe('the list', () => {
  test('of a store without webhooks says what to do next', async () => {
    const body = await page(home)
    expect(wordsOf(body)).toContain('Nobody is notified yet.')
    expect(body).toContain('href="/admin/webhooks/new"')
  })

  test('tells of each the event, where it leads, whose it is, how it does and when it last got through', async () => {
    const { id: subscriptionId } = await server.services.db.subscription.findFirstOrThrow({
      where: { storeId: shop.store.id },
    })
    const earlier = new Date(start - 3 * 3_600_000)
    const fine = await storedWebhook(server, shop, { name: 'Fine', subscriptionId })
    await storedDelivery(server, fine, { endedAt: earlier })
    await storedWebhook(server, shop, {
      name: 'Failing',
      eventType: 5,
      failingSince: earlier,
      url: 'http://a.example:81',
    })
    await storedWebhook(server, shop, { name: 'Off', enabled: false, disabledAt: earlier, failingSince: earlier })
    await storedWebhook(server, shop, {
      name: 'Paused',
      enabled: false,
      disabledAt: earlier,
      pauseReason: 'It is <gone>',
    })

    const words = wordsOf(await page(home))
    expect(words).toContain(`Fine hooks.example/orders?… on Order New ${shop.application.name} 3 hours ago`)
    expect(words).toContain(
      'Failing a.example:81 failing since Mar 10, 2026, 9:00 AM EDT Product Changed this store Not yet',
    )
    expect(words).toContain('Off hooks.example/orders?… off Order New this store Not yet')
    expect(words).toContain('Paused hooks.example/orders?… paused It is &lt;gone&gt; Order New this store Not yet')
  })

  test('holds no secret, neither of the signatures nor of an address', async () => {
    const webhook = await storedWebhook(server, shop)
    const shown = /<code id="Secret">([^<]+)</.exec(await page(`${home}/${webhook.id}`))?.[1] ?? ''
    expect(shown).toMatch(/^whsec_.{40}/)

    const body = await page(home)
    for (const secret of [shown, 'whsec_', 's3cret', webhook.secretSealed]) expect(body).not.toContain(secret)
  })

  test('goes on after a hundred, and loses none', async () => {
    const one = await storedWebhook(server, shop)
    await server.services.db.webhook.createMany({
      data: Array.from({ length: 120 }, (_, index) => ({ ...one, id: 1_000 + index, name: `Many ${index}` })),
    })
    const names = (body: string) => [...body.matchAll(/<bdi>((?:Many \d+|Warehouse))<\/bdi>/g)].map(([, name]) => name)
    const first = await page(home)
    const next = /href="([^"]+)" rel="next"/.exec(first)?.[1] ?? ''
    const second = await page(next)
    expect([names(first).length, new Set([...names(first), ...names(second)]).size]).toEqual([100, 121])
    expect(second).not.toContain('rel="next"')
  })
})

describe('a webhook’s page', () => {
  test('shows the facts, the whole address, and its secret only inside what has to be opened', async () => {
    const webhook = await storedWebhook(server, shop, { format: 'XML' })
    const body = await page(`${home}/${webhook.id}`)
    const words = wordsOf(body)
    expect(words).toContain('Warehouse on Event Order New Address https://hooks.example/orders?token=s3cret Format XML')
    expect(words).toContain('Added by this store, Mar 10, 2026, 12:00 PM EDT Last delivered Not yet Waiting 0 Failed 0')
    expect(/<details class="secret">(?:(?!<\/details>)[\s\S])*whsec_/.test(body)).toBe(true)
  })

  test('tells since when it fails, and counts what waits and what failed', async () => {
    const webhook = await storedWebhook(server, shop, { failingSince: new Date(start - 86_400_000) })
    const dueAt = new Date(start + 300_000)
    await storedDelivery(server, webhook, { state: 'pending', endedAt: null, dueAt, attempts: 2, status: 500 })
    await storedDelivery(server, webhook, { state: 'failed', reason: 'The answer has the status 500', status: 500 })
    await storedDelivery(server, webhook, { state: 'failed', reason: 'No answer', status: null })

    const words = wordsOf(await page(`${home}/${webhook.id}`))
    expect(words).toContain('Nothing got through since Mar 9, 2026, 12:00 PM EDT (yesterday).')
    expect(words).toContain('Waiting 1 Failed 2 in the last 30 days')
  })

  test('writes hostile names, addresses and reasons as text', async () => {
    const evil = '<script>alert("1")</script>'
    const webhook = await storedWebhook(server, shop, {
      name: evil,
      url: `https://hooks.example/?${evil}`,
      enabled: false,
      disabledAt: new Date(start),
      pauseReason: evil,
    })
    const deliveryId = await storedDelivery(server, webhook, {
      state: 'failed',
      reason: evil,
      event: { body: JSON.stringify({ Name: evil, More: '</pre></code>' }) },
      log: [{ status: 500, reason: evil, answer: `</code></pre>${evil}` }],
    })

    const addresses = ['', `/${webhook.id}`, `/${webhook.id}/delete`, `/${webhook.id}/deliveries/${deliveryId}`]
    for (const address of addresses) {
      const body = await page(home + address)
      expect(body).toContain('&lt;script&gt;alert(')
      expect(body).not.toContain('<script>')
      expect(body.split('</pre>').length).toBe(body.split('<pre').length)
    }
  })

  test('says of whose changes it hears, and saves others', async () => {
    const { id } = await storedWebhook(server, shop, { eventType: 5, members: 'SKUInfo.Price' })
    expect((await merchant.open(`${home}/${id}`)).body).toMatch(/<dt>Members<\/dt>\s*<dd[^>]*>SKUInfo.Price<\/dd>/)
    const fields = { Name: 'Warehouse', Url: 'https://hooks.example/products', Format: 'JSON' }
    await press(id, '', { ...fields, Members: 'title, SKUInfo' })
    expect(await webhookRow(id)).toMatchObject({ members: 'Title,SKUInfo' })
    expect(await audited(1)).toMatchObject([{ Details: { members: { from: 'SKUInfo.Price', to: 'Title,SKUInfo' } } }])
    await press(id, '', { ...fields, Members: '' })
    expect(await webhookRow(id)).toMatchObject({ members: null })
    const { id: other } = await storedWebhook(server, shop, { eventType: 1 })
    expect((await merchant.open(`${home}/${other}`)).body).not.toContain('name="Members"')
  })

  test('saves another name, address and format, and the audit log has what changed, once', async () => {
    const { id } = await storedWebhook(server, shop)
    const fields = { Name: 'Lager', Url: 'https://new.example/a?token=other', Format: 'XML' }
    const answer = await press(id, '', fields)
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${home}/${id}?notice=webhook-saved`])
    expect(await webhookRow(id)).toMatchObject({
      name: 'Lager',
      url: fields.Url,
      format: 'XML',
      eventType: 1,
      enabled: true,
    })

    const entry = {
      Action: 'webhook.changed',
      Target: 'Lager',
      Details: {
        name: { from: 'Warehouse', to: 'Lager' },
        address: { from: 'hooks.example/orders?…', to: 'new.example/a?…' },
        format: { from: 'JSON', to: 'XML' },
      },
    }
    expect(await audited(1)).toEqual([entry])
    await press(id, '', fields)
    expect((await audited(2))[1]).not.toEqual(entry)
  })

  test('shows a refused change with what was typed, open, and changes nothing', async () => {
    const { id } = await storedWebhook(server, shop)
    const { statusCode, body } = await press(id, '', { Name: 'Lager', Url: 'mailto:a@b.example', Format: 'XML' })
    expect(statusCode).toBe(400)
    expect(/<details open>\s*<summary>Change it<\/summary>/.test(body)).toBe(true)
    expect(body).toContain('value="mailto:a@b.example"')
    expect(body).toMatch(/<small id="Url-problem"[^>]*>Address must/)
    expect(await webhookRow(id)).toMatchObject({ name: 'Warehouse', format: 'JSON' })
  })

  test('switches it off: what waited is not sent, and it can be resumed', async () => {
    const webhook = await storedWebhook(server, shop)
    await storedDelivery(server, webhook, { state: 'pending', endedAt: null, dueAt: new Date(start) })
    const answer = await press(webhook.id, 'disable')
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${home}/${webhook.id}?notice=webhook-off`])
    expect(await webhookRow(webhook.id)).toMatchObject({ enabled: false })
    expect(await deliveriesOf(webhook.id)).toMatchObject([{ state: 'failed' }])
    expect(await audited(1)).toMatchObject([
      { Action: 'webhook.changed', Details: { enabled: { from: true, to: false } } },
    ])

    const body = await page(`${home}/${webhook.id}`)
    expect(wordsOf(body)).toContain('Switched off Since Mar 10, 2026, 12:00 PM EDT (now).')
    expect(body).not.toContain(`action="${home}/${webhook.id}/disable"`)
  })
})

describe('a webhook that was paused', () => {
  const paused = () => ({
    enabled: false,
    failingSince: new Date(start - 6 * 86_400_000),
    disabledAt: new Date(start - 3_600_000),
    disabledAtSequence: 0,
    pauseReason: 'Every attempt of five days failed',
  })

  test('says why, and is on again when it is resumed; what it missed stays unsent', async () => {
    const webhook = await storedWebhook(server, shop, paused())
    const missed = await storedDelivery(server, webhook, { state: 'failed', reason: 'No answer', status: null })
    const body = await page(`${home}/${webhook.id}`)
    expect(wordsOf(body)).toContain(
      'Paused Since Mar 10, 2026, 11:00 AM EDT (1 hour ago). Every attempt of five days failed',
    )
    expect(wordsOf(body)).toContain('Send also what was missed (1)')

    const answer = await press(webhook.id, 'resume')
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${home}/${webhook.id}?notice=webhook-resumed`])
    expect(await webhookRow(webhook.id)).toMatchObject({ enabled: true, failingSince: null, pauseReason: null })
    expect(await deliveriesOf(webhook.id)).toMatchObject([{ id: BigInt(missed), state: 'failed' }])
    expect(await audited(1)).toEqual([{ Action: 'webhook.resumed', Target: 'Warehouse', Details: {} }])
  })

  test('sends also what it missed, when that is asked for', async () => {
    const webhook = await storedWebhook(server, shop, paused())
    await storedDelivery(server, webhook, { state: 'failed', reason: 'No answer', status: null })

    const answer = await press(webhook.id, 'resume', { CatchUp: 'true' })
    expect(answer.headers.location).toBe(`${home}/${webhook.id}?notice=webhook-caught-up`)
    expect(await deliveriesOf(webhook.id)).toMatchObject([{ state: 'pending' }])
    expect(await audited(1)).toMatchObject([{ Action: 'webhook.resumed', Details: { caughtUp: 1 } }])
  })

  test('that missed nothing offers nothing to send', async () => {
    const webhook = await storedWebhook(server, shop, paused())
    const body = await page(`${home}/${webhook.id}`)
    expect(body).toContain(`action="${home}/${webhook.id}/resume"`)
    expect(body).not.toContain('CatchUp')
  })
})

describe('the secret', () => {
  const secretOn = (body: string) => /<code id="Secret">([^<]+)</.exec(body)?.[1]

  test('of an application’s webhook is not shown, nor what only who knows it can do: rotate it', async () => {
    const { id: subscriptionId } = await server.services.db.subscription.findFirstOrThrow({
      where: { storeId: shop.store.id },
    })
    const { id } = await storedWebhook(server, shop, { subscriptionId })
    const body = await page(`${home}/${id}`)
    expect(wordsOf(body)).toContain(`Only ${shop.application.name} sees it, and rotates it.`)
    expect(body).not.toContain('whsec_')
    expect(body).not.toContain(`action="${home}/${id}/secret"`)
  })

  test('is rotated; the former one signs too until the next day', async () => {
    const { id } = await storedWebhook(server, shop)
    const before = await page(`${home}/${id}`)
    const answer = await press(id, 'secret')
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${home}/${id}?notice=webhook-secret`])

    const after = await page(`${home}/${id}`)
    expect(secretOn(after)).toMatch(/^whsec_/)
    expect(secretOn(after)).not.toBe(secretOn(before))
    expect(wordsOf(after)).toContain('The former one signs too until Mar 11, 2026, 12:00 PM EDT.')
    expect(after).not.toContain(secretOn(before))
    expect(await audited(1)).toEqual([{ Action: 'webhook.secret-rotated', Target: 'Warehouse', Details: {} }])

    await server.services.db.webhook.update({
      where: { storeId_id: { storeId: shop.store.id, id } },
      data: { secretRotatedAt: new Date(start - 86_400_000) },
    })
    expect(wordsOf(await page(`${home}/${id}`))).not.toContain('The former one')
  })

  test('is replaced once, however often a page with the former one is sent', async () => {
    const { id } = await storedWebhook(server, shop)
    const Secret = secretOn(await page(`${home}/${id}`)) ?? ''
    await press(id, 'secret')
    const kept = await webhookRow(id)

    const again = await press(id, 'secret', { Secret })
    expect(again.statusCode).toBe(409)
    expect(wordsOf(again.body)).toContain('There is a newer secret than the one you wanted to replace')
    expect(await webhookRow(id)).toEqual(kept)
    expect(await audited(2)).not.toMatchObject([
      { Action: 'webhook.secret-rotated' },
      { Action: 'webhook.secret-rotated' },
    ])
  })
})

describe('deleting a webhook', () => {
  test('asks first, and takes its deliveries with it', async () => {
    const webhook = await storedWebhook(server, shop)
    const dueAt = new Date(start)
    await storedDelivery(server, webhook, { state: 'pending', endedAt: null, dueAt, log: [{ status: 500 }] })
    const address = `${home}/${webhook.id}/delete`
    expect(wordsOf(await page(address))).toContain(
      'Delete Warehouse? hooks.example/orders?… is no longer notified of Order New. One waiting delivery is discarded.',
    )

    const answer = await merchant.submit(address, {})
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${home}?notice=webhook-deleted`])
    expect(await server.services.db.webhook.count({ where: { storeId: shop.store.id } })).toBe(0)
    expect(await deliveriesOf(webhook.id)).toEqual([])
    expect(await audited(1)).toEqual([{ Action: 'webhook.deleted', Target: 'Warehouse', Details: {} }])
  })

  test('warns of the application that relies on it', async () => {
    const { id: subscriptionId } = await server.services.db.subscription.findFirstOrThrow({
      where: { storeId: shop.store.id },
    })
    const { id } = await storedWebhook(server, shop, { subscriptionId })
    expect(wordsOf(await page(`${home}/${id}/delete`))).toContain(`${shop.application.name} added it`)
  })
})

describe('elsewhere in the administration', () => {
  test('the page of an application counts its webhooks, and leads to the list', async () => {
    const { id: subscriptionId } = await server.services.db.subscription.findFirstOrThrow({
      where: { storeId: shop.store.id },
    })
    const address = `/admin/modules/rest-api/${subscriptionId}`
    await storedWebhook(server, shop)
    expect(wordsOf(await page(address))).toContain('no webhook')
    await storedWebhook(server, shop, { subscriptionId })
    await storedWebhook(server, shop, { subscriptionId })
    expect(await page(address)).toContain('<a href="/admin/webhooks">2 webhooks</a>')
  })
})
