import { once } from 'node:events'
import { createServer as createHttpServer } from 'node:http'
import { type AddressInfo, createServer, type Server, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { setTimeout as sleep } from 'node:timers/promises'
import { Webhook } from 'standardwebhooks'
import { answerMessages } from './child.ts'
import { monotonicMs } from './monotonic.ts'
import {
  type Arrival,
  type Counts,
  orderKey,
  type ReceiverAddresses,
  type ReceiversMessage,
  stockKey,
} from './webhooks-messages.ts'

interface Raw {
  /** The request line and the headers. */
  readonly head: string
  readonly body: Buffer
  readonly at: number
}

const FAST_RECEIVERS = 10
const SLOW_MS = 5_000
const HEAD_END = '\r\n\r\n'
const ANSWER = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'

let raw: Raw[] = []
let open = 0
const servers: Server[] = []

answerMessages<ReceiversMessage>(async (message) => {
  if (message.ask === 'open') return openReceivers()
  if (message.ask === 'clear') raw = []
  if (message.ask === 'arrivals') {
    return raw.map((one, index) => arrivalOf(one, index % message.verifyEvery === 0 ? message.secrets : null))
  }
  return { arrived: raw.length, open } satisfies Counts
})

async function openReceivers(): Promise<ReceiverAddresses> {
  const slow = createHttpServer(async (request, response) => {
    counted(response)
    await text(request)
    await sleep(SLOW_MS)
    response.end('ok')
  })
  const dead = createHttpServer((request, response) => {
    counted(response)
    request.resume()
  })
  const fast = await Promise.all(Array.from({ length: FAST_RECEIVERS }, () => listen(createServer(receive))))
  return { fast, slow: await listen(slow), dead: await listen(dead) }
}

async function listen(server: Server): Promise<string> {
  servers.push(server.listen(0, '127.0.0.1'))
  await once(server, 'listening')
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
}

function counted(response: { once(event: 'close', listener: () => void): unknown }): void {
  open += 1
  response.once('close', () => {
    open -= 1
  })
}

/** As little of HTTP as the server's requests need: Node's own server would take more time than the one that is measured. */
function receive(socket: Socket): void {
  let pending: Buffer = Buffer.alloc(0)
  socket.on('error', () => {})
  socket.on('data', (chunk: Buffer) => {
    pending = pending.length === 0 ? chunk : Buffer.concat([pending, chunk])
    const headLength = pending.indexOf(HEAD_END)
    if (headLength < 0) return
    const head = pending.toString('latin1', 0, headLength)
    const bodyStart = headLength + HEAD_END.length
    if (pending.length < bodyStart + Number(/\ncontent-length: *(\d+)/i.exec(head)?.[1])) return
    raw.push({ head, body: pending.subarray(bodyStart), at: monotonicMs() })
    pending = Buffer.alloc(0)
    socket.write(ANSWER)
  })
}

/** After the measurement: in the library's JavaScript it takes longer than everything else that a receiver does. */
function arrivalOf({ head, body, at }: Raw, secrets: Readonly<Record<string, string>> | null): Arrival {
  const [requestLine = '', ...lines] = head.split('\r\n')
  const path = requestLine.split(' ')[1] ?? ''
  const headers: Record<string, string> = Object.fromEntries(lines.map((line) => line.split(': ')))
  const text = body.toString()
  if (secrets) new Webhook(secrets[path] ?? '').verify(text, headers)
  const [{ OrderID, SKUInfo }] = JSON.parse(text) as [WireRecord]
  const key = SKUInfo ? stockKey(SKUInfo.CatalogID, SKUInfo.Stock) : orderKey(OrderID ?? 0)
  return { key, path, id: headers['webhook-id'] ?? '', at }
}

interface WireRecord {
  readonly OrderID?: number
  readonly SKUInfo?: { readonly CatalogID: number; readonly Stock: number }
}
