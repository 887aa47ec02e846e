// node shop-front.ts, and open http://localhost:8500. It takes no money: payOutside stands in for a payment service.
import { randomUUID } from 'node:crypto'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { text as readText } from 'node:stream/consumers'
import { type components, createClient, type RecordOf, StoreError } from 'store-platform-client'

const { API = '', SECURE_URL = '', PRIVATE_KEY = '', TOKEN = '', PICTURES = SECURE_URL, PORT = '8500' } = process.env
const store = createClient({ url: API, secureUrl: SECURE_URL, privateKey: PRIVATE_KEY, token: TOKEN })

type Html = { readonly html: string }
type Line = { ItemQuantity: number; ItemDescription: string; ItemAmount?: number; problem: string }

/** Makes HTML. Every value in it is escaped, unless it is HTML itself. */
function html(texts: TemplateStringsArray, ...values: (string | number | Html | Html[])[]): Html {
  const shown = values.map((value) => {
    if (typeof value === 'object') return [value].flat().map((one) => one.html)
    return String(value).replace(/[&<>"']/g, (character) => `&#${character.charCodeAt(0)};`)
  })
  return { html: texts.map((text, index) => text + [shown[index] ?? ''].flat().join('')).join('') }
}

/** A cookie has it as text, such as `6f1c…~12:2~13.9.15:1`: the key; product, options and quantity of each line. */
type Cart = { readonly key: string; lines: { CatalogID: number; ItemOptions: string; ItemQuantity: number }[] }

function readCart(text: string): Cart {
  const [key = '', ...parts] = text.split('~')
  const lines = parts.slice(0, 50).flatMap((part) => {
    const [, id, options = '', quantity] = /^(\d{1,9})((?:\.\d{1,9})*):([1-9]\d?)$/.exec(part) ?? []
    if (id === undefined) return []
    return { CatalogID: Number(id), ItemOptions: options.replaceAll('.', ','), ItemQuantity: Number(quantity) }
  })
  return { key: /^[\da-f-]{36}$/.test(key) ? key : randomUUID(), lines }
}

function writeCart({ key, lines }: Cart): string {
  const parts = lines.map((line) => `${line.CatalogID}${line.ItemOptions.replaceAll(',', '.')}:${line.ItemQuantity}`)
  return [key, ...parts].join('~')
}

function page(title: string, cart: Cart, main: Html, search = ''): Html {
  const count = cart.lines.reduce((sum, { ItemQuantity }) => sum + ItemQuantity, 0)
  return html`<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${title}</title>
<meta name="viewport" content="width=device-width, initial-scale=1"><link rel="stylesheet" href="/style.css"></head>
<body><header><a href="/">Shop</a><form action="/" role="search">
<input type="search" name="q" value="${search}" maxlength="100" aria-label="Search"><button>Search</button></form>
<a href="/cart">Cart (${count})</a></header><main><h1>${title}</h1>${main}</main></body></html>`
}

async function catalogue(query: URLSearchParams, cart: Cart): Promise<Html> {
  const name = (query.get('q') ?? '').trim().slice(0, 100)
  const number = /^[1-9]\d{0,4}$/.test(query.get('page') ?? '') ? Number(query.get('page')) : 1
  // One more than is shown says whether there is another page.
  const wanted = { hide: 0, notforsale: 0, limit: 25, offset: (number - 1) * 24 + 1, ...(name && { name }) } as const
  const { value: products } = await store.pages('/Products', { query: wanted }).next()
  if (!products) return page('No products found', cart, html``, name)
  const next = String(new URLSearchParams({ q: name, page: String(number + 1) }))
  const more = products.length > 24 ? html`<p><a href="/?${next}">More</a></p>` : ''
  const main = html`<ul class="products">${products.slice(0, 24).map(card)}</ul>${more}`
  return page(name === '' ? 'All products' : `Products named “${name}”`, cart, main, name)
}

function card({ SKUInfo: info, OptionSetList: sets, ThumbnailFile: file }: RecordOf<'/Products'>): Html {
  const choices = sets.flatMap(({ OptionSetName: set, OptionRequired: isRequired, OptionList }) => {
    const shown = OptionList.filter(({ OptionHide }) => !OptionHide)
    const options = shown.map(({ OptionID, OptionName }) => html`<option value="${OptionID}">${OptionName}</option>`)
    const none = isRequired ? '' : html`<option value="">${set}: none</option>`
    if (shown.length === 0) return []
    return html`<select name="option" aria-label="${set} of ${info.Name}">${none}${options}</select>`
  })
  return html`<li>${file ? html`<img src="${new URL(file, PICTURES).href}" alt="" loading="lazy">` : ''}
<h2>${info.Name}</h2><p>${(info.OnSale ? info.SalePrice : info.Price).toFixed(2)} ${info.Currency}</p>
<form method="post" action="/cart"><input type="hidden" name="product" value="${info.CatalogID}">${choices}
<div><input type="number" name="quantity" value="1" min="1" max="99" aria-label="How many of ${info.Name}">
<button aria-label="Add ${info.Name} to the cart">Add</button></div></form></li>`
}

const fields = {
  BillingFirstName: ['First name', 'given-name'],
  BillingLastName: ['Last name', 'family-name'],
  BillingEmail: ['E-mail address', 'email'],
  BillingAddress: ['Street and number', 'street-address'],
  BillingZipCode: ['Postal code', 'postal-code'],
  BillingCity: ['City', 'address-level2'],
  BillingCountry: ['Country, such as US', 'country'],
}

function row({ ItemQuantity, ItemDescription, ItemAmount, problem }: Line, index: number): Html {
  // Chosen options stand behind the name, with tags.
  const name = `${ItemQuantity} × ${ItemDescription.replace(/<[^>]*>|&nbsp;/g, ' ')}`
  return html`<tr><th scope="row">${name} ${problem && html`<em>${problem}</em>`}</th>
<td>${ItemAmount?.toFixed(2) ?? ''}</td><td><form method="post" action="/cart/remove">
<input type="hidden" name="line" value="${index}"><button aria-label="Remove ${name}">Remove</button></form></td></tr>`
}

/** What the store reckons of the cart, and the form of the order. `problems`: what it said of the last try. */
async function cartPage(cart: Cart, form = new URLSearchParams(), problems: readonly string[] = []): Promise<Html> {
  if (cart.lines.length === 0) return page('Your cart is empty', cart, html``)
  const { lines, total } = await quoteOf(cart.lines)
  const input = ([name, [label = '', complete = '']]: [string, string[]]) => html`<label>${label}
<input name="${name}" value="${form.get(name) ?? ''}" autocomplete="${complete}" maxlength="50" required></label>`
  const main = html`${problems.map((problem) => html`<p class="problem" role="alert">${problem}</p>`)}
<table>${lines.map(row)}<tr><th scope="row">Total</th><td colspan="2">${total || 'Remove a line.'}</td></tr></table>
<form method="post" action="/order"><h2>Your order</h2><input type="hidden" name="cart" value="${writeCart(cart)}">
<input type="hidden" name="total" value="${total}">${Object.entries(fields).map(input)}
<p>This is a trial: no money is taken.</p><button${total ? '' : html` disabled`}>Order and pay ${total}</button></form>`
  return page('Your cart', cart, main)
}

/** What the store reckons of lines. Where it refuses one, each is asked for alone, and there is no total. */
async function quoteOf(items: Cart['lines']): Promise<{ lines: Line[]; amount: number; total: string }> {
  try {
    const { data } = await store.post('/Checkout/Quote', { body: { OrderItemList: items } })
    const { OrderItemList, OrderAmount: amount, Currency } = data[0] as components['schemas']['Quote']
    const lines = OrderItemList.map((line) => ({ ...line, problem: line.CanBePlaced ? '' : 'sold out' }))
    return { lines, amount, total: `${amount.toFixed(2)} ${Currency}` }
  } catch (error) {
    if (!(error instanceof StoreError) || error.status !== 400) throw error
    // A message begins with the field at fault.
    const problem = error.items.map(({ Value, Message }) => Message.replace(`${Value} `, '')).join(' ')
    const refused = items.map((item) => ({ ...item, ItemDescription: `product ${item.CatalogID}`, problem }))
    const alone = await Promise.all(items.length < 2 ? [{ lines: refused }] : items.map((item) => quoteOf([item])))
    return { lines: alone.flatMap(({ lines }) => lines), amount: 0, total: '' }
  }
}

/** Takes no money. A shop has its payment service hold the amount here, and takes it when the order is placed. */
async function payOutside(amount: number, key: string) {
  const Payment = { Amount: amount, Method: 'Stand-in, no money', Reference: key, Status: 'authorised' } as const
  return amount > 0 ? { Payment } : {}
}

/** Places the order and leads to its page. Pressed twice, it is one order, because the store remembers the key. */
async function placeOrder(form: URLSearchParams, response: ServerResponse): Promise<void> {
  const cart = readCart(form.get('cart') ?? '')
  const billing = Object.fromEntries(Object.keys(fields).map((name) => [name, form.get(name) ?? '']))
  const { amount, total } = await quoteOf(cart.lines)
  // The store says what is to be paid, never the form; and it must be what the customer has seen.
  const changed = ['A price has changed, or what can be ordered. Look again.']
  if (total !== form.get('total')) return send(response, await cartPage(cart, form, changed))
  try {
    const order = { OrderItemList: cart.lines, ...billing, ...(await payOutside(amount, cart.key)) }
    const { data } = await store.post('/Checkout', { body: order, idempotencyKey: cart.key })
    lead(response, data[0]?.OrderPage ?? '/ordered', readCart(''))
  } catch (error) {
    if (!(error instanceof StoreError) || error.status >= 500) throw error
    // Of this cart there is an order already, which was placed with other words in the form.
    if (error.code === 'key-reused') return lead(response, '/ordered', readCart(''))
    const problems = error.code === 'insufficient-stock' ? ['It is sold out.'] : error.items.map((item) => item.Message)
    send(response, await cartPage(cart, form, problems), 400)
  }
}

const style = `*{box-sizing:border-box}body{font:1rem/1.5 system-ui,sans-serif;margin:auto;max-width:72rem;padding:1rem}
header,header form,li div{display:flex;gap:.5rem 1rem;align-items:center}header form{flex:1}.problem,em{color:#a40000}
.products{display:grid;grid-template-columns:repeat(auto-fill,minmax(10rem,1fr));gap:1.5rem 1rem;padding:0}
.products li{display:flex;flex-direction:column}.products form{margin-top:auto;display:grid;gap:.5rem}
img{width:100%;aspect-ratio:1}h2{font-size:1.1rem;margin:.5rem 0 0}p{margin:.25rem 0}:disabled{opacity:.5}
input,select,button{font:inherit;padding:.5rem;width:100%;border:1px solid #767676;border-radius:.25rem}
label{display:block;margin:.75rem 0}header button,td button{width:auto}button{background:#0b57a4;color:#fff}
table{width:100%;border-collapse:collapse}th,td{text-align:left;padding:.5rem .5rem .5rem 0}main>form{max-width:28rem}`
const policy = "default-src 'none'; style-src 'self'; img-src http: https:; frame-ancestors 'none'"

function send(response: ServerResponse, { html: text }: Html, status = 200, more: Record<string, string> = {}): void {
  const headers = { 'Content-Security-Policy': policy, 'Content-Type': 'text/html; charset=utf-8', ...more }
  response.writeHead(status, headers).end(text)
}

function lead(response: ServerResponse, Location: string, cart: Cart): void {
  const cookie = `cart=${writeCart(cart)}; Path=/; Max-Age=604800; HttpOnly; SameSite=Lax`
  send(response, html``, 303, { Location, 'Set-Cookie': cookie })
}

async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const { pathname, searchParams } = new URL(request.url ?? '/', 'http://shop')
  const cart = readCart(/(?:^|; )cart=([^;]*)/.exec(request.headers.cookie ?? '')?.[1] ?? '')
  // Forms of other sites, and long ones, do nothing here.
  const isForeign = /^(cross|same)-site$/.test(String(request.headers['sec-fetch-site']))
  const isTaken = request.method === 'POST' && !isForeign && Number(request.headers['content-length']) <= 10_000
  const form = isTaken ? new URLSearchParams(await readText(request)) : null
  if (form === null) {
    if (pathname === '/') return send(response, await catalogue(searchParams, cart))
    if (pathname === '/cart') return send(response, await cartPage(cart))
    if (pathname === '/ordered') return send(response, page('Your order is placed', cart, html``))
    if (pathname === '/style.css') return send(response, { html: style }, 200, { 'Content-Type': 'text/css' })
    return send(response, page('There is no such page', cart, html``), 404)
  }
  if (pathname === '/order') return placeOrder(form, response)
  const left = cart.lines.filter((_, index) => String(index) !== form.get('line'))
  if (pathname === '/cart/remove') return lead(response, '/cart', { ...cart, lines: left })
  const chosen = [form.get('product'), ...form.getAll('option').filter(Boolean)].join('.')
  lead(response, '/cart', { ...cart, lines: [...cart.lines, ...readCart(`~${chosen}:${form.get('quantity')}`).lines] })
}

createServer((request, response) => {
  answer(request, response).catch((error: unknown) => {
    console.error(error)
    send(response, page('The store does not answer. Try again: nothing is ordered twice.', readCart(''), html``), 502)
  })
}).listen(Number(PORT), '127.0.0.1', () => console.log(`http://localhost:${PORT}`))
