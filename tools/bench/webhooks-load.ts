import { setTimeout as sleep } from 'node:timers/promises'
import { Pool } from 'undici'
import { answerMessages } from './child.ts'
import { monotonicMs } from './monotonic.ts'
import {
  type Change,
  type OpenLoad,
  type OpenLoadResult,
  orderKey,
  type Stream,
  type StreamKind,
  type StreamResult,
  stockKey,
} from './webhooks-messages.ts'

const CONNECTIONS = 64
const TIMEOUT_MS = 60_000
/** More than orders ever take. */
const STOCK_MIN = 1_000_000

answerMessages<OpenLoad>(run)

async function run({ origin, seconds, streams }: OpenLoad): Promise<OpenLoadResult> {
  const pool = new Pool(origin, { connections: CONNECTIONS, headersTimeout: TIMEOUT_MS, bodyTimeout: TIMEOUT_MS })
  try {
    const startedAt = monotonicMs()
    const results = await Promise.all(streams.map((stream) => runStream(pool, stream, startedAt, seconds)))
    return { startedAt, endedAt: startedAt + seconds * 1_000, streams: results }
  } finally {
    await pool.destroy()
  }
}

/** Throws for an answer with another status. */
async function runStream(pool: Pool, stream: Stream, startedAt: number, seconds: number): Promise<StreamResult> {
  const milliseconds: number[] = []
  const changes: Change[] = []
  const underWay: Promise<void>[] = []
  const count = Math.round(stream.perSecond * seconds)
  for (let sent = 0; sent < count; sent++) {
    const early = startedAt + (sent * 1_000) / stream.perSecond - monotonicMs()
    if (early > 0) await sleep(early)
    underWay.push(
      sendOne(pool, stream).then((change) => {
        milliseconds.push(change.answeredAt - change.sentAt)
        if (stream.kind !== 'read') changes.push(change)
      }),
    )
    // It is told at the end of the stream.
    underWay.at(-1)?.catch(() => {})
  }
  await Promise.all(underWay)
  return { name: stream.name, milliseconds: milliseconds.sort((a, b) => a - b), changes }
}

async function sendOne(pool: Pool, { kind, path, headers, status, productIds }: Stream): Promise<Change> {
  const request = requestOf(kind, productIds)
  const sentAt = monotonicMs()
  const answer = await pool.request({
    method: request.method,
    path: `${path}${request.suffix}`,
    headers: { ...headers, ...(request.body !== null && { 'content-type': 'application/json' }) },
    body: request.body === null ? null : JSON.stringify(request.body),
  })
  const text = await answer.body.text()
  const answeredAt = monotonicMs()
  if (answer.statusCode !== status) throw new Error(`${request.method} ${path}: ${answer.statusCode} ${text}`)
  return { key: request.keyOf(text), sentAt, answeredAt }
}

let turn = 0

function requestOf(kind: StreamKind, productIds: readonly number[]) {
  turn += 1
  const CatalogID = productIds[turn % productIds.length] ?? 0
  if (kind === 'read') return { method: 'GET' as const, suffix: `/${CatalogID}`, body: null, keyOf: () => '' }
  if (kind === 'order') {
    const body = {
      BillingFirstName: 'Ann',
      BillingLastName: 'Buyer',
      BillingEmail: 'ann@buyer.example',
      ShipmentList: [{ ShipmentFirstName: 'Ann', ShipmentMethodName: 'Ground', ShipmentCost: 6.5 }],
      OrderItemList: [{ CatalogID, ItemQuantity: 1 }],
    }
    const keyOf = (text: string) => orderKey((JSON.parse(text) as [{ Value: string }])[0].Value)
    return { method: 'POST' as const, suffix: '', body, keyOf }
  }
  // A number that comes once, so that it is a change and names it.
  const Stock = STOCK_MIN + turn
  const body = [{ SKUInfo: { CatalogID, Stock } }]
  return { method: 'PUT' as const, suffix: '', body, keyOf: () => stockKey(CatalogID, Stock) }
}
