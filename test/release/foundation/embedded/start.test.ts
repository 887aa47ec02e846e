import { existsSync, readdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { request } from 'undici'
import { expect, test } from 'vitest'
import { freePort } from '../../../support/run-server.ts'
import { operatorKey, serverRuns } from '../../../support/server-runs.ts'

// A server with the embedded database, as a process.

const { folder, port, run, start, failure, get, createStore } = serverRuns()

function hasPostgres(): boolean {
  const paths = readdirSync(join(folder(), 'data'), { recursive: true, encoding: 'utf8' })
  return paths.some((path) => path.endsWith('postmaster.pid'))
}

test('the database stops with the server', async () => {
  const server = await start({ SANDBOX: 'false' })
  expect(hasPostgres()).toBe(true)
  expect(await server.end()).toBe(0)
  expect(hasPostgres()).toBe(false)
})

test('the database stops too when the signal comes while it starts', async () => {
  const server = run({ SANDBOX: 'false' })
  await server.shows('Starting PostgreSQL')
  expect(await server.end()).toBe(0)
  expect(hasPostgres()).toBe(false)
})

test('kill -9 at any moment: the next start works and has what had been answered for', async () => {
  const settings = { SANDBOX: 'false', OPERATOR_KEY: operatorKey }
  for (const moment of ['Starting PostgreSQL', 'Applying migrations', 'Base address']) {
    const server = run(settings)
    await server.shows(moment)
    if (moment === 'Base address') await createStore()
    await server.end('SIGKILL')
  }
  await start(settings)
  const headers = { authorization: `Bearer ${operatorKey}` }
  const { body } = await request(`http://127.0.0.1:${port()}/admin/stores`, { headers })
  expect(await body.json()).toEqual([expect.objectContaining({ SecureURL: 'https://shop.example' })])
})

test('without the keys that it was filled under the database is refused, and no other keys are put in their place', async () => {
  const server = await start({ SANDBOX: 'false', OPERATOR_KEY: operatorKey })
  await createStore()
  await server.end()
  rmSync(join(folder(), 'data/keys.json'))

  expect(await failure({ SANDBOX: 'false' })).toMatch(
    /keys.json in DATA_DIR.*not the key.*Give the former key back.*\n$/,
  )

  expect(existsSync(join(folder(), 'data/keys.json'))).toBe(false)
})

test('a data folder that another server uses is refused; that one goes on', async () => {
  await start({ SANDBOX: 'false' })
  expect(await failure({ PORT: String(await freePort()) })).toMatch(/in use by another process.*DATA_DIR\n$/)
  expect((await get('/readyz')).status).toBe(200)
})
