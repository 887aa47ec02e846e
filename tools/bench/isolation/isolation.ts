import { setTimeout as sleep } from 'node:timers/promises'
import { productStockChanged } from '../../../src/engine/definition/event-kinds.ts'
import { callRest, subscribe } from '../application.ts'
import type { BenchOptions, Stops } from '../bench.ts'
import { type BenchServer, startBenchServer } from '../bench-server.ts'
import { type Child, startChild } from '../child.ts'
import { markdownTable } from '../markdown-table.ts'
import { number, quantile } from '../rest-table.ts'
import { untilIdle } from '../rest-targets.ts'
import {
  EVERY_MS,
  type Metered,
  type MeterMessage,
  type MeterPlan,
  type Sample,
  type StreamName,
} from './meter-messages.ts'
import { type Situation, situations, type Target } from './situations.ts'

/** What the issue asks for: the others' slowest percent, and the memory of the server's process. */
export const P99_MAX_MS = 200
export const RATIO_MAX = 2
const RSS_MAX_MB = 512
/** It ends itself at 640 MB, which it looks at every 20 ms. */
const DECODER_MAX_MB = 700
const NOTIFICATION_P99_MAX_MS = 1_000
/** From the second second of an outage on. */
const REFUSAL_MAX_MS = 100
const OUTAGE_KNOWN_MS = 2_000
const BACK_WITHIN_MS = 1_000

const PRODUCTS = 200
const WARM_UP_SECONDS = 2

interface Scene {
  readonly server: BenchServer
  readonly meter: Child
  readonly plan: MeterPlan
  readonly target: Target
}

/**
 * Prints what each situation does to another store: a read and a change of it every 20 ms, one at a time, alone and beside the
 * attacker in the same run, with the lateness of /healthz, the answers of /readyz and the memory. "Within" says whether the bars of
 * docs/performance.md hold.
 */
export async function benchIsolation({ seconds, rounds, cases }: BenchOptions, stops: Stops): Promise<void> {
  const chosen = situations.filter(({ name }) => cases.length === 0 || cases.some((text) => name.includes(text)))
  let printed: readonly string[] = []
  for (let round = 0; round < rounds; round++) {
    for (const situation of chosen) {
      const scene = await openScene(stops)
      await situation.prepare?.(scene.target)
      await meterFor(scene, WARM_UP_SECONDS)
      await untilIdle(scene.server)
      const alone = await meterFor(scene, seconds)
      const { beside, backMs } = await meterBeside(scene, situation, seconds)
      const [head, row] = situation.isOutage
        ? [outageHead, outageRow(situation, beside, seconds, backMs)]
        : [besideHead, rowOf(situation, alone, beside)]
      // At once, because all of them take minutes.
      const [names, rule, figures] = markdownTable(head, [row]).split('\n')
      process.stdout.write(printed === head ? `${figures}\n` : `\n${names}\n${rule}\n${figures}\n`)
      printed = head
      await scene.end()
    }
  }
}

/** A server for each situation, so that none is measured with what the one before left in the memory. */
async function openScene(stops: Stops): Promise<Scene & { readonly end: () => Promise<void> }> {
  const added: (() => Promise<unknown>)[] = []
  const end = async () => {
    for (const stop of added.splice(0).reverse()) await stop()
  }
  await stops.add(end)
  const own: Stops = { add: async (stop) => void added.push(stop) }
  const server = await startBenchServer(own, [], { TRUST_PROXY: '127.0.0.0/8' })
  const origin = server.baseUrl.replace('localhost', '127.0.0.1')
  const meter = startChild('isolation/meter.ts')
  await own.add(meter.stop)
  const receiver = await meter.ask<string>({ ask: 'open' } satisfies MeterMessage)
  const others = await openStore(server, origin, 'Other')
  const body = { Name: 'Healthy', Url: receiver, EventType: productStockChanged.type, Enabled: true, Format: 'JSON' }
  await callRest(origin, others.headers, 'POST', '/Webhooks', body)
  const attackers = await openStore(server, origin, 'Attacker')
  const { postgresPid } = server
  return {
    server,
    meter,
    plan: { origin, headers: others.headers, productIds: others.productIds, serverPid: server.pid, postgresPid },
    target: {
      origin,
      headers: await subscribe(server, attackers, null),
      wideHeaders: [attackers.headers, await subscribe(server, attackers)],
      storeId: attackers.id,
      productIds: attackers.productIds,
      account: attackers.account,
      databaseUrl: server.databaseUrl,
      postgresPid,
    },
    end,
  }
}

async function openStore(server: BenchServer, origin: string, Name: string) {
  const secureUrl = `https://${Name.toLowerCase()}.example`
  const account = { Email: `owner@${Name.toLowerCase()}.example`, Password: 'correct horse battery' }
  const { Id } = await server.post('/admin/stores', { Name, SecureURL: secureUrl, ...account })
  const store = { id: Number(Id), secureUrl, account }
  const headers = await subscribe(server, store)
  const productIds: number[] = []
  for (let first = 0; first < PRODUCTS; first += 100) {
    const products = Array.from({ length: 100 }, (_, index) => ({
      SKUInfo: { SKU: `${Name}-${first + index}`, Name: `Product ${first + index}`, Price: 8, Stock: 1_000 },
    }))
    const items = (await callRest(origin, headers, 'POST', '/Products', products)) as { Value: string }[]
    productIds.push(...items.map(({ Value }) => Number(Value)))
  }
  return { ...store, headers, productIds }
}

async function meterFor({ meter, plan }: Scene, seconds: number): Promise<Metered> {
  await meter.ask({ ask: 'start', plan } satisfies MeterMessage)
  await sleep(seconds * 1_000)
  return meter.ask<Metered>({ ask: 'stop' } satisfies MeterMessage)
}

/** The meter goes on for a moment after the attack, and says how soon a read worked again. */
async function meterBeside(scene: Scene, { attack }: Situation, seconds: number) {
  const ending = new AbortController()
  await scene.meter.ask({ ask: 'start', plan: scene.plan } satisfies MeterMessage)
  const startedAt = performance.now()
  const attacking = attack(scene.target, ending.signal)
  await Promise.race([sleep(seconds * 1_000), attacking])
  ending.abort()
  const endedMs = performance.now() - startedAt
  await attacking
  await sleep(3_000)
  const beside = await scene.meter.ask<Metered>({ ask: 'stop' } satisfies MeterMessage)
  const back = beside.streams.read.find(({ atMs, ms, status }) => atMs + ms > endedMs && status === 200)
  return { beside, backMs: back === undefined ? Number.POSITIVE_INFINITY : back.atMs + back.ms - endedMs }
}

const besideHead = [
  'situation',
  ...['read', 'change'].flatMap((name) => [`${name} alone: p50 ms`, 'p99 ms', 'beside: p99 ms', 'ratio']),
  'not served',
  'notified: p99 ms alone',
  'beside',
  'missing',
  'healthz at most ms',
  'readyz not 200',
  'RSS MB',
  'of decoding',
  'PostgreSQL MB',
  'within',
]

function rowOf({ name }: Situation, alone: Metered, beside: Metered): string[] {
  const figures = (['read', 'change'] as const).map((stream) => {
    const [before, during] = [timesOf(alone, stream), timesOf(beside, stream)]
    return { p50: quantile(before, 0.5), p99: quantile(before, 0.99), beside: quantile(during, 0.99) }
  })
  const refused = (['read', 'change'] as const).flatMap((stream) => beside.streams[stream]).filter(isRefused).length
  const unready = beside.streams.readyz.filter(isRefused).length
  const notified = quantile(beside.notificationMs.toSorted(ascending), 0.99)
  const faults = [
    ...figures.map((one) => one.beside > Math.max(P99_MAX_MS, RATIO_MAX * one.p99)),
    refused > 0,
    unready > 0,
    beside.missing > 0 || notified > NOTIFICATION_P99_MAX_MS,
    beside.serverRssMb >= RSS_MAX_MB,
    beside.decoderRssMb > DECODER_MAX_MB,
  ]
  return [
    name,
    ...figures.flatMap((one) => [...[one.p50, one.p99, one.beside].map(number), number(one.beside / one.p99)]),
    String(refused),
    number(quantile(alone.notificationMs.toSorted(ascending), 0.99)),
    number(notified),
    String(beside.missing),
    number(quantile(timesOf(beside, 'healthz'), 1)),
    `${unready} of ${beside.streams.readyz.length}`,
    number(beside.serverRssMb),
    number(beside.decoderRssMb),
    number(beside.postgresMb),
    faults.includes(true) ? 'no' : 'yes',
  ]
}

const outageHead = [
  'situation',
  'answers 503',
  'others',
  'read: at most ms',
  'from the second second on',
  'healthz at most ms',
  'back after ms',
  'RSS MB',
  'within',
]

function outageRow({ name }: Situation, beside: Metered, seconds: number, backMs: number): string[] {
  const during = beside.streams.read.filter(({ atMs }) => atMs < seconds * 1_000)
  const known = during.filter(({ atMs }) => atMs >= OUTAGE_KNOWN_MS)
  const longest = (samples: readonly Sample[]) => Math.max(0, ...samples.map(({ ms }) => ms))
  const refusals = during.filter(({ status }) => status === 503).length
  // A request that was sent before that and goes on must not hide that none was sent since.
  const atMost = known.length === 0 ? longest(during) : longest(known)
  const isWithin = atMost <= REFUSAL_MAX_MS && backMs <= BACK_WITHIN_MS && beside.serverRssMb < RSS_MAX_MB
  return [
    name,
    String(refusals),
    String(during.length - refusals),
    number(longest(during)),
    number(atMost),
    number(longest(beside.streams.healthz)),
    number(backMs),
    number(beside.serverRssMb),
    isWithin ? 'yes' : 'no',
  ]
}

/**
 * The times of a stream, with those that its requests would have had which the slow ones kept from being sent: without them a
 * standstill of ten seconds would count as one request of five hundred.
 */
function timesOf({ streams }: Metered, name: StreamName): number[] {
  return streams[name]
    .flatMap(({ ms }) =>
      Array.from({ length: Math.max(1, Math.ceil(ms / EVERY_MS)) }, (_, kept) => ms - kept * EVERY_MS),
    )
    .toSorted(ascending)
}

function isRefused({ status }: Sample): boolean {
  return status !== 200
}

export function ascending(a: number, b: number): number {
  return a - b
}
