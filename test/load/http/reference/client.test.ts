import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { generateSource } from 'oazapfts'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { findPort } from '../../../../src/foundation/process/port.ts'
import { servedResources } from '../../../../src/shop/registry.ts'
import { sharedFolder } from '../../../support/folders.ts'
import { operatorKey } from '../../../support/services.ts'
import { openServer, type TestServer } from '../../../support/store.ts'

const run = promisify(execFile)
const modules = fileURLToPath(new URL('../../../../node_modules', import.meta.url))

let server: TestServer
const folder = sharedFolder()
let address: string

beforeAll(async () => {
  const port = await findPort('127.0.0.1', 0)
  address = `http://127.0.0.1:${port}`
  server = await openServer({ PUBLIC_URL: address })
  await server.app.listen({ host: '127.0.0.1', port })

  await symlink(modules, join(folder, 'node_modules'))
  await writeFile(join(folder, 'package.json'), '{ "type": "module" }')
  const copies = ['oazapfts', 'openapi-fetch', 'hey-api'].map((name) =>
    copyFile(new URL(`./${name}-program.txt`, import.meta.url), join(folder, `${name}.ts`)),
  )
  await Promise.all(copies)
})
afterAll(() => server?.close())

test('a client that is generated out of /openapi.json compiles, and works in each service', async () => {
  const source = await generateSource(`${address}/openapi.json`, {
    argumentStyle: 'object',
    mergeReadWriteOnly: true,
    enumStyle: 'as-const',
  })
  await writeFile(join(folder, 'client.ts'), source)
  await compile('oazapfts')
  const { stdout } = await run(process.execPath, [join(folder, 'oazapfts.ts'), address, operatorKey])

  const lines = stdout.trim().split('\n')
  const seen = new Map(lines.map((line) => JSON.parse(line)).map(({ service, ...steps }) => [service, steps]))
  expect(Object.fromEntries(seen)).toEqual({
    Category: { name: 'Cups', changed: 3, listed: 1, gone: true },
    Manufacturers: { name: 'Potter', changed: 3, listed: 1, gone: true },
    Distributors: { name: 'Carrier', changed: 3, listed: 1, gone: true },
    CustomerGroups: { name: 'Friends', changed: 3, listed: 1, gone: true },
    Products: { name: 'Mug', changed: 3, listed: 2, counted: 2, gone: true },
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
      kinds: 3,
      events: 0,
      gone: true,
    },
    headers: { first: 200, second: 412, isTold: true, sameAnswer: true, replayed: 'true' },
  })
  expect(servedResources.filter(({ service }) => !seen.has(service)).map(({ service }) => service)).toEqual([])
})

const tools = fileURLToPath(new URL('../../../../tools/node_modules', import.meta.url))
/** The generators lie with the tools, because they bring an older compiler; REQUIRE_TOOLS says that they must be there. */
const hasTools = existsSync(tools) || process.env.REQUIRE_TOOLS === 'true'

describe.runIf(hasTools)('the clients of other generators compile, with plain loops over lists', () => {
  test.concurrent('openapi-typescript, as strictly as the compiler can', async () => {
    const file = join(folder, 'schema.ts')
    await generate('openapi-typescript/bin/cli.js', `${address}/openapi.json`, '-o', file)
    await compile('openapi-fetch', {
      exactOptionalPropertyTypes: true,
      paths: { 'openapi-fetch': [join(tools, 'openapi-fetch', 'dist', 'index.d.mts')] },
    })
  })

  test.concurrent('@hey-api/openapi-ts', async () => {
    await generate(
      '@hey-api/openapi-ts/bin/run.js',
      '-i',
      `${address}/openapi.json`,
      '-o',
      join(folder, 'hey'),
      '--no-log-file',
    )
    // It imports its own files without their endings.
    await compile('hey-api', { module: 'preserve', moduleResolution: 'bundler' })
  })
})

async function generate(program: string, ...args: string[]): Promise<void> {
  await run(process.execPath, [join(tools, program), ...args], { cwd: folder })
}

/** Compiles one of the programs, with what it imports. */
async function compile(program: string, options: object = {}): Promise<void> {
  const config = join(folder, `tsconfig.${program}.json`)
  const compilerOptions = {
    target: 'es2024',
    module: 'nodenext',
    lib: ['es2024', 'dom', 'dom.iterable'],
    types: ['node'],
    strict: true,
    noUncheckedIndexedAccess: true,
    allowImportingTsExtensions: true,
    skipLibCheck: true,
    noEmit: true,
    ...options,
  }
  await writeFile(config, JSON.stringify({ compilerOptions, files: [`${program}.ts`] }))
  await run(join(modules, '.bin', 'tsc'), ['-p', config]).catch(({ stdout }) => expect.fail(stdout))
}
