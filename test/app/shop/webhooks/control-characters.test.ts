import fc from 'fast-check'
import { expect, test } from 'vitest'
import { developerIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'
import { newWebhook, webhookBody } from '../../http/rest/webhooks-fixture.ts'
import { envelope, post, request } from '../../http/soap/support.ts'

// `new URL` drops tabs and line breaks without a word, and encodes other control characters: the address that is called would be
// another than the one that was saved.

const server = await sharedServer()
const shop = await server.openStore()
const developer = await developerIn(server)

const controls = Array.from({ length: 0xa0 }, (_, code) => String.fromCharCode(code)).filter((one) =>
  /\p{Cc}/u.test(one),
)
/** Those that XML 1.0 can hold; a parser makes line feeds of carriage returns. */
const inXml = fc.constantFrom('\t', '\n', '\r', '\x7f', '\x85')

/** An address with a control character somewhere inside, where no trimming takes it off. */
const addressWith = (control: fc.Arbitrary<string>) =>
  fc.tuple(fc.nat(), control).map(([at, character]) => {
    const plain = 'https://desk.example/hooks?for=orders'
    const cut = 1 + (at % (plain.length - 1))
    return plain.slice(0, cut) + character + plain.slice(cut)
  })

/** What each door that takes an address answers to one: its status and its text. */
const doors: Record<string, (url: string) => Promise<{ statusCode: number; body: string }>> = {
  'POST Webhooks': (Url) => shop.call('POST', '/Webhooks', { body: webhookBody({ Url }) }),
  'PUT Webhooks': async (Url) => shop.call('PUT', `/Webhooks/${await theWebhook()}`, { body: { Url } }),
  CallBackURL: (CallBackURL) => developer.call('POST', '/developers/applications', { Name: 'App', CallBackURL }),
  RedirectURIs: (uri) => developer.call('POST', '/developers/applications', { Name: 'App', RedirectURIs: [uri] }),
  SecureURL: (SecureURL) => server.operate('PUT', `/admin/stores/${shop.store.id}`, { SecureURL }),
}

let webhook: Promise<number> | undefined
const theWebhook = () => {
  webhook ??= newWebhook(shop.call)
  return webhook
}

test.each(Object.keys(doors))('%s takes no address with a control character', async (door) => {
  const send = async (url: string) => doors[door]?.(url)
  await fc.assert(
    fc.asyncProperty(addressWith(fc.constantFrom(...controls)), async (url) => {
      const answer = await send(url)
      expect(answer?.statusCode, answer?.body).toBe(400)
      expect(answer?.body).toContain(door.split(' ')[1] === 'Webhooks' ? 'Url' : door)
    }),
    { numRuns: 40 },
  )
  const taken = await send('https://desk.example/hooks')
  expect(taken?.statusCode, taken?.body).toBeLessThan(300)
})

test('cartAPI posts to no address with a control character', async () => {
  const caller = await server.openStore()
  await fc.assert(
    fc.asyncProperty(addressWith(inXml), async (callBackURL) => {
      const { headers, body } = await post(server, envelope(request(caller, 'getProductCount', { callBackURL })))
      expect(headers['x-error-reason']).toBe(
        'callBackURL must not hold a control character, such as a tab or a line break',
      )
      expect(body).toContain('<Id>40</Id>')
    }),
    { numRuns: 40 },
  )
})
