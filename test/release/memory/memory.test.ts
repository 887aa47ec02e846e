import { setTimeout as delay } from 'node:timers/promises'
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from 'vitest'
import { openRaw, type RawConnection, requestHead } from '../../support/raw-connection.ts'
import { fillLargePages, type MeasuredServer, openMeasuredServer, PASSWORD, type Shop } from './server.ts'

/** In MB, as docs/operations.md states. */
const RESIDENT_MAX = 560
/** The figures of single runs lie up to 80 MB apart. */
const RESIDENT_MAX_OF_FAST_READERS = 650
let residentMax: number

const SHOPS = 64
const MEGABYTE = 1024 * 1024
const page = '/StoreWebAPI/v1/Products?limit=200'

let server: MeasuredServer
/** Its requests go on, whatever the others do. */
let bystander: Shop
let attackers: readonly Shop[]
const connections: RawConnection[] = []

beforeAll(async () => {
  server = await openMeasuredServer(SHOPS + 1)
  await fillLargePages(server.db)
  const [first, ...others] = server.shops
  if (first === undefined) throw new Error('no shop')
  bystander = first
  attackers = others
}, 300_000)
beforeEach(() => {
  residentMax = RESIDENT_MAX
})
afterEach(async ({ task }) => {
  for (const { socket } of connections.splice(0)) socket.destroy()
  const highest = server.memory.highest()
  console.log(`${task.name}: ${highest} MB at most`)
  expect(highest).toBeLessThan(residentMax)
})
afterAll(() => server?.close())

async function open(head: string, options?: { slow: boolean }): Promise<RawConnection> {
  const connection = await openRaw(server.port, head, options)
  connections.push(connection)
  return connection
}

function get(shop: Shop, path: string): Promise<Response> {
  return fetch(server.baseUrl + path, { headers: shop.credentials })
}

/** Asks for a record again and again until `work` is over: every one is answered. */
async function whileServing<T>(work: Promise<T>): Promise<T> {
  let isOver = false
  const done = work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const answer = await get(bystander, '/StoreWebAPI/v1/Products/1?$select=SKUInfo')
    expect(answer.status).toBe(200)
    await answer.arrayBuffer()
    await delay(20)
  }
  return done
}

/** The metric's value; 0: it was never counted. */
async function metric(name: string): Promise<number> {
  const text = await (await fetch(`${server.baseUrl}/metrics`)).text()
  const line = text.split('\n').find((each) => each.startsWith(`${name} `))
  return Number(line?.split(' ')[1] ?? 0)
}

async function untilNothingIsHeld(): Promise<void> {
  for (const { socket } of connections.splice(0)) socket.destroy()
  await expect.poll(() => metric('store_platform_http_bytes_in_flight'), { timeout: 30_000 }).toBe(0)
}

test.each([
  { readers: '64 applications', shopOf: (number: number) => attackers[number % attackers.length] },
  { readers: 'one application', shopOf: () => attackers[0] },
])('64 slow readers of pages of 12.6 MB by $readers', async ({ shopOf }) => {
  const heads = Array.from({ length: 64 }, (_, number) => requestHead('GET', page, shopOf(number)?.credentials ?? {}))
  for (const head of heads) await open(head, { slow: true })

  const held = () => metric('store_platform_http_bytes_in_flight')
  await whileServing(expect.poll(held, { timeout: 60_000 }).toBeGreaterThan(2 * MEGABYTE))
  // What is behind the first pages may take memory too.
  await whileServing(delay(6_000))
  await untilNothingIsHeld()
})

const largeBody = {
  'content-type': 'application/json',
  'content-length': 10 * MEGABYTE,
}

test.each([
  { senders: '40 applications', shopOf: (number: number) => attackers[number], status: 503 },
  { senders: 'one application', shopOf: () => attackers[0], status: 429 },
])(
  '40 bodies held at 9.9 of 10 MB by $senders',
  async ({ shopOf, status }) => {
    const senders: RawConnection[] = []
    for (let number = 0; number < 40; number++) {
      const headers = { ...shopOf(number)?.credentials, ...largeBody }
      senders.push(await open(requestHead('POST', '/StoreWebAPI/v1/Products', headers)))
    }
    const piece = 'x'.repeat(MEGABYTE)
    for (const { socket } of senders) for (let count = 0; count < 9; count++) socket.write(piece)

    await whileServing(delay(4_000))
    expect(await metric('store_platform_http_bytes_in_flight')).toBeLessThanOrEqual(40 * MEGABYTE)
    // Those that were refused are told so when they have sent everything.
    for (const { socket } of senders) socket.write(piece)
    const statuses = await whileServing(Promise.all(senders.map((sender) => sender.status())))

    // A body of `x` is not JSON.
    for (const each of statuses) expect([400, status]).toContain(each)
    expect(statuses).toContain(400)
    const refused = senders.filter((_, number) => statuses[number] === status)
    for (const sender of refused) expect(sender.text()).toMatch(/^retry-after: 1\r$/im)
    await untilNothingIsHeld()
  },
  180_000,
)

test.each([
  {
    body: 'XML of two million references',
    type: 'application/xml',
    text: `<Product><SKUInfo><Name>${'&amp;'.repeat((9.5 * MEGABYTE) / 5)}</Name></SKUInfo></Product>`,
  },
  {
    body: 'JSON of 800,000 unknown names',
    type: 'application/json',
    text: `{${Array.from({ length: 800_000 }, (_, number) => `"n${number}":1`).join(',')}}`,
  },
])(
  'four bodies at once, 20 in all, of $body',
  async ({ type, text }) => {
    const statuses: number[] = []
    const send = async () => {
      for (let count = 0; count < 5; count++) {
        const headers = { ...attackers[0]?.credentials, 'content-type': type }
        const answer = await fetch(`${server.baseUrl}/StoreWebAPI/v1/Products`, { method: 'POST', headers, body: text })
        statuses.push(answer.status)
        await answer.arrayBuffer()
      }
    }

    await whileServing(Promise.all(Array.from({ length: 4 }, send)))

    expect(statuses.filter((status) => status !== 400)).toEqual([])
  },
  180_000,
)

test('12 changes of 6 MB at once are made, or told to come back', async () => {
  const record = (id: number) => ({ SKUInfo: { CatalogID: id }, ShortDescription: `€${'a'.repeat(60_000)}` })
  const body = JSON.stringify(Array.from({ length: 100 }, (_, index) => record(index + 1)))
  const change = async (shop: Shop) => {
    const headers = { ...shop.credentials, 'content-type': 'application/json' }
    const answer = await fetch(`${server.baseUrl}/StoreWebAPI/v1/Products`, { method: 'PUT', headers, body })
    return answer.status
  }

  const changes = Array.from({ length: 12 }, (_, number) => change(attackers[number % 4] as Shop))

  const statuses = await whileServing(Promise.all(changes))
  for (const status of statuses) expect([200, 503]).toContain(status)
  expect(statuses).toContain(200)
})

test('50 sign-ins at once, while the reads of another store go on', async () => {
  const signIn = async (shop: Shop) => {
    const body = JSON.stringify({ Email: shop.email, Password: PASSWORD })
    const headers = { 'content-type': 'application/json' }
    return (await fetch(`${server.baseUrl}/admin/sign-in`, { method: 'POST', headers, body })).status
  }

  const statuses = await whileServing(Promise.all(attackers.slice(0, 50).map(signIn)))

  for (const status of statuses) expect([200, 429, 503]).toContain(status)
})

test('connections beyond MAX_CONNECTIONS are closed at once and counted, and there is room again afterwards', async () => {
  const flood = await Promise.all(Array.from({ length: 600 }, () => open('')))
  await expect
    .poll(() => flood.filter(({ socket }) => socket.closed || socket.destroyed).length, { timeout: 20_000 })
    .toBeGreaterThan(90)
  for (const { socket } of connections.splice(0)) socket.destroy()

  const record = '/StoreWebAPI/v1/Products/1?$select=SKUInfo'
  await expect.poll(async () => (await get(bystander, record).catch(() => null))?.status, { timeout: 20_000 }).toBe(200)
  expect(await metric('store_platform_http_closed_connections_total{reason="too-many"}')).toBeGreaterThan(90)
})

test('64 readers that read at once get the whole page, or are told to come back', async () => {
  residentMax = RESIDENT_MAX_OF_FAST_READERS
  const answers = await Promise.all(
    attackers.slice(0, 64).map(async (shop) => {
      const answer = await get(shop, page)
      return { answer, bytes: (await answer.arrayBuffer()).byteLength }
    }),
  )

  for (const { answer, bytes } of answers) {
    if (answer.status === 200) expect(bytes).toBeGreaterThan(12 * MEGABYTE)
    else expect([answer.status, answer.headers.get('retry-after')]).toEqual([503, '1'])
  }
  expect(answers.filter(({ answer }) => answer.status === 200).length).toBeGreaterThan(10)
})
