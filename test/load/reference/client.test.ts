import { execFile } from 'node:child_process'
import { copyFile, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { generateSource } from 'oazapfts'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { findPort } from '../../../src/process/port.ts'
import { servedResources } from '../../../src/registry.ts'
import { operatorKey } from '../../support/services.ts'
import { openServer, type TestServer } from '../../support/store.ts'

const run = promisify(execFile)
const modules = fileURLToPath(new URL('../../../node_modules', import.meta.url))

let server: TestServer
let folder: string
let address: string

beforeAll(async () => {
  const port = await findPort('127.0.0.1', 0)
  address = `http://127.0.0.1:${port}`
  server = await openServer({ PUBLIC_URL: address })
  await server.app.listen({ host: '127.0.0.1', port })

  folder = await mkdtemp(join(tmpdir(), 'store-platform-client-'))
  await symlink(modules, join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  await writeFile(
    join(folder, 'tsconfig.json'),
    JSON.stringify({
      compilerOptions: {
        target: 'es2024',
        module: 'nodenext',
        types: ['node'],
        strict: true,
        noUncheckedIndexedAccess: true,
        allowImportingTsExtensions: true,
        skipLibCheck: true,
        noEmit: true,
      },
      include: ['*.ts'],
    }),
  )
  await copyFile(new URL('./client-program.txt', import.meta.url), join(folder, 'program.ts'))
})
afterAll(async () => {
  await server?.close()
  await rm(folder, { recursive: true, force: true })
})

test('a client that is generated out of /openapi.json compiles, and works in each service', async () => {
  const source = await generateSource(`${address}/openapi.json`, { argumentStyle: 'object', mergeReadWriteOnly: true })
  await writeFile(join(folder, 'client.ts'), source)
  await run(join(modules, '.bin', 'tsc'), ['-p', folder]).catch(({ stdout }) => expect.fail(stdout))
  const { stdout } = await run(process.execPath, [join(folder, 'program.ts'), address, operatorKey])

  const lines = stdout.trim().split('\n')
  const seen = new Map(lines.map((line) => JSON.parse(line)).map(({ service, ...steps }) => [service, steps]))
  expect(Object.fromEntries(seen)).toEqual({
    Category: { name: 'Cups', changed: 3, listed: 1, gone: true },
    Manufacturers: { name: 'Potter', changed: 3, listed: 1, gone: true },
    Distributors: { name: 'Carrier', changed: 3, listed: 1, gone: true },
    CustomerGroups: { name: 'Friends', changed: 3, listed: 1, gone: true },
    Products: { name: 'Mug', changed: 3, listed: 2, gone: true },
    Customers: { name: 'ann@client.example', changed: 'Rome', listed: 1, gone: true },
    OrderStatus: { name: 'New', listed: 12 },
    Orders: { name: 'CUP', changed: 'Packed', listed: 1 },
    GiftRegistries: { name: 'Wedding', changed: 'Welcome', listed: 1, gone: true },
    RMA: { name: 'CUP', changed: 'Chipped', listed: 1, gone: true },
    Webhooks: {
      name: 'Desk',
      changed: 'XML',
      listed: 1,
      invoice: 1000,
      secrets: ['whsec_', 'whsec_'],
      kinds: 2,
      events: 0,
      gone: true,
    },
    headers: { first: 200, second: 412, isTold: true, sameAnswer: true, replayed: 'true' },
  })
  expect(servedResources.filter(({ service }) => !seen.has(service)).map(({ service }) => service)).toEqual([])
})
