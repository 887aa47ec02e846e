import { once } from 'node:events'
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { answerMessages } from './child.ts'
import { monotonicMs } from './monotonic.ts'
import {
  type Arrival,
  type Counts,
  orderKey,
  type ReceiverKind,
  type ReceiversMessage,
  stockKey,
} from './webhooks-messages.ts'

interface Raw {
  readonly path: string
  readonly headers: Record<string, string>
  readonly text: string
  readonly at: number
}

const SLOW_MS = 5_000

let raw: Raw[] = []
let open = 0
const servers: Server[] = []

answerMessages<ReceiversMessage>(async (message) => {
  if (message.ask === 'open') return openReceivers()
  if (message.ask === 'clear') raw = []
  if (message.ask === 'arrivals') return raw.map((one) => verified(one, message.secrets))
  return { arrived: raw.length, open } satisfies Counts
})

async function openReceivers(): Promise<Record<ReceiverKind, string>> {
  return {
    fast: await listen(async (request, response) => {
      const body = await text(request)
      raw.push({ path: request.url ?? '', headers: headersOf(request), text: body, at: monotonicMs() })
      response.end('ok')
    }),
    slow: await listen(async (request, response) => {
      await text(request)
      await sleep(SLOW_MS)
      response.end('ok')
    }),
    dead: await listen((request) => request.resume()),
  }
}

async function listen(listener: RequestListener): Promise<string> {
  const server = createServer((request, response) => {
    open += 1
    response.once('close', () => {
      open -= 1
    })
    listener(request, response)
  })
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function headersOf({ headers }: IncomingMessage): Record<string, string> {
  return Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)]))
}

/** After the measurement: in the library's JavaScript it takes longer than everything else that a receiver does. */
function verified({ path, headers, text, at }: Raw, secrets: Readonly<Record<string, string>>): Arrival {
  const [record] = new Webhook(secrets[path] ?? '').verify(text, headers) as [WireRecord]
  const { OrderID, SKUInfo } = record
  const key = SKUInfo ? stockKey(SKUInfo.CatalogID, SKUInfo.Stock) : orderKey(OrderID ?? 0)
  return { key, path, id: headers['webhook-id'] ?? '', at }
}

interface WireRecord {
  readonly OrderID?: number
  readonly SKUInfo?: { readonly CatalogID: number; readonly Stock: number }
}
