import { expect, test } from 'vitest'
import { createAuthenticator } from '../../../../src/access/applications/authenticate.ts'
import { buildApp } from '../../../../src/app.ts'
import { connect } from '../../../../src/foundation/database/client.ts'
import { openGate } from '../../../support/gate.ts'
import { ofTest } from '../../../support/shared.ts'
import { sharedServer } from '../../../support/store.ts'
import { productBody, type Result } from './fixture.ts'

const server = await sharedServer()
const store = await server.openStore()

test('503 with Retry-After while the database cannot be reached, for reads, writes and each record of a list; then all goes on', async () => {
  const gate = await ofTest(openGate(server.database.url))
  const db = await ofTest(connect(gate.url))
  const authenticator = createAuthenticator({ db, secrets: server.services.secrets, now: server.services.now })
  const app = await ofTest(buildApp({ ...server.services, db, authenticator }))
  const call = (method: 'GET' | 'POST', body?: object) =>
    app.inject({ method, url: '/StoreWebAPI/v1/Products', headers: store.credentials, ...(body && { payload: body }) })
  expect((await call('POST', productBody('BEFORE'))).statusCode).toBe(201)

  await gate.close()
  const read = await call('GET')
  expect(read.statusCode).toBe(503)
  expect(read.headers).toMatchObject({ 'retry-after': '1', 'x-error-code': 'unavailable' })
  expect(read.json<Result[]>()).toEqual([
    { Key: 'Error', Value: '', Status: '503', Message: 'The database does not answer; try again in a moment' },
  ])
  const write = await call('POST', [productBody('MEANWHILE'), productBody('MEANWHILE TOO')])
  expect(write.json<Result[]>().map(({ Status }) => Status)).toEqual(['503', '503'])
  expect(write.statusCode).toBe(503)

  await gate.open()
  expect((await call('POST', productBody('AFTER'))).statusCode).toBe(201)
  expect((await call('GET')).json()).toHaveLength(2)
})
