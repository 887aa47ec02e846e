import { expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'

const server = await sharedServer({ TRUST_PROXY: '127.0.0.1' })

const form = { 'content-type': 'application/x-www-form-urlencoded' }
const namespace = 'urn:store-platform:cartAPI'
const call = `<getProductCount xmlns="${namespace}"><storeUrl>a.example</storeUrl><userKey>wrong</userKey></getProductCount>`
const envelope = `<s:Envelope xmlns:s="http://schemas.xmlsoap.org/soap/envelope/"><s:Body>${call}</s:Body></s:Envelope>`

const doors = [
  { door: 'REST', method: 'GET', url: '/StoreWebAPI/v1/Products', headers: { token: 'wrong' }, payload: '' },
  { door: 'cartAPI', method: 'POST', url: '/cart.asmx', headers: { 'content-type': 'text/xml' }, payload: envelope },
  {
    door: 'the operator',
    method: 'GET',
    url: '/admin/stores',
    headers: { authorization: 'Bearer wrong' },
    payload: '',
  },
  { door: 'OAuth', method: 'POST', url: '/oauth/token', headers: form, payload: 'client_id=a&client_secret=b' },
] as const

test.each(doors)('a request that $door refuses counts against the /64 that it comes from', async (door) => {
  const network = `2001:db8:1:${doors.indexOf(door)}`
  const { throttle } = server.services
  const { method, url, payload } = door
  for (let host = 0; host < 49; host++) throttle.takeRefused(`${network}::${host.toString(16)}`)

  const headers = { ...door.headers, 'x-forwarded-for': `${network}:a:b:c:d` }
  await server.app.inject({ method, url, headers, ...(payload !== '' && { payload }) })

  expect(await throttle.takeRefused(`${network}:ffff::1`)).toMatchObject({ accepted: false })
  expect(await throttle.takeRefused(`2001:db8:2:${doors.indexOf(door)}::1`)).toMatchObject({ accepted: true })
})

test('an IPv4 address counts by itself, mapped or not', async () => {
  const { throttle } = server.services
  for (let count = 0; count < 50; count++) throttle.takeRefused(count % 2 ? '198.51.100.7' : '::ffff:198.51.100.7')

  expect(await throttle.takeRefused('198.51.100.7')).toMatchObject({ accepted: false })
  expect(await throttle.takeRefused('198.51.100.8')).toMatchObject({ accepted: true })
})
