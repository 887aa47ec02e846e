import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { locks } from '../../../../src/foundation/database/advisory-locks.ts'
import { readSandboxFile, type SandboxFile } from '../../../../src/foundation/process/data-folder.ts'
import { envelope, request as soapRequest } from '../../../app/http/soap/support.ts'
import { createDatabase, onServer } from '../../../support/database.ts'
import { sharedFolder } from '../../../support/folders.ts'
import { openGate } from '../../../support/gate.ts'
import { freePort, type Run, runServer, serverKeys } from '../../../support/run-server.ts'
import { shared } from '../../../support/shared.ts'

/** What each part of the process that asks the database by itself logs when it cannot. */
const background = [
  'the listening connection was lost',
  'the rate limits cannot be shared',
  'events could not be numbered',
  'webhook deliveries could not be claimed',
  'removal notices could not be looked for',
  'CSV imports could not go on',
  'calls are not logged until the database answers',
  'figures of the database are missing in /metrics',
]

const database = await shared(createDatabase())
const gate = await shared(openGate(database.url))
let run: Run
let sandbox: SandboxFile
let base: string
const dataDir = sharedFolder()

beforeAll(async () => {
  const port = await freePort()
  base = `http://127.0.0.1:${port}`
  const settings = { ...serverKeys, DATABASE_URL: gate.url, DATA_DIR: dataDir, SANDBOX: 'true', LOG_LEVEL: 'debug' }
  run = runServer({ ...settings, PORT: String(port) })
  await run.shows('All keys')
  sandbox = (await readSandboxFile(dataDir)) as SandboxFile
})
afterAll(() => run?.end())

interface Line {
  readonly level: string
  readonly msg: string
  readonly requestId?: string
  readonly reason?: string
  readonly status?: number
  readonly seconds?: number
  readonly count?: number
}

function lines(): Line[] {
  return run
    .output()
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
}

const grave = () => lines().filter(({ level }) => /warn|error|fatal/.test(level))

function rest(path: string, init: RequestInit = {}, privateKey = sandbox.application.privateKey): Promise<Response> {
  const { store, application } = sandbox
  const headers = { SecureURL: store.secureUrl, PrivateKey: privateKey, Token: application.token }
  return fetch(`${base}/StoreWebAPI/v1${path}`, { ...init, headers: { ...headers, ...init.headers } })
}

const json = { 'content-type': 'application/json' }
const html = { accept: 'text/html' }
const form = { 'content-type': 'application/x-www-form-urlencoded' }
const operator = { authorization: `Bearer ${serverKeys.OPERATOR_KEY}` }

function cartApi(userKey: string): Promise<Response> {
  const shop = { store: { ...sandbox.store, userKey } } as unknown as Parameters<typeof soapRequest>[0]
  const body = envelope(soapRequest(shop, 'getProductCount'))
  return fetch(`${base}/cart.asmx`, { method: 'POST', headers: { 'content-type': 'text/xml' }, body })
}

/** One of each protocol and form, refused for the caller's own fault or for an outage. */
const refusals: Record<string, () => Promise<Response>> = {
  'REST, wrong key': () => rest('/Products', {}, 'wrong'),
  'REST, a filter': () => rest('/Products?limit=x'),
  'REST, a record': () => rest('/Products/1', { method: 'PUT', headers: json, body: '{"SKUInfo":{"Name":{}}}' }),
  'REST, a list': () =>
    rest('/Products', { method: 'PUT', headers: json, body: '[{"SKUInfo":{"SKU":""}},{"Nope":1}]' }),
  'REST, no JSON': () => rest('/Products', { method: 'POST', headers: json, body: '{' }),
  'REST, no such record': () => rest('/Products/2000000000'),
  'REST, a problem': () => rest('/Products?limit=x', { headers: { accept: 'application/problem+json' } }),
  cartAPI: () => cartApi('wrong-key'),
  'cartAPI, a fault': () =>
    fetch(`${base}/cart.asmx`, { method: 'POST', headers: { 'content-type': 'text/xml' }, body: '<a/>' }),
  'OAuth, a token': () => fetch(`${base}/oauth/token`, { method: 'POST', headers: form, body: 'grant_type=none' }),
  'OAuth, authorization': () => fetch(`${base}/oauth/authorize?client_id=none`, { headers: html }),
  'a page': () => fetch(`${base}/admin/sign-in`, { method: 'POST', headers: { ...form, ...html }, body: 'Email=a' }),
  'an operator': () => fetch(`${base}/admin/stores`, { headers: { authorization: 'Bearer wrong' } }),
  'an operator, a body': () =>
    fetch(`${base}/admin/stores`, { method: 'POST', headers: { ...operator, ...json }, body: '{}' }),
  readiness: () => fetch(`${base}/readyz?for=x`),
}

/** The lines that have the id of the answer. */
async function linesOf(send: () => Promise<Response>): Promise<{ status: number; lines: Line[] }> {
  const answer = await send()
  await answer.arrayBuffer()
  const id = answer.headers.get('x-request-id')
  const found = () => lines().filter(({ requestId, level }) => requestId === id && level !== 'debug')
  await expect.poll(found).toContainEqual(expect.objectContaining({ msg: 'request' }))
  return { status: answer.status, lines: found() }
}

test('the migrations of a first start are one line', () => {
  const applied = lines().filter(({ msg }) => /migration/.test(msg))
  expect(applied).toEqual([expect.objectContaining({ level: 'info', msg: 'migrations applied' })])
  expect(applied[0]?.count).toBeGreaterThan(20)
})

describe('a refused request has one line, which says why', () => {
  test.each(Object.entries(refusals))('%s', async (_name, send) => {
    const { lines } = await linesOf(send)
    expect(lines).toEqual([expect.objectContaining({ msg: 'request', reason: expect.stringMatching(/\w/) })])
  })
})

test('an outage is one error and one line behind it, whatever fails meanwhile; a refused request has its line', async () => {
  const before = grave().length
  // A call for the log of calls to write.
  expect((await rest('/Products?limit=1')).status).toBe(200)
  await gate.close()
  await run.shows('"msg":"the database does not answer"')
  const statuses = new Set<number>()
  for (const send of [
    () => rest('/Products?limit=1'),
    () => rest('/Products/1', { method: 'PUT', headers: json, body: '{"SKUInfo":{"Name":"X"}}' }),
    () => cartApi(sandbox.store.userKey),
    () => fetch(`${base}/admin/stores`, { headers: operator }),
    () => fetch(`${base}/admin/sign-in`, { method: 'POST', headers: { ...form, ...html }, body: 'Email=a' }),
  ]) {
    const { status, lines } = await linesOf(send)
    statuses.add(status)
    expect(lines).toEqual([expect.objectContaining({ level: 'info', msg: 'request', reason: expect.any(String) })])
  }
  expect(statuses).toContain(503)
  await (await fetch(`${base}/metrics`, { headers: operator })).text()
  for (const message of background) {
    await expect.poll(() => lines().filter(({ msg }) => msg === message), { timeout: 30_000 }).not.toEqual([])
  }
  await gate.open()
  await run.shows('"msg":"the database answers again"')
  await expect.poll(async () => (await fetch(`${base}/readyz`)).status, { timeout: 10_000 }).toBe(200)

  expect(grave().slice(before)).toEqual([
    expect.objectContaining({
      level: 'error',
      msg: 'the database does not answer',
      reason: expect.stringContaining('ECONNREFUSED'),
    }),
    expect.objectContaining({ level: 'warn', msg: 'the database answers again', seconds: expect.any(Number) }),
  ])
  const levels = lines()
    .filter(({ msg }) => background.includes(msg))
    .map(({ level }) => level)
  expect(new Set(levels)).toEqual(new Set(['debug']))
})

test('a lost connection while the database answers is logged as it is', async () => {
  const before = grave().length
  const listeners = `
    FROM pg_stat_activity WHERE "datname" = '${new URL(database.url).pathname.slice(1)}'
    AND "pid" IN (SELECT "pid" FROM pg_locks WHERE "locktype" = 'advisory' AND "classid" = ${locks.process})`
  // Behind the outage it is opened again.
  await expect.poll(() => onServer(database.url, `SELECT ${listeners}`), { timeout: 10_000 }).toHaveLength(1)
  await onServer(database.url, `SELECT pg_terminate_backend("pid") ${listeners}`)
  const lost = expect.objectContaining({ level: 'warn', msg: 'the listening connection was lost' })
  await expect.poll(() => grave().slice(before), { timeout: 10_000 }).toEqual([lost])
})
