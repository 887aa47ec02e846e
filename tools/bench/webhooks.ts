import { orderNew, productStockChanged } from '../../src/engine/definition/event-kinds.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { markdownTable } from './markdown-table.ts'
import { number, quantile } from './rest-table.ts'
import { delays, fastUrls, measure, openScene, type Scene, stream } from './webhooks-measure.ts'

/** Orders placed beside so many receivers: how soon the fast one hears of each. */
const latencyCases: readonly { title: string; others: readonly ('slow' | 'dead')[] }[] = [
  { title: 'fast alone', others: [] },
  { title: 'fast, beside slow and dead', others: ['slow', 'dead'] },
]
const ORDERS_PER_SECOND = 50

/** New stocks of products, each notified to so many webhooks of fast receivers; and what REST is like meanwhile. */
const throughputCases: readonly { title: string; changes: number; webhooks: number }[] = [
  { title: 'nothing else', changes: 0, webhooks: 0 },
  { title: 'changes, no webhook', changes: 100, webhooks: 0 },
  { title: 'changes to 10 webhooks', changes: 100, webhooks: 10 },
  { title: 'changes to 20 webhooks', changes: 100, webhooks: 20 },
  { title: 'changes to 40 webhooks', changes: 100, webhooks: 40 },
]
/** Events that are committed without any request, each notified to so many webhooks of ten receivers. */
const streamCases: readonly { title: string; events: number; webhooks: number }[] = [
  { title: 'stream of 5,000', events: 100, webhooks: 50 },
  { title: 'stream of 8,000', events: 160, webhooks: 50 },
]
const READS_PER_SECOND = 50
const REFUSALS_PER_SECOND = 20

/**
 * Prints how soon notifications arrive and how many a second, on a fresh server with the sandbox store. Requests come at
 * fixed rates, whether the server keeps up or not. Every notification is verified; one that is missing or comes twice ends
 * the bench.
 */
export async function benchWebhooks({ seconds, rounds, cases }: BenchOptions, stops: Stops): Promise<void> {
  const scene = await openScene(seconds, stops)
  await warmUp(scene)
  const chosen = <T extends { title: string }>(all: readonly T[]) =>
    all.filter(({ title }) => cases.length === 0 || cases.some((text) => title.includes(text)))
  const latencies: string[][] = []
  const throughputs: string[][] = []
  const sustained: string[][] = []
  for (let round = 0; round < rounds; round++) {
    for (const { title, others } of chosen(latencyCases)) {
      latencies.push([title, ...(await measureLatency(scene, others))])
    }
    for (const { title, changes, webhooks } of chosen(throughputCases)) {
      throughputs.push([title, ...(await measureThroughput(scene, changes, webhooks))])
    }
    for (const { title, events, webhooks } of chosen(streamCases)) {
      sustained.push([title, ...(await measureStream(scene, events, webhooks))])
    }
  }
  const sent = ['since sent: p50 ms', 'p99 ms', 'since answered: p50 ms', 'p99 ms']
  print(['receivers', 'orders/s', 'arrived', ...sent], latencies)
  const during = ['GET p50 ms', 'p99 ms', '429 p50 ms', 'p99 ms']
  const figures = ['changes/s', 'wanted/s', 'arrived/s', 'left at the end', ...sent, ...during]
  print(['load', ...figures, 'server ms/s', 'PostgreSQL ms/s'], throughputs)
  const shares = ['server', 'PostgreSQL', 'receivers'].map((name) => `${name} µs each`)
  print(['events alone', 'wanted/s', 'arrived/s', 'left at the end', ...shares], sustained)
}

function print(head: readonly string[], rows: readonly (readonly string[])[]): void {
  if (rows.length > 0) process.stdout.write(`${markdownTable(head, rows)}\n`)
}

/** The first requests of a process take many times as long as those after them. */
async function warmUp(scene: Scene): Promise<void> {
  await measureLatency({ ...scene, seconds: 2 }, [])
  await measureThroughput({ ...scene, seconds: 3 }, 100, 5)
}

async function measureLatency(scene: Scene, others: readonly ('slow' | 'dead')[]): Promise<string[]> {
  const { store, addresses } = scene
  const urls = [...fastUrls(scene, 1), ...others.map((kind) => `${addresses[kind]}/${kind}`)]
  const streams = [{ ...store.orders, perSecond: ORDERS_PER_SECOND }]
  const { result, arrivals } = await measure(scene, urls, orderNew, streams)
  const { sinceSent, sinceAnswered } = delays(result, arrivals)
  const rate = (result.streams[0]?.changes.length ?? 0) / scene.seconds
  return [number(rate), arrivals.length.toLocaleString('en-US'), ...quantiles(sinceSent), ...quantiles(sinceAnswered)]
}

async function measureThroughput(scene: Scene, changes: number, webhooks: number): Promise<string[]> {
  const { store } = scene
  const streams = [
    { ...store.stocks, perSecond: changes },
    { ...store.reads, perSecond: READS_PER_SECOND },
    { ...store.refusals, perSecond: REFUSALS_PER_SECOND },
  ]
  const { result, arrivals, processor } = await measure(scene, fastUrls(scene, webhooks), productStockChanged, streams)
  const { sinceSent, sinceAnswered } = delays(result, arrivals)
  const [, reads, refusals] = result.streams
  const inTime = arrivals.filter(({ at }) => at <= result.endedAt).length
  return [
    String(changes),
    (changes * webhooks).toLocaleString('en-US'),
    number(inTime / scene.seconds),
    (arrivals.length - inTime).toLocaleString('en-US'),
    ...quantiles(sinceSent),
    ...quantiles(sinceAnswered),
    ...quantiles(reads?.milliseconds ?? []),
    ...quantiles(refusals?.milliseconds ?? []),
    ...[processor.node, processor.postgres].map((ms) => number(ms / scene.seconds)),
  ]
}

async function measureStream(scene: Scene, events: number, webhooks: number): Promise<string[]> {
  const { startedAt, endedAt, arrivals, processor } = await stream(
    scene,
    fastUrls(scene, webhooks),
    productStockChanged,
    events,
  )
  const inTime = arrivals.filter(({ at }) => at <= endedAt).length
  const microseconds = (ms: number) => number((ms * 1_000) / inTime)
  return [
    (events * webhooks).toLocaleString('en-US'),
    number((inTime * 1_000) / (endedAt - startedAt)),
    (arrivals.length - inTime).toLocaleString('en-US'),
    ...[processor.server, processor.postgres, processor.receivers].map(microseconds),
  ]
}

function quantiles(sorted: readonly number[]): string[] {
  return [0.5, 0.99].map((share) => number(quantile(sorted, share)))
}
