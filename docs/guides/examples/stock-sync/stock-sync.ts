// node stock-sync.ts stock.csv, with lines such as LAMP-1;12, or LAMP-1;+3;delivery-4711-1 for three more
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

/** Sends a request until it has an answer that stays. */
async function call(address: string, init: { method?: string; headers?: object; body?: string } = {}) {
  const headers = { ...keys, 'Content-Type': 'application/json', ...init.headers }
  for (let tries = 1; ; tries++) {
    const answer = await fetch(address, { ...init, headers }).catch((error: Error) => error)
    const isTransient = answer instanceof Error || answer.status === 429 || answer.status >= 500
    if (!isTransient) return answer
    if (tries === 8) throw new Error(`${address}: ${answer instanceof Error ? answer.message : answer.status}`)
    const wait = answer instanceof Error ? 0 : Number(answer.headers.get('retry-after'))
    await setTimeout(1_000 * (wait || tries))
  }
}

/** The products by SKU, page by page. */
async function readProducts(): Promise<Map<string, Info>> {
  const products = new Map<string, Info>()
  let next: string | undefined = `${API}/Products/skuinfo?limit=200`
  while (next) {
    const answer = await call(next)
    if (answer.status === 404) break // no product at all
    if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
    for (const info of (await answer.json()) as Info[]) products.set(info.SKU, info)
    next = /<([^>]+)>; rel="next"/.exec(answer.headers.get('link') ?? '')?.[1]
  }
  return products
}

/** Sets the stock, if it is another one. Reads again when somebody else was first. */
async function setStock(id: number, stock: number): Promise<string> {
  for (;;) {
    const read = await call(`${API}/Products/${id}`)
    const [product] = (await read.json()) as [{ SKUInfo: Info }]
    if (product.SKUInfo.Stock === stock) return 'unchanged'
    const answer = await call(`${API}/Products/${id}`, {
      method: 'PUT',
      headers: { 'If-Match': read.headers.get('etag') ?? '', 'Idempotency-Key': randomUUID() },
      body: JSON.stringify({ SKUInfo: { Stock: stock } }),
    })
    if (answer.ok) return `${product.SKUInfo.Stock} -> ${stock}`
    if (answer.status !== 412) throw new Error(`${answer.status} ${await answer.text()}`)
  }
}

/** Adds to the stock that there is, or takes off. With the same key the store does it once, however often it is sent. */
async function adjustStock(id: number, by: number, key: string): Promise<string> {
  const answer = await call(`${API}/Products/${id}`, {
    method: 'PUT',
    headers: { 'Idempotency-Key': key },
    body: JSON.stringify({ SKUInfo: { StockAdjust: by } }),
  })
  if (!answer.ok) throw new Error(`${answer.status} ${await answer.text()}`)
  return `adjusted by ${by}`
}

const products = await readProducts()
for (const line of readFileSync(process.argv[2] ?? 'stock.csv', 'utf8').split(/\r?\n/)) {
  const [sku = '', stock = '', key = ''] = line.split(';')
  const product = products.get(sku.trim())
  if (sku === '') continue
  if (!product) console.log(sku, 'is not in the store')
  else if (/^[+-]/.test(stock)) console.log(sku, await adjustStock(product.CatalogID, Number(stock), key))
  else if (product.Stock !== Number(stock)) console.log(sku, await setStock(product.CatalogID, Number(stock)))
}
