import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { answerMessages } from '../child.ts'
import { monotonicMs } from '../monotonic.ts'
import {
  EVERY_MS,
  type Metered,
  type MeterMessage,
  type MeterPlan,
  type Sample,
  type StreamName,
  streamNames,
} from './meter-messages.ts'
import { childrenOf, numberIn } from './proc.ts'

// A process of its own, so that the work of attacking is not measured: steady requests of a store, one at a time of each kind.

const MEMORY_EVERY_MS = 250
const TIMEOUT_MS = 60_000
/** What the last changes may take to be notified. */
const NOTIFIED_WITHIN_MS = 10_000
/** More than orders ever take, and more than the products have. */
const STOCK_MIN = 1_000_000

interface Running {
  readonly stop: () => Promise<Metered>
}

const changedAt = new Map<number, number>()
const notifiedMs: number[] = []
let running: Running | null = null
let stock = STOCK_MIN

answerMessages<MeterMessage>(async (message) => {
  if (message.ask === 'open') return openReceiver()
  if (message.ask === 'start') {
    running = start(message.plan)
    return
  }
  return running?.stop()
})

async function openReceiver(): Promise<string> {
  const server = createServer(async (request, response) => {
    const [record] = JSON.parse(await text(request)) as [{ SKUInfo?: { Stock: number } }]
    response.end('ok')
    const sentAt = changedAt.get(record.SKUInfo?.Stock ?? 0)
    if (sentAt === undefined) return
    changedAt.delete(record.SKUInfo?.Stock ?? 0)
    notifiedMs.push(monotonicMs() - sentAt)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function start(plan: MeterPlan): Running {
  const limits = { headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS }
  const kept = new Pool(plan.origin, { ...limits, connections: streamNames.length - 1 })
  // Whoever comes anew must be served too.
  const single = new Pool(plan.origin, { ...limits, connections: 1 })
  const startedAt = monotonicMs()
  const memory = { serverRssMb: 0, decoderRssMb: 0, postgresMb: 0 }
  const samples: Record<StreamName, Sample[]> = { read: [], change: [], healthz: [], readyz: [] }
  let isOver = false
  changedAt.clear()
  notifiedMs.length = 0
  const ask = async (name: StreamName) => {
    while (!isOver) {
      const sentAt = monotonicMs()
      const status = await send(name === 'readyz' ? single : kept, plan, name)
      const ms = monotonicMs() - sentAt
      samples[name].push({ atMs: sentAt - startedAt, ms, status })
      if (ms < EVERY_MS) await sleep(EVERY_MS - ms)
    }
  }
  const weigh = async () => {
    for (; !isOver; await sleep(MEMORY_EVERY_MS)) {
      memory.serverRssMb = Math.max(memory.serverRssMb, numberIn(`/proc/${plan.serverPid}/status`, 'VmRSS') / 1024)
      const children = childrenOf(plan.serverPid).map((pid) => numberIn(`/proc/${pid}/status`, 'VmRSS') / 1024)
      memory.decoderRssMb = Math.max(memory.decoderRssMb, ...children)
      memory.postgresMb = Math.max(memory.postgresMb, postgresMb(plan.postgresPid))
    }
  }
  const loops = [...streamNames.map(ask), weigh()]
  return {
    stop: async () => {
      isOver = true
      await Promise.all(loops)
      await Promise.all([kept.destroy(), single.destroy()])
      const deadline = monotonicMs() + NOTIFIED_WITHIN_MS
      while (changedAt.size > 0 && monotonicMs() < deadline) await sleep(EVERY_MS)
      return { streams: samples, notificationMs: [...notifiedMs], missing: changedAt.size, ...memory }
    },
  }
}

async function send(pool: Pool, { headers, productIds }: MeterPlan, name: StreamName): Promise<number> {
  stock += 1
  const id = productIds[stock % productIds.length]
  const path = {
    read: `/StoreWebAPI/v1/Products/${id}`,
    change: `/StoreWebAPI/v1/Products/${id}`,
    healthz: '/healthz',
    readyz: '/readyz',
  }[name]
  const body = name === 'change' ? JSON.stringify({ SKUInfo: { Stock: stock } }) : null
  const own = stock
  // Its notification may arrive before its answer.
  if (name === 'change') changedAt.set(own, monotonicMs())
  try {
    const answer = await pool.request({
      method: name === 'change' ? 'PUT' : 'GET',
      path,
      headers: {
        ...(path.startsWith('/Store') && headers),
        ...(body !== null && { 'content-type': 'application/json' }),
      },
      body,
      // A connection for each request, as health checks have.
      reset: name === 'readyz',
    })
    await answer.body.text()
    if (answer.statusCode !== 200) changedAt.delete(own)
    return answer.statusCode
  } catch {
    changedAt.delete(own)
    return 0
  }
}

/** The proportional share of all its processes, in which shared buffers count once. */
function postgresMb(first: number): number {
  const pids = [first, ...childrenOf(first)]
  return pids.reduce((sum, pid) => sum + numberIn(`/proc/${pid}/smaps_rollup`, 'Pss'), 0) / 1024
}
