// node order-export.ts folder: brings the folder up to date and ends; run it every minute, or as often as you like
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'

const { API = '', SECURE_URL = '', PRIVATE_KEY = '', TOKEN = '' } = process.env
const headers = { SecureURL: SECURE_URL, PrivateKey: PRIVATE_KEY, Token: TOKEN }
const folder = process.argv[2] ?? 'export'
mkdirSync(folder, { recursive: true })

type Order = { OrderID: number }
type Return = { RMAID: number }
interface Event {
  Sequence: number
  EventName: string
  Record: Order & Return
}

/** Reads an address. The code is `not-found` where nothing matches, and `gone` where the place in the feed is. */
async function read<T>(address: string): Promise<{ body?: T; next?: string | undefined; code: string | null }> {
  for (let tries = 1; ; tries++) {
    const answer = await fetch(address, { headers }).catch((error: Error) => error)
    if (!(answer instanceof Error)) {
      const { status } = answer
      const code = answer.headers.get('x-error-code')
      const next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
      const text = await answer.text()
      if (answer.ok) return { body: JSON.parse(text) as T, next, code }
      if (code === 'not-found' || code === 'gone') return { code }
      if (status !== 429 && status < 500) throw new Error(`${address}: ${status} ${text}`)
    }
    if (tries === 8) throw new Error(`${address}: no answer after ${tries} tries`)
    const wait = answer instanceof Error ? 0 : Number(answer.headers.get('retry-after'))
    await setTimeout(1_000 * (wait || tries))
  }
}

/** Replaces a file as a whole, so that a kill leaves the former one or the new one. */
function store(name: string, value: unknown): void {
  writeFileSync(join(folder, `${name}.new`), JSON.stringify(value))
  renameSync(join(folder, `${name}.new`), join(folder, name))
}

const fileOfOrder = ({ OrderID }: Order) => `order-${OrderID}.json`
const fileOfReturn = ({ RMAID }: Return) => `return-${RMAID}.json`

/**
 * Asks where the feed stands, and then reads everything: what changes meanwhile comes by the feed. Whatever fails ends the program
 * before it stores a place.
 */
async function begin(): Promise<number> {
  const { body: newest } = await read<Event[]>(`${API}/Events?after=newest`)
  const after = newest?.[0]?.Sequence ?? 0
  const current = new Set<string>()
  for (const [path, fileOf] of [
    ['/Orders?limit=300', fileOfOrder],
    ['/RMA?limit=500', fileOfReturn],
  ] as const) {
    for (let next: string | undefined = API + path; next; ) {
      const page: { body?: (Order & Return)[]; next?: string } = await read(next)
      for (const record of page.body ?? []) {
        store(fileOf(record), record)
        current.add(fileOf(record))
      }
      next = page.next
    }
  }
  // What an earlier beginning left, and the store no longer has.
  for (const file of readdirSync(folder)) {
    if (/^(order|return)-\d+\.json$/.test(file) && !current.has(file)) rmSync(join(folder, file))
  }
  store('after.json', after)
  return after
}

// The kinds by name, because a server may have more than this program knows.
const { body: kinds = [] } = await read<{ EventName: string }[]>(`${API}/Webhooks/Events`)
const ofOrders = new Set(kinds.map(({ EventName }) => EventName).filter((name) => name.startsWith('Order ')))
const ofReturns = new Set(kinds.map(({ EventName }) => EventName).filter((name) => name.startsWith('Return ')))

const place = join(folder, 'after.json')
let after = existsSync(place) ? Number(readFileSync(place, 'utf8')) : await begin()
for (;;) {
  const { body: events, code } = await read<Event[]>(`${API}/Events?after=${after}&limit=100`)
  if (code === 'gone') {
    after = await begin() // events after this place were deleted, or the store was reset
    continue
  }
  if (!events || events.length === 0) break
  for (const { EventName, Record, Sequence } of events) {
    if (ofOrders.has(EventName)) store(fileOfOrder(Record), Record)
    if (EventName === 'Return Deleted') rmSync(join(folder, fileOfReturn(Record)), { force: true })
    else if (ofReturns.has(EventName)) store(fileOfReturn(Record), Record)
    after = Sequence
  }
  // Only now: after a kill before this line the same events come again.
  store('after.json', after)
}
