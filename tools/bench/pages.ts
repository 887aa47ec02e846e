import { createProgress } from '../../src/cli/progress.ts'
import type { BenchOptions, Stops } from './bench.ts'
import { type BenchServer, startBenchServer } from './bench-server.ts'
import { startChild } from './child.ts'
import type { Load, Measurement } from './load.ts'
import { markdownTable } from './markdown-table.ts'
import { median, number } from './rest-table.ts'

/** A page for each way of being made: from nothing, from a file, from a few rows, through the engine. */
const pages = [
  '/assets/pico.css',
  '/admin/sign-in',
  '/admin',
  '/admin/orders',
  '/admin/orders/12',
  '/admin/products',
  '/admin/modules/rest-api',
  '/admin/audit',
]

const CONNECTIONS = [1, 8]

/** Prints how many pages of the store administration come a second, and how long one takes, with the sandbox store. */
export async function benchPages({ seconds, rounds, cases }: BenchOptions, stops: Stops): Promise<void> {
  const chosen = pages.filter((page) => cases.length === 0 || cases.some((text) => page.includes(text)))
  const server = await startBenchServer(stops)
  const cookie = await signIn(server)
  const load = startChild('load.ts')
  await stops.add(load.stop)
  const progress = createProgress({ label: 'Measuring', total: chosen.length * CONNECTIONS.length * rounds })
  const rows: string[][] = []
  for (const page of chosen) {
    const row = [page]
    for (const connections of CONNECTIONS) {
      const measured: Measurement[] = []
      for (let round = 0; round < rounds; round++) {
        measured.push(await load.ask<Measurement>(request(server, page, cookie, { connections, seconds })))
        progress.advance(1)
      }
      const of = (figure: keyof Measurement) => number(median(measured.map((measurement) => measurement[figure])))
      row.push(of('perSecond'), of('p50Ms'), of('p99Ms'))
    }
    rows.push(row)
  }
  progress.done()
  const head = CONNECTIONS.flatMap((count) => [`${count}: pages/s`, 'p50 ms', 'p99 ms'])
  process.stdout.write(markdownTable(['page, clients', ...head], rows))
}

/** As a merchant of the sandbox store, with an account of its own. */
async function signIn(server: BenchServer): Promise<string> {
  const account = { Email: 'merchant@bench.example', Password: 'correct horse battery' }
  await server.post('/admin/stores/1/users', account)
  return signInTo(server, account)
}

/** Returns the cookies of a merchant who has signed in. */
export async function signInTo(
  { baseUrl }: BenchServer,
  account: { Email: string; Password: string },
): Promise<string> {
  const answer = await fetch(`${baseUrl}/admin/sign-in`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(account),
  })
  if (!answer.ok) throw new Error(`The sign-in answered ${answer.status}: ${await answer.text()}`)
  return answer.headers
    .getSetCookie()
    .map((text) => text.split(';', 1)[0] ?? '')
    .join('; ')
}

function request(
  { baseUrl }: BenchServer,
  page: string,
  cookie: string,
  how: Pick<Load, 'connections' | 'seconds'>,
): Load {
  // Who is signed in is led away from the sign-in.
  const headers = { accept: 'text/html', ...(page !== '/admin/sign-in' && { cookie }) }
  return { url: baseUrl.replace('localhost', '127.0.0.1'), headers, method: 'GET', paths: [page], ...how }
}
