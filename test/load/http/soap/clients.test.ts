import { readFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { callsOf } from '../../../../tools/soap-clients/calls.ts'
import { families } from '../../../../tools/soap-clients/families.ts'
import { runFamily } from '../../../../tools/soap-clients/run.ts'
import { type Server, startServer } from '../../../../tools/soap-clients/server.ts'
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts'

const wsdl = readFileSync(new URL('../../../../wsdl/cartAPI.wsdl', import.meta.url), 'utf8')

/** Programs that are not installed are left out, unless REQUIRE_SOAP_CLIENTS says that there must be PHP's and zeep. */
const isRequired = process.env.REQUIRE_SOAP_CLIENTS === 'true'
const tried = families.map((family) => ({
  ...family,
  isTried: family.isInstalled || (family.isRequired && isRequired),
}))

const START_MS_MAX = 120_000
const FAMILY_MS_MAX = 240_000

describe.skipIf(!tried.some(({ isTried }) => isTried))('old programs', () => {
  let database: TestDatabase
  let server: Server
  beforeAll(async () => {
    database = await cloneDatabase()
    server = await startServer(database.url)
  }, START_MS_MAX)
  afterAll(async () => {
    await server?.stop()
    await database?.drop()
  })

  test('are to call every operation of the WSDL', async () => {
    const called = new Set((await callsOf(server, server.sandbox)).map(({ operation }) => operation))
    const known = new Set([...wsdl.matchAll(/<wsdl:operation name="(\w+)"/g)].map(([, name]) => name))
    expect(known.size).toBe(13)
    expect(called).toEqual(known)
  })

  for (const family of tried) {
    test.skipIf(!family.isTried)(
      `a program with ${family.title} calls every operation and reads every answer`,
      async () => {
        const { isExpected, output } = await runFamily(server, family)
        expect(isExpected, output).toBe(true)
      },
      FAMILY_MS_MAX,
    )
  }
})
