import { describe, expect, test } from 'vitest'
import { sharedServer } from '../../../../support/store.ts'
import { importInto } from '../../../engine/transfer/fixture.ts'
import { soapCall } from '../../../http/soap/support.ts'

const server = await sharedServer()
const shop = await server.openStore()

const invalid = [
  'no address',
  'a@',
  '@mail.example',
  'a@b@mail.example',
  'a@-mail.example',
  'ä@küche.example',
  'a@kü che.example',
  `a@${'äöüß'.repeat(12)}.${'äöüß'.repeat(9)}.example`,
  'a b@c.example',
]
const valid = ['grace@localhost', "O'Hara+{news}@Mail.Example", 'x@1.2.3.4']
const message = 'Email must be an e-mail address such as name@shop.example'

async function imported(CustomerID: number, Email: string): Promise<void> {
  const record = { CustomerID, Email }
  expect((await importInto(server, shop, [{ service: 'Customers', record }])).refused).toEqual([])
}

const recordOf = async (id: number) => (await shop.call('GET', `/Customers/${id}`)).json()[0]

describe('an address with letters beyond ASCII in its domain', () => {
  const ascii = (name: string) => `${name}@xn--kche-0ra.example`

  test('is stored in ASCII form, in JSON, in XML and by cartAPI, and found by both', async () => {
    const body = { Email: 'Ann@Küche.example', Password: 'secret words' }
    const created = await shop.call('POST', '/Customers', { body, tolerated: true })
    expect(created.statusCode, created.body).toBe(201)
    const id = Number(created.json()[0].Value)
    expect((await recordOf(id)).Email).toBe(ascii('Ann'))
    const xml = '<Customer><Email>bea@küche.example</Email></Customer>'
    await shop.call('PUT', `/Customers/${id}`, { body: xml, contentType: 'application/xml', tolerated: true })
    expect((await recordOf(id)).Email).toBe(ascii('bea'))
    await soapCall(server, shop, 'editCustomer', {
      action: 'update',
      customerData: `contactid===${id}|||email===cid@küche.example`,
    })
    expect((await recordOf(id)).Email).toBe(ascii('cid'))

    for (const email of ['cid@küche.example', 'CID@KÜCHE.example', ascii('cid')]) {
      const found = await shop.call('GET', `/Customers?email=${encodeURIComponent(email)}`)
      expect(found.json()).toMatchObject([{ CustomerID: id }])
    }
    const token = { customerEmail: 'cid@küche.example', timeToLive: 5 }
    expect(await soapCall(server, shop, 'getCustomerLoginToken', token)).toContain('<Token>')
  })

  test('and is found as an import brought it', async () => {
    await imported(60, 'dee@küche.example')
    expect((await recordOf(60)).Email).toBe('dee@küche.example')
    const found = await shop.call('GET', `/Customers?email=${encodeURIComponent('dee@küche.example')}`)
    expect(found.json()).toMatchObject([{ CustomerID: 60 }])
  })
})

describe('an e-mail address that is none', () => {
  test.each(invalid)('%s is refused when a customer is created or changed, in JSON and in XML', async (Email) => {
    const refused = [{ Key: 'Error', Value: 'Email', Status: '400', Message: message }]
    const created = await shop.call('POST', '/Customers', {
      body: { Email, Password: 'secret words' },
      tolerated: true,
    })
    expect([created.statusCode, created.json()]).toEqual([400, refused])
    await imported(7, 'seven@mail.example')
    const changed = await shop.call('PUT', '/Customers/7', { body: { Email }, tolerated: true })
    expect([changed.statusCode, changed.json()]).toEqual([400, refused])
    const listed = await shop.call('PUT', '/Customers', { body: [{ CustomerID: 7, Email }], tolerated: true })
    expect([listed.statusCode, listed.json()]).toEqual([400, refused])
    const body = `<Customer><Email>${Email}</Email></Customer>`
    const inXml = await shop.call('PUT', '/Customers/7', { body, contentType: 'application/xml', tolerated: true })
    expect([inXml.statusCode, inXml.body]).toEqual([400, expect.stringContaining(message)])
    expect((await recordOf(7)).Email).toBe('seven@mail.example')
  })

  test('stays when an import brought it, and what else changes leaves it alone', async () => {
    await imported(10, 'mostly nobody')
    const other = await shop.call('PUT', '/Customers/10', { body: { Comments: 'seen' } })
    expect(other.statusCode, other.body).toBe(200)
    const whole = await shop.call('PUT', '/Customers/10', { body: await recordOf(10), tolerated: true })
    expect(whole.statusCode, whole.body).toBe(200)
    expect(await recordOf(10)).toMatchObject({ Email: 'mostly nobody', Comments: 'seen' })
    const bySoap = { action: 'update', customerData: 'contactid===10|||email===mostly nobody|||comments===again' }
    expect(await soapCall(server, shop, 'editCustomer', bySoap)).toContain('<result>OK</result>')
    const another = await shop.call('PUT', '/Customers/10', { body: { Email: 'mostly someone' }, tolerated: true })
    expect(another.statusCode).toBe(400)
  })
})

test.each(valid)('%s is an e-mail address by the rule of HTML', async (Email) => {
  const body = { Email: ` ${Email}\n`, Password: 'secret words' }
  const created = await shop.call('POST', '/Customers', { body, tolerated: true })
  expect(created.statusCode, created.body).toBe(201)
  expect((await recordOf(Number(created.json()[0].Value))).Email).toBe(Email)
})

test('the e-mail address of an order may be anything, as before', async () => {
  const record = { OrderID: 1, OrderStatusID: 4 }
  expect((await importInto(server, shop, [{ service: 'Orders', record }])).refused).toEqual([])
  expect((await shop.call('PUT', '/Orders/1', { body: { BillingEmail: 'by phone' } })).statusCode).toBe(200)
})
