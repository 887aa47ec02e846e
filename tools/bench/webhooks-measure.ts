import { setTimeout as sleep } from 'node:timers/promises'
import type { EventKind } from '../../src/engine/definition/event-kinds.ts'
import type { Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { type Child, startChild } from './child.ts'
import { monotonicMs } from './monotonic.ts'
import { type ProcessorTime, processorMsOf, processorTimeOf } from './processor-time.ts'
import type {
  Arrival,
  Counts,
  OpenLoad,
  OpenLoadResult,
  ReceiverAddresses,
  ReceiversMessage,
  Stream,
} from './webhooks-messages.ts'
import { openWebhookStore, type WebhookStore } from './webhooks-store.ts'

/** A server, the process that sends it requests, and the one that is notified. */
export interface Scene {
  readonly server: BenchServer
  readonly store: WebhookStore
  readonly load: Child
  readonly receivers: Child
  readonly addresses: ReceiverAddresses
  readonly seconds: number
}

export interface Measured {
  readonly result: OpenLoadResult
  /** Of every change at every webhook of the fast receivers, once. */
  readonly arrivals: readonly Arrival[]
  /** What the requests and the notifications took meanwhile. */
  readonly processor: ProcessorTime
}

/** How long what was not sent at the end of a measurement may take. */
const DRAIN_MS_MAX = 120_000
const LOOK_MS = 50
/** Of a stream of events, so that verifying them takes no longer than the measurement. */
const VERIFY_EVERY = 10

export async function openScene(seconds: number, stops: Stops): Promise<Scene> {
  const server = await startBenchServer(stops)
  const store = await openWebhookStore(server, stops)
  const [load, receivers] = [startChild('webhooks-load.ts'), startChild('webhooks-receivers.ts')]
  for (const child of [load, receivers]) await stops.add(child.stop)
  const addresses = await receivers.ask<ReceiverAddresses>({ ask: 'open' } satisfies ReceiversMessage)
  return { server, store, load, receivers, addresses, seconds }
}

/** The addresses of so many webhooks of the fast receivers. */
export function fastUrls({ addresses: { fast } }: Scene, webhooks: number): string[] {
  return Array.from({ length: webhooks }, (_, index) => `${fast[index % fast.length]}/fast/${index}`)
}

/** Sends the streams' requests while the addresses are registered for one kind of event, and waits for what that leads to. */
export async function measure(
  scene: Scene,
  urls: readonly string[],
  { type }: EventKind,
  streams: readonly Stream[],
): Promise<Measured> {
  const { server, store, load, seconds } = scene
  const webhooks = await registered(scene, urls, type)
  const sending = load.ask<OpenLoadResult>({ origin: store.origin, seconds, streams } satisfies OpenLoad)
  const processor = await processorTimeOf(server, () => sending)
  const result = await sending
  const keys = result.streams.flatMap(({ changes }) => changes.map(({ key }) => key))
  const wanted = new Set(webhooks.fastPaths.flatMap((path) => keys.map((key) => `${path} ${key}`)))
  const arrivals = await webhooks.arrivals(wanted.size, 1)
  const arrived = new Set(arrivals.map(({ path, key }) => `${path} ${key}`))
  if (arrivals.length !== wanted.size || !arrived.isSupersetOf(wanted)) {
    throw new Error(`${wanted.size} notifications were to come, and ${arrivals.length} of ${arrived.size} changes came`)
  }
  return { result, arrivals, processor }
}

export interface Streamed {
  readonly startedAt: number
  readonly endedAt: number
  /** Of every event at every webhook, once. */
  readonly arrivals: readonly Arrival[]
  /** Processor time until `endedAt`, in milliseconds. */
  readonly processor: { readonly server: number; readonly postgres: number; readonly receivers: number }
}

const RAISE_MS = 20

/** Commits events at a fixed rate without any request, and waits for all that they lead to. */
export async function stream(
  scene: Scene,
  urls: readonly string[],
  { type }: EventKind,
  perSecond: number,
): Promise<Streamed> {
  const { server, store, receivers, seconds } = scene
  const webhooks = await registered(scene, urls, type)
  const startedAt = monotonicMs()
  const receiversBefore = processorMsOf(receivers.pid)
  const count = Math.round(perSecond * seconds)
  const { node, postgres } = await processorTimeOf(server, async () => {
    for (let raised = 0; raised < count; await sleep(RAISE_MS)) {
      const due = Math.min(count, Math.ceil(((monotonicMs() - startedAt) / 1_000) * perSecond))
      await store.raise(type, due - raised)
      raised = due
    }
  })
  const processor = { server: node, postgres, receivers: processorMsOf(receivers.pid) - receiversBefore }
  const endedAt = monotonicMs()
  const arrivals = await webhooks.arrivals(count * urls.length, VERIFY_EVERY)
  const arrived = new Set(arrivals.map(({ path, id }) => `${path} ${id}`))
  if (arrived.size !== count * urls.length || arrivals.length !== arrived.size) {
    throw new Error(
      `${count * urls.length} notifications were to come, and ${arrivals.length} came, ${arrived.size} of them once`,
    )
  }
  return { startedAt, endedAt, arrivals, processor }
}

/** Registers the addresses for one kind of event, and forgets what arrived before. */
async function registered({ store, receivers }: Scene, urls: readonly string[], type: number) {
  const ask = <T>(message: ReceiversMessage) => receivers.ask<T>(message)
  const until = async (what: string, isSo: (counts: Counts) => boolean) => {
    const deadline = monotonicMs() + DRAIN_MS_MAX
    for (;;) {
      const counts = await ask<Counts>({ ask: 'count' })
      if (isSo(counts)) return
      if (monotonicMs() > deadline) throw new Error(`${what}: ${JSON.stringify(counts)}`)
      await sleep(LOOK_MS)
    }
  }
  const secrets: Record<string, string> = {}
  const ids: number[] = []
  for (const url of urls) {
    const id = await store.register(url, type)
    ids.push(id)
    secrets[new URL(url).pathname] = await store.secretOf(id)
  }
  await ask({ ask: 'clear' })
  return {
    fastPaths: Object.keys(secrets).filter((path) => path.startsWith('/fast')),
    /** Waits for so many notifications and removes the webhooks. */
    arrivals: async (count: number, verifyEvery: number) => {
      await until(`Of ${count} notifications some did not arrive`, ({ arrived }) => arrived >= count)
      for (const id of ids) await store.remove(id)
      await until('Some requests to receivers never ended', ({ open }) => open === 0)
      return ask<Arrival[]>({ ask: 'arrivals', secrets, verifyEvery })
    },
  }
}

/** A webhook begins with one slot, and doubles it by each success. */
const SLOW_START_MS = 1_000

/**
 * From sending a change, and from having its answer, to the arrival of its notification; a commit lies between the two.
 * Without the changes of the first second, in which webhooks earn their slots.
 */
export function delays({ startedAt, streams }: OpenLoadResult, arrivals: readonly Arrival[]) {
  const counted = streams.flatMap(({ changes }) => changes).filter(({ sentAt }) => sentAt >= startedAt + SLOW_START_MS)
  const changes = new Map(counted.map((change) => [change.key, change]))
  const since = (moment: 'sentAt' | 'answeredAt') =>
    arrivals
      .flatMap(({ key, at }) => {
        const change = changes.get(key)
        // Where the notification overtook the answer, no time has passed.
        return change ? [Math.max(0, at - change[moment])] : []
      })
      .sort((a, b) => a - b)
  return { sinceSent: since('sentAt'), sinceAnswered: since('answeredAt') }
}
