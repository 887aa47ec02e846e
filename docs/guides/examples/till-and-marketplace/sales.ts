// node sales.ts sell KIT-HOL-0001 2 49.90 Cash   notes that two were sold for 49.90 each, and sends what waits
// node sales.ts import orders.csv                notes a marketplace's orders, and sends what waits
// node sales.ts                                  sends what waits
import { randomUUID } from 'node:crypto'
import { existsSync, mkdirSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const { API = '', SECURE_URL = '', PRIVATE_KEY = '', TOKEN = '' } = process.env
/** An order names an e-mail address or a telephone number of its buyer. Who buys at the till may have neither. */
const { TILL = 'till-1@shop.example' } = process.env
for (const folder of ['waiting', 'placed', 'refused']) mkdirSync(folder, { recursive: true })

interface Line {
  readonly ItemID: string
  readonly ItemQuantity: number
  /** Of one piece, with its options: at most four decimals. */
  readonly ItemUnitPrice: number
}

interface Sale {
  readonly date: string
  readonly email: string
  readonly lines: readonly Line[]
  readonly shipping: number
  readonly method: string
  /** By which the payment service, the till or the marketplace knows the sale. */
  readonly reference: string
}

/** An order that is paid in full. Each line is rounded to the decimals of the currency, here two, and then added. */
function orderOf({ date, email, lines, shipping, method, reference }: Sale) {
  const cents = lines.map((line) => Math.round((line.ItemQuantity * Math.round(line.ItemUnitPrice * 10_000)) / 100))
  const total = cents.reduce((sum, line) => sum + line, Math.round(shipping * 100))
  return {
    OrderDate: date,
    AlternateOrderID: reference,
    BillingEmail: email,
    ShipmentList: [{ ShipmentCost: shipping }],
    OrderItemList: lines,
    Payment: { Amount: total / 100, Method: method, Reference: reference, Status: 'approved' },
  }
}

/** Notes a sale before it is sent. Its file is named by its key, and has the text that goes out, each time the same. */
function note(key: string, sale: Sale): void {
  if (['waiting', 'placed'].some((folder) => existsSync(`${folder}/${key}.json`))) return
  writeFileSync(`waiting/${key}.part`, JSON.stringify(orderOf(sale)), { flush: true })
  renameSync(`waiting/${key}.part`, `waiting/${key}.json`)
}

/** What passes by itself: the same text with the same key may be sent again. */
const passing = ['in-progress', 'rate-limited', 'unavailable', 'request-timeout', 'internal-error', 'no-answer']
/** What is wrong with the program or its keys, and with no sale. */
const ours = ['unauthorized', 'forbidden', 'price-not-allowed', 'insecure-transport', 'unknown-address']

/** Sends a sale until it is answered, for a while. `code` is that of a refusal; empty: it is placed. */
async function send(key: string, body: string): Promise<{ readonly code: string; readonly text: string }> {
  const keys = { SecureURL: SECURE_URL, PrivateKey: PRIVATE_KEY, Token: TOKEN, 'Idempotency-Key': key }
  for (let tries = 1; ; tries++) {
    const request = { method: 'POST', headers: { ...keys, 'Content-Type': 'application/json' }, body }
    const answer = await fetch(`${API}/Checkout`, { ...request, signal: AbortSignal.timeout(60_000) }).catch(() => null)
    const text = (await answer?.text().catch(() => null)) ?? null
    if (answer?.ok && text !== null) return { code: '', text }
    const code = answer?.headers.get('x-error-code') ?? 'no-answer'
    const seconds = Number(answer?.headers.get('retry-after') ?? 2 ** tries)
    // When the store has had its orders of this hour, the next one is minutes away.
    if (!passing.includes(code) || tries === 3 || seconds > 60) return { code, text: text ?? '' }
    await setTimeout(1_000 * seconds)
  }
}

/** Sends what waits, the oldest first. A sale leaves `waiting` when it is placed, or a person has to look at it. */
async function sendAll(): Promise<void> {
  for (const file of readdirSync('waiting').toSorted()) {
    // Another run may have sent it meanwhile.
    if (!file.endsWith('.json') || !existsSync(`waiting/${file}`)) continue
    const key = file.replace('.json', '')
    const { code, text } = await send(key, readFileSync(`waiting/${file}`, 'utf8'))
    // insufficient-stock: the goods are over the counter. Correct the stock, and start again: the key is still free.
    const folder =
      code === '' ? 'placed' : [...passing, ...ours, 'insufficient-stock'].includes(code) ? 'waiting' : 'refused'
    if (existsSync(`waiting/${file}`)) renameSync(`waiting/${file}`, `${folder}/${file}`)
    if (code === '') console.log(`${key} is order ${JSON.parse(text)[0].Value}`)
    // key-reused: this sale was placed when its file had another text.
    else console.error(`${key} is ${folder}: ${code} ${text}`)
    if (code !== '') process.exitCode = 1
    // Nor would the sales behind it be taken.
    if (passing.includes(code) || ours.includes(code)) return
  }
}

const [command, first = '', quantity, price, method = 'Cash'] = process.argv.slice(2)
if (command === 'sell') {
  const date = new Date().toISOString()
  const key = `${date.replaceAll(':', '')}-${randomUUID()}`
  const line = { ItemID: first, ItemQuantity: Number(quantity), ItemUnitPrice: Number(price) }
  note(key, { date, email: TILL, lines: [line], shipping: 0, method, reference: key })
}
if (command === 'import') {
  // number;date;email;shipping;sku;quantity;price: a line for each product of an order.
  const [, ...rows] = readFileSync(first, 'utf8').split(/\r?\n/).filter(Boolean)
  for (const [number = '', of] of Map.groupBy(
    rows.map((row) => row.split(';')),
    ([number]) => number,
  )) {
    const [[, date = '', email = '', shipping] = []] = of
    const lines = of.map(([, , , , sku = '', many, each]) => {
      return { ItemID: sku, ItemQuantity: Number(many), ItemUnitPrice: Number(each) }
    })
    const sale = { date, email, lines, shipping: Number(shipping), method: 'Marketplace', reference: number }
    note(`marketplace-${encodeURIComponent(number)}`, sale)
  }
}
await sendAll()
