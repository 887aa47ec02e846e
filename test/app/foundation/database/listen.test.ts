import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { type KeptConnection, listen } from '../../../../src/foundation/database/connection.ts'
import { openClient } from '../../../support/client.ts'
import { cloneDatabase } from '../../../support/database.ts'
import { shared } from '../../../support/shared.ts'

const database = await shared(cloneDatabase())
const client = await shared(openClient(database.url))

const heard = vi.fn<(payload: string) => void>()
const onConnect = vi.fn<() => void>()
const onLost = vi.fn<(error: Error) => void>()
let listening: KeptConnection
beforeEach(async () => {
  vi.clearAllMocks()
  listening = await listen(database.url, { 'Mixed channel': heard, other: () => {} }, { onConnect, onLost })
})
afterEach(() => listening.stop())

test('a notification is heard with its payload, on its channel alone', async () => {
  await notify('other', 'one')
  await notify('Mixed channel', 'two')

  await vi.waitFor(() => expect(heard.mock.calls).toEqual([['two']]))
  expect(onConnect).toHaveBeenCalledTimes(1)
})

test('a connection that was lost is made again, and both are told', async () => {
  await client.query(`SELECT pg_terminate_backend(pid) ${listeners}`)

  await vi.waitFor(() => expect(onConnect).toHaveBeenCalledTimes(2))
  expect(onLost).toHaveBeenCalledWith(expect.objectContaining({ message: expect.stringMatching(/terminat/) }))
  await notify('Mixed channel', 'after')
  await vi.waitFor(() => expect(heard.mock.calls).toEqual([['after']]))
})

test('a database that cannot be reached is tried until it can', async () => {
  const { pathname } = new URL(database.url)
  const outside = await openClient(Object.assign(new URL(database.url), { pathname: '/postgres' }).href)
  const allowConnections = (allowed: boolean) =>
    outside.query(`ALTER DATABASE "${pathname.slice(1)}" ALLOW_CONNECTIONS ${allowed}`)
  await allowConnections(false)
  try {
    await client.query(`SELECT pg_terminate_backend(pid) ${listeners}`)
    // Once for the loss, then for attempts.
    await vi.waitFor(() => expect(onLost.mock.calls.length).toBeGreaterThan(2), { timeout: 10_000 })
  } finally {
    await allowConnections(true)
    await outside.end()
  }

  await vi.waitFor(() => expect(onConnect).toHaveBeenCalledTimes(2), { timeout: 10_000 })
})

test('stopping closes the connection and makes no other', async () => {
  await listening.stop()

  await vi.waitFor(async () => expect((await client.query(`SELECT pid ${listeners}`)).rows).toEqual([]))
  expect(onLost).not.toHaveBeenCalled()
  expect(onConnect).toHaveBeenCalledTimes(1)
})

test('a first connection that fails is told to the caller', async () => {
  const nowhere = Object.assign(new URL(database.url), { pathname: '/nowhere' }).href

  await expect(listen(nowhere, {}, { onConnect, onLost })).rejects.toThrow('"nowhere" does not exist')
})

const listeners = `FROM pg_stat_activity WHERE datname = current_database() AND query LIKE 'LISTEN%'`

async function notify(channel: string, payload: string): Promise<void> {
  await client.query('SELECT pg_notify($1, $2)', [channel, payload])
}
