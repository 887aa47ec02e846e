import { beforeEach, describe, expect, test } from 'vitest'
import { buildApp } from '../../../../src/app.ts'
import type { Outbound, OutboundRequest } from '../../../../src/foundation/outbound/outbound.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { openReceiver, status } from '../../../support/receiver.ts'
import { ofTest, shared } from '../../../support/shared.ts'
import { openServer, sharedServer, type TestServer, type TestStore } from '../../../support/store.ts'
import { envelope, errorDocument, faultOf, post, request, soapCall } from './support.ts'

// Results that are posted to where the caller wants them (soap-cartapi §5).

// A program that waits for results, on this machine.
const receiver = await shared(openReceiver(status(200), '/results?for=7'))
const server = await sharedServer()
const shop = await openShop()
beforeEach(() => {
  server.clock.ms += 60_000
  receiver.received.length = 0
  receiver.answer = status(200)
})

async function openShop(): Promise<TestStore> {
  const opened = await server.openStore()
  await opened.call('POST', '/Products', { body: { SKUInfo: { SKU: 'A-1', Name: 'One', Stock: 10 } } })
  return opened
}

const declaration = '<?xml version="1.0" encoding="utf-8"?>'
const count = '<GetProductCountResponse xmlns=""><ProductQuantity>1</ProductQuantity></GetProductCountResponse>'
const posted = (url: string) => `<Response xmlns=""><Description>XML Posted to: ${url}</Description></Response>`
const failed = errorDocument(40, 'Data Error')

const stockNow = async () => (await shop.call('GET', '/Products/1')).json()[0].SKUInfo.Stock
const raise = (callBackURL: string, to: Pick<TestServer, 'app'> = server, of = shop) =>
  soapCall(to, of, 'updateProductInventory', { productId: 'A-1', quantity: 1, replaceStock: false, callBackURL })

/** What X-Error-Reason says of a call with this address. */
async function reasonOf(callBackURL: string, to: Pick<TestServer, 'app'> = server): Promise<string> {
  const { headers } = await post(to, envelope(request(shop, 'getProductCount', { callBackURL })))
  return String(headers['x-error-reason'])
}

/** The same server, but with another way out. */
function serverWith(outbound: Outbound): TestServer['app'] {
  return buildApp({ ...server.services, outbound })
}

const outboundWith = (send: Outbound['send']): Outbound => ({ ...server.services.outbound, send })

describe('a result', () => {
  test('is posted as a document of its own, and the caller is told where it went', async () => {
    for (const version of ['1.1', '1.2'] as const) {
      const answer = await soapCall(server, shop, 'getProductCount', { callBackURL: receiver.url }, { version })
      expect(answer).toBe(posted(receiver.url))
    }
    const one = {
      method: 'POST',
      url: '/results?for=7',
      headers: expect.objectContaining({ 'content-type': 'text/xml; charset=utf-8' }),
      text: declaration + count,
    }
    expect(receiver.received).toEqual([one, one])
  })

  test('that is an error document is posted too, and counted as what it is', async () => {
    const { headers, body } = await post(
      server,
      envelope(request(shop, 'updateProductInventory', { quantity: 1, callBackURL: receiver.url })),
    )
    expect(body).toContain(posted(receiver.url))
    expect(headers['x-error-reason']).toMatch(/productId/)
    expect(receiver.received.map(({ text }) => text)).toEqual([declaration + errorDocument(3, 'XML file error')])
    const { body: figures } = await server.app.inject('/metrics')
    expect(figures).toContain('cartapi_calls_total{operation="updateProductInventory",outcome="error",error="3"} 1')
  })

  test('goes to the address as it was given, which comes back as it was given', async () => {
    const url = `${receiver.url}&a=1&b="<ä>'😀`
    const expected = posted(`${receiver.url}&amp;a=1&amp;b="&lt;ä&gt;'😀`)
    expect(await soapCall(server, shop, 'getProductCount', { callBackURL: ` ${url}\n` })).toBe(expected)
    expect(receiver.received[0]?.url).toBe('/results?for=7&a=1&b=%22%3C%C3%A4%3E%27%F0%9F%98%80')
  })

  test.each([200, 201, 202, 204, 299])(
    'is taken by a receiver that answers %i, whatever else it says',
    async (status) => {
      receiver.answer = (response) => response.writeHead(status).end(status === 204 ? '' : 'x'.repeat(300_000))
      expect(await soapCall(server, shop, 'getProductCount', { callBackURL: receiver.url })).toBe(posted(receiver.url))
    },
  )

  test('is not posted where no address is given', async () => {
    for (const callBackURL of ['', '  ']) {
      expect(await soapCall(server, shop, 'getProductCount', { callBackURL })).toBe(count)
    }
    expect(receiver.received).toEqual([])
  })
})

describe('what is not taken is error 40, with the reason in a header', () => {
  test.each([300, 301, 302, 304, 400, 401, 404, 500, 503])('status %i', async (status) => {
    receiver.answer = (response) => response.writeHead(status, { location: receiver.url }).end()
    expect(await soapCall(server, shop, 'getProductCount', { callBackURL: receiver.url })).toBe(failed)
    expect(await reasonOf(receiver.url)).toBe(`callBackURL answered with ${status}`)
    // No redirect is followed, and nothing is tried again.
    expect(receiver.received).toHaveLength(2)
  })

  test('a connection that is closed instead of an answer', async () => {
    receiver.answer = (response) => response.socket?.destroy()
    expect(await soapCall(server, shop, 'getProductCount', { callBackURL: receiver.url })).toBe(failed)
    const reason = 'Posting to callBackURL failed: The connection was closed before the answer was complete'
    expect(await reasonOf(receiver.url)).toBe(reason)
  })

  test('no answer in time', async () => {
    receiver.answer = () => undefined
    const app = await ofTest(
      serverWith(outboundWith((sent) => server.services.outbound.send({ ...sent, totalMs: 200 }))),
    )
    expect(await soapCall({ app }, shop, 'getProductCount', { callBackURL: receiver.url })).toBe(failed)
    const reason = 'Posting to callBackURL failed: No complete answer within 0.2 s'
    expect(await reasonOf(receiver.url, { app })).toBe(reason)
  })

  test('that time is 10 s in all and 5 s to connect, and nothing of the answer is kept', async () => {
    const sent: OutboundRequest[] = []
    const app = await ofTest(
      serverWith(
        outboundWith((each) => {
          sent.push(each)
          return server.services.outbound.send(each)
        }),
      ),
    )
    await soapCall({ app }, shop, 'getProductCount', { callBackURL: receiver.url })
    expect(sent).toEqual([
      {
        url: receiver.url,
        method: 'POST',
        headers: { 'content-type': 'text/xml; charset=utf-8', 'user-agent': 'store-platform' },
        body: declaration + count,
        connectMs: 5_000,
        totalMs: 10_000,
        answerBytesMax: 0,
      },
    ])
  })

  test('it is found in the log by the id of the request, and counted as 40', async () => {
    receiver.answer = (response) => response.writeHead(500).end()
    const payload = envelope(request(shop, 'getCustomerCount', { callBackURL: receiver.url }))
    await post(server, payload, { headers: { 'x-request-id': 'failed-post' } })
    const lines = server.log.map((line) => JSON.parse(line)).filter(({ requestId }) => requestId === 'failed-post')
    const reason = 'callBackURL answered with 500'
    expect(lines).toMatchObject([{ msg: 'request', operation: 'getCustomerCount', error: 40, reason }])
    const { body } = await server.app.inject('/metrics')
    expect(body).toContain('cartapi_calls_total{operation="getCustomerCount",outcome="error",error="40"} 1')
  })
})

describe('an address that can never be called', () => {
  test.each([
    [
      'shop.example/results',
      'callBackURL is not a web address; allowed: http or https, such as https://shop.example/path',
    ],
    ['ftp://shop.example/', 'callBackURL must begin with http:// or https://'],
    ['http://user:pass@shop.example/', 'callBackURL must not hold a user name or password'],
    ['http://shop.example:25/', 'callBackURL must not use port 25, which belongs to another protocol'],
    ['http://10.0.0.5/', 'callBackURL leads to 10.0.0.5, which is not a public address'],
    [`http://shop.example/${'x'.repeat(1_981)}`, 'callBackURL is longer than 2000 characters'],
  ])('such as %s is error 40, and nothing is done', async (url, reason) => {
    const before = await stockNow()
    expect(await raise(url)).toBe(failed)
    expect(await reasonOf(url)).toBe(reason)
    expect(await stockNow()).toBe(before)
  })

  test('is any inside one that OUTBOUND_ALLOW does not name, this machine’s too', async () => {
    const strict = await ofTest(openServer({ OUTBOUND_ALLOW: '192.0.2.1' }))
    const store = await strict.openStore()
    for (const callBackURL of [receiver.url, receiver.url.replace('127.0.0.1', 'localhost')]) {
      expect(await soapCall(strict, store, 'getProductCount', { callBackURL })).toBe(failed)
    }
    expect(receiver.received).toEqual([])
  })
})

describe('a change', () => {
  test('is done before its result is posted', async () => {
    const before = await stockNow()
    const seen: number[] = []
    receiver.answer = async (response) => {
      seen.push(await stockNow())
      response.end()
    }
    expect(await raise(receiver.url)).toBe(posted(receiver.url))
    expect(seen).toEqual([before + 1])
    const result = `<UpdateInventoryResponse xmlns=""><ProductID>A-1</ProductID><NewInventory>${before + 1}</NewInventory></UpdateInventoryResponse>`
    expect(receiver.received.map(({ text }) => text)).toEqual([declaration + result])
  })

  test('stays done when its result is not taken', async () => {
    const before = await stockNow()
    receiver.answer = (response) => response.writeHead(500).end()
    expect(await raise(receiver.url)).toBe(failed)
    expect(await stockNow()).toBe(before + 1)
  })
})

describe('nothing is posted', () => {
  const silent = async (parameters: Record<string, string>, id: number) => {
    const { body } = await post(
      server,
      envelope(request(shop, 'getProductCount', { callBackURL: receiver.url, ...parameters })),
    )
    expect(body).toContain(`<Id>${id}</Id>`)
  }

  test('for who is not let in', async () => {
    await silent({ userKey: '' }, 1)
    await silent({ storeUrl: '' }, 2)
    await silent({ userKey: '0'.repeat(32) }, 17)
    expect(receiver.received).toEqual([])
  })

  test('for a full bucket, nor for a fault', async () => {
    const store = await server.openStore({ throttle: { capacity: 1, leakPerSecond: 0.01 } })
    const payload = envelope(request(store, 'getProductCount', { callBackURL: receiver.url }))
    expect((await post(server, payload)).statusCode).toBe(200)
    expect(faultOf(await post(server, payload))).toMatchObject({
      status: 500,
      reason: 'Too many requests; come back in 100 s',
    })
    const contradicted = envelope(request(shop, 'getProductCount', { callBackURL: receiver.url }))
    expect(faultOf(await post(server, contradicted, { headers: { soapaction: 'getOrder' } })).status).toBe(500)
    expect(receiver.received).toHaveLength(1)
  })
})

describe('a hundred results are posted at a time, twenty of them for a store', () => {
  test('what comes beyond is refused before anything is done, also of those that come at once', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, openShop))
    const stores = [shop, ...others.slice(0, 4)]
    const before = await stockNow()
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let waiting = 0
    receiver.answer = async (response) => {
      if (++waiting === 100) arrived.resolve()
      await released.promise
      response.end()
    }
    const refused = Promise.withResolvers<void>()
    let refusals = 0
    const calls = stores.flatMap((store) =>
      Array.from({ length: 26 }, async () => {
        const result = await raise(receiver.url, server, store)
        if (result === failed && ++refusals === 30) refused.resolve()
        return result
      }),
    )
    await Promise.all([arrived.promise, refused.promise])
    expect(await stockNow()).toBe(before + 20)
    expect(await reasonOf(receiver.url)).toBe('Too many answers are being posted; try again in a moment')
    expect(await soapCall(server, shop, 'getProductCount')).toBe(count)
    expect(await raise(receiver.url, server, others[4])).toBe(failed)
    released.resolve()
    const results = await Promise.all(calls)
    expect(results.filter((result) => result === posted(receiver.url))).toHaveLength(100)
    expect(await stockNow()).toBe(before + 20)
    expect(receiver.received).toHaveLength(100)
  })

  test('a store that fills its own places leaves the others theirs', async () => {
    const other = await openShop()
    const [arrived, released] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()]
    let waiting = 0
    receiver.answer = async (response) => {
      if (++waiting === 20) arrived.resolve()
      if (waiting <= 20) await released.promise
      response.end()
    }
    const calls = Array.from({ length: 20 }, () => raise(receiver.url))
    await arrived.promise
    expect(await raise(receiver.url)).toBe(failed)
    expect(await raise(receiver.url, server, other)).toBe(posted(receiver.url))
    released.resolve()
    await Promise.all(calls)
  })

  test('and each place is free again, whatever became of the work or the posting', async () => {
    const broken = await ofTest(openServer({}, cloneDatabase))
    const store = await broken.openStore()
    const call = () => post(broken, envelope(request(store, 'getProductCount', { callBackURL: receiver.url })))
    receiver.answer = (response) => response.writeHead(500).end()
    for (let made = 0; made < 60; made++) expect((await call()).body).toContain('<Id>40</Id>')
    await broken.database.db.$executeRawUnsafe('ALTER TABLE "RecordCount" RENAME TO "Gone"')
    for (let made = 0; made < 60; made++) expect(faultOf(await call()).reason).toBe('Internal error')
    await broken.database.db.$executeRawUnsafe('ALTER TABLE "Gone" RENAME TO "RecordCount"')
    receiver.answer = (response) => response.end()
    for (let made = 0; made < 60; made++) expect((await call()).body).toContain('XML Posted to: ')
  })
})
