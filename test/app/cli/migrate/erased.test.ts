import { expect, test } from 'vitest'
import { shared } from '../../../support/shared.ts'
import { importInto } from '../../engine/transfer/fixture.ts'
import { expectEnd, openStage } from './fixture.ts'

const stage = await shared(openStage())

test('records of a person who was erased here are passed over, whatever the source does, and differ from nothing', async () => {
  const { server } = stage
  const lines = [21, 22].map((id) => ({
    service: 'Customers',
    record: { CustomerID: id, Email: `c${id}@mail.example` },
  }))
  const shop = await stage.openSource(async (source) => void (await importInto(server, source, lines)))
  const move = await stage.openMove(shop)
  expectEnd(await move.run(), 0)
  const path = `/admin/stores/${move.here.store.id}/customers/21/erase`
  const { Confirm } = (await server.operate('POST', `${path}?dry=true`)).json()
  expect((await server.operate('POST', path, { Confirm })).statusCode).toBe(200)

  await shop.call('PUT', '/Customers/21', { body: { BillingFirstName: 'Zelda' } })
  expect(expectEnd(await move.run(), 0)).toMatch(
    /^\d+ read, 0 written, \d+ equal already, 1 passed over \(erased here\)\n/,
  )
  await move.here.call('DELETE', '/Customers/21')
  expect(expectEnd(await move.run(['--compare']), 0)).toMatch(/ equal, 0 different, 0 only there, 0 only here\n/)
  await shop.call('DELETE', '/Customers/21')
  expect(expectEnd(await move.run(['--apply-deletions']), 0)).not.toMatch(/missing|deleted/)
  expect((await move.here.call('GET', '/Customers/21')).statusCode).toBe(404)
  expect(move.text()).not.toContain('Zelda')
}, 300_000)
