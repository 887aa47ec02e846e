// node stock-sync.ts stock.csv
// Lines are such as LAMP-1;12 (there are 12) or LAMP-1;+3;delivery-4711-2 (3 more, and the name of the change).
import { randomUUID } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { setTimeout } from 'node:timers/promises'

const { API = '', SECURE_URL = '', PRIVATE_KEY = '', TOKEN = '' } = process.env
const keys = { SecureURL: SECURE_URL, PrivateKey: PRIVATE_KEY, Token: TOKEN }

interface Info {
  CatalogID: number
  SKU: string
  Stock: number
}

/** Sends a request until it has an answer that stays: the same bytes with the same key in each try. */
async function call(address: string, init: { method?: string; headers?: object; body?: string } = {}) {
  const headers = { ...keys, 'Content-Type': 'application/json', ...init.headers }
  for (let tries = 1; ; tries++) {
    const answer = await fetch(address, { ...init, headers }).catch((error: Error) => error)
    const status = answer instanceof Error ? 0 : answer.status
    const wait = answer instanceof Error ? 0 : Number(answer.headers.get('retry-after'))
    const code = answer instanceof Error ? null : answer.headers.get('x-error-code')
    // in-progress: the first try with this key is still running.
    const isTransient = status === 0 || status === 429 || status >= 500 || code === 'in-progress'
    if (!(answer instanceof Error) && !isTransient)
      return { status, code, headers: answer.headers, text: await answer.text() }
    if (tries === 8) throw new Error(`${address}: ${answer instanceof Error ? answer.message : status}`)
    await setTimeout(1_000 * (wait || tries))
  }
}

/** The products by SKU in lower case, page by page. */
async function readProducts(): Promise<Map<string, Info>> {
  const products = new Map<string, Info>()
  let next: string | undefined = `${API}/Products/skuinfo?limit=200`
  while (next) {
    const { status, code, headers, text } = await call(next)
    if (code === 'not-found') break // no product at all
    if (status !== 200) throw new Error(`${next}: ${status} ${text}`)
    for (const info of JSON.parse(text) as Info[]) products.set(info.SKU.toLowerCase(), info)
    next = /<([^>]+)>; rel="next"/.exec(headers.get('link') ?? '')?.[1]
  }
  return products
}

/** Sets the stock, if it is another one. Reads again, and takes a new key, when somebody else was first. */
async function setStock(id: number, stock: number): Promise<string> {
  const address = `${API}/Products/${id}`
  for (let tries = 1; ; tries++) {
    const read = await call(address)
    if (read.status !== 200) throw new Error(`cannot be read: ${read.status} ${read.text}`)
    const [product] = JSON.parse(read.text) as [{ SKUInfo: Info }]
    if (product.SKUInfo.Stock === stock) return 'unchanged'
    const answer = await call(address, {
      method: 'PUT',
      headers: { 'If-Match': read.headers.get('etag'), 'Idempotency-Key': randomUUID() },
      body: JSON.stringify({ SKUInfo: { Stock: stock } }),
    })
    if (answer.status === 200) return `${product.SKUInfo.Stock} -> ${stock}`
    if (answer.code !== 'precondition-failed' || tries === 8)
      throw new Error(`was refused: ${answer.status} ${answer.text}`)
  }
}

/** Adds to the stock as it is at that moment; with the same name again, within 24 hours, nothing more. */
async function adjustStock(sku: string, added: number, name: string): Promise<string> {
  const { status, text } = await call(`${API}/Products`, {
    method: 'PUT',
    headers: { 'Idempotency-Key': name },
    body: JSON.stringify([{ SKUInfo: { SKU: sku, StockAdjust: added } }]),
  })
  if (status !== 200) throw new Error(`was refused: ${status} ${text}`)
  return `adjusted by ${added}`
}

const products = await readProducts()
const lines = readFileSync(process.argv[2] ?? 'stock.csv', 'utf8')
  .replace(/^\uFEFF/, '')
  .split('\n')
for (const [index, line] of lines.entries()) {
  if (line.trim() === '') continue
  const [sku = '', number = '', name = ''] = line.split(';').map((cell) => cell.trim())
  try {
    const product = products.get(sku.toLowerCase())
    if (!product) throw new Error('is not in the store')
    if (/^[+-]\d+$/.test(number) && name !== '') console.log(sku, await adjustStock(product.SKU, Number(number), name))
    else if (!/^\d+(\.\d+)?$/.test(number)) throw new Error('needs a number, or +n or -n and the name of the change')
    else if (product.Stock !== Number(number)) console.log(sku, await setStock(product.CatalogID, Number(number)))
  } catch (error) {
    console.error(`line ${index + 1}: ${sku} ${(error as Error).message}`)
    process.exitCode = 1
  }
}
