// node new-orders.ts
import { randomUUID } from 'node:crypto'

const { API = '', SECURE_URL = '', PRIVATE_KEY = '', TOKEN = '' } = process.env
const headers = {
  SecureURL: SECURE_URL,
  PrivateKey: PRIVATE_KEY,
  Token: TOKEN,
  'Content-Type': 'application/json',
}

interface Order {
  OrderID: number
  InvoiceNumberPrefix: string
  InvoiceNumber: number
  OrderItemList: { ItemID: string; ItemQuantity: number }[]
}

// getOrder with status 1; not-found is what "No Data Found" was.
const answer = await fetch(`${API}/Orders?orderstatus=1&limit=100`, { headers })
const text = await answer.text()
if (!answer.ok && answer.headers.get('x-error-code') !== 'not-found') throw new Error(`${answer.status} ${text}`)
const orders = answer.ok ? (JSON.parse(text) as Order[]) : []
for (const { InvoiceNumberPrefix, InvoiceNumber, OrderItemList } of orders) {
  const lines = OrderItemList.map(({ ItemID, ItemQuantity }) => `${ItemQuantity} x ${ItemID}`)
  console.log(`${InvoiceNumberPrefix}${InvoiceNumber}`, lines.join(', '))
}

// updateOrderStatus, of all of them at once. 206: some were refused; the answer says which.
const accepted = orders.map(({ OrderID }) => ({ OrderID, OrderStatusID: 2 }))
if (accepted.length > 0) {
  const changed = await fetch(`${API}/Orders`, {
    method: 'PUT',
    headers: { ...headers, 'Idempotency-Key': randomUUID() },
    body: JSON.stringify(accepted),
  })
  if (changed.status !== 200) throw new Error(`${changed.status} ${await changed.text()}`)
}
