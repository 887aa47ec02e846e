// SECRET=whsec_… PORT=8300 node receiver.ts
import { createHmac, timingSafeEqual } from 'node:crypto'
import { createServer } from 'node:http'

const { SECRET = '', PORT = '8300' } = process.env
const key = Buffer.from(SECRET.replace(/^whsec_/, ''), 'base64')
const seen = new Set<string>() // in earnest: a table with the ids of the last days

function isGenuine(id: string, timestamp: string, signatures: string, body: Buffer): boolean {
  if (!(Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300)) return false
  const expected = createHmac('sha256', key).update(`${id}.${timestamp}.`).update(body).digest()
  return signatures.split(' ').some((each) => {
    const sent = Buffer.from(each.replace(/^v1,/, ''), 'base64')
    return sent.length === expected.length && timingSafeEqual(sent, expected)
  })
}

createServer(async (request, response) => {
  const chunks: Buffer[] = []
  for await (const chunk of request) chunks.push(chunk)
  const body = Buffer.concat(chunks)
  const header = (name: string) => String(request.headers[name] ?? '')
  const id = header('webhook-id')
  if (!isGenuine(id, header('webhook-timestamp'), header('webhook-signature'), body)) {
    response.writeHead(401).end()
    return
  }
  if (!seen.has(id)) {
    const [record] = JSON.parse(body.toString())
    console.log(header('webhook-event'), header('webhook-sequence'), record.OrderID)
    seen.add(id)
  }
  response.writeHead(204).end()
}).listen(Number(PORT), '127.0.0.1', () => console.log('listening'))
