import { setTimeout as sleep } from 'node:timers/promises'
import type { EventKind } from '../../src/engine/event-kinds.ts'
import type { Stops } from './bench.ts'
import { startBenchServer } from './bench-server.ts'
import { type Child, startChild } from './child.ts'
import { monotonicMs } from './monotonic.ts'
import type {
  Arrival,
  Counts,
  OpenLoad,
  OpenLoadResult,
  ReceiverKind,
  ReceiversMessage,
  Stream,
} from './webhooks-messages.ts'
import { openWebhookStore, type WebhookStore } from './webhooks-store.ts'

/** A server, the process that sends it requests, and the one that is notified. */
export interface Scene {
  readonly store: WebhookStore
  readonly load: Child
  readonly receivers: Child
  readonly addresses: Readonly<Record<ReceiverKind, string>>
  readonly seconds: number
}

export interface Measured {
  readonly result: OpenLoadResult
  /** Of every change at every webhook of the fast receiver, once. */
  readonly arrivals: readonly Arrival[]
}

/** How long what was not sent at the end of a measurement may take. */
const DRAIN_MS_MAX = 120_000
const LOOK_MS = 50

export async function openScene(seconds: number, stops: Stops): Promise<Scene> {
  const server = await startBenchServer(stops)
  const store = await openWebhookStore(server)
  const [load, receivers] = [startChild('webhooks-load.ts'), startChild('webhooks-receivers.ts')]
  for (const child of [load, receivers]) await stops.add(child.stop)
  const addresses = await receivers.ask<Scene['addresses']>({ ask: 'open' } satisfies ReceiversMessage)
  return { store, load, receivers, addresses, seconds }
}

/** Sends the streams' requests while the addresses are registered for one kind of event, and waits for what that leads to. */
export async function measure(
  { store, load, receivers, seconds }: Scene,
  urls: readonly string[],
  { type }: EventKind,
  streams: readonly Stream[],
): Promise<Measured> {
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
  const result = await load.ask<OpenLoadResult>({ origin: store.origin, seconds, streams } satisfies OpenLoad)
  const keys = result.streams.flatMap(({ changes }) => changes.map(({ key }) => key))
  const fastPaths = Object.keys(secrets).filter((path) => path.startsWith('/fast'))
  const wanted = new Set(fastPaths.flatMap((path) => keys.map((key) => `${path} ${key}`)))
  await until(`Of ${wanted.size} notifications some did not arrive`, ({ arrived }) => arrived >= wanted.size)
  for (const id of ids) await store.remove(id)
  await until('Some requests to receivers never ended', ({ open }) => open === 0)
  const arrivals = await ask<Arrival[]>({ ask: 'arrivals', secrets })
  const arrived = new Set(arrivals.map(({ path, key }) => `${path} ${key}`))
  if (arrivals.length !== wanted.size || !arrived.isSupersetOf(wanted)) {
    throw new Error(`${wanted.size} notifications were to come, and ${arrivals.length} of ${arrived.size} changes came`)
  }
  return { result, arrivals }
}

/** From sending a change, and from having its answer, to the arrival of its notification; a commit lies between the two. */
export function delays({ streams }: OpenLoadResult, arrivals: readonly Arrival[]) {
  const changes = new Map(streams.flatMap((stream) => stream.changes.map((change) => [change.key, change] as const)))
  const since = (moment: 'sentAt' | 'answeredAt') =>
    // Where the notification overtook the answer, no time has passed.
    arrivals.map(({ key, at }) => Math.max(0, at - (changes.get(key)?.[moment] ?? Number.NaN))).sort((a, b) => a - b)
  return { sinceSent: since('sentAt'), sinceAnswered: since('answeredAt') }
}
