import { once } from 'node:events'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { gunzipSync, gzipSync } from 'node:zlib'
import { beforeEach, describe, expect, test } from 'vitest'
import { migrate } from '../../../src/foundation/database/migrations.ts'
import { createDatabase } from '../../support/database.ts'
import { folderOfTest } from '../../support/folders.ts'
import { type Outcome, startCommand } from '../../support/run-command.ts'
import { freePort, serverKeys } from '../../support/run-server.ts'
import { ofTest } from '../../support/shared.ts'
import { sharedServer, type TestStore } from '../../support/store.ts'
import { exportOf, importInto } from '../engine/transfer/fixture.ts'

let shop: TestStore
let folder: string

const server = await sharedServer()
const baseUrl = await server.app.listen({ host: '127.0.0.1', port: 0 })
beforeEach(async () => {
  folder = folderOfTest()
  shop = await server.openStore()
})

test('--help shows the usage of every command, and does nothing else', async () => {
  const { scripts } = JSON.parse(readFileSync(new URL('../../../package.json', import.meta.url), 'utf8'))
  const commands = Object.keys(scripts).filter((name) => scripts[name].startsWith('node src/cli/'))
  expect(commands).toHaveLength(12)
  for (const name of commands) {
    expect(scripts[name]).toBe(`node src/cli/${name}.ts`)
    const command = startCommand(name, ['--help'], { settings: { DATA_DIR: join(folder, 'data') }, cwd: folder })
    const { code, output, errors } = await command.ends()
    expect({ name, code, errors }).toEqual({ name, code: 0, errors: '' })
    expect(output).toMatch(new RegExp(`^Usage: npm run ${name}\\b.*\\S\\n$`, 's'))
  }
  expect(readdirSync(folder)).toEqual([])
})

test('npm run upgrade-check says what the next start does, and changes nothing', async () => {
  const { url } = await ofTest(createDatabase())
  await migrate(url, () => {}, '20261128221233_upgrades_done')
  const check = () =>
    startCommand('upgrade-check', [], { settings: { ...serverKeys, DATABASE_URL: url }, cwd: folder }).ends()

  const { code, output } = await check()

  expect(output).toMatch(/^- 20261129003000_upgrades_in_slices: at once; nobody waits longer than 0\.4 s$/m)
  expect(output).toMatch(/^No server runs\.$/m)
  expect(code).toBe(0)
  expect((await check()).output).toBe(output)
  await migrate(url)
  expect((await check()).output).toMatch(
    /^The next start of version .*:\n(- \w+: rewrites about 0 rows of .*\n)+No server runs\.\n$/,
  )
})

describe('npm run import', () => {
  const lines = [maker(1), '', maker(2)].join('\n')

  test('stores a file in the store that is named', async () => {
    const file = write('makers.ndjson', lines)
    const { code, output, errors } = await run('import', [file, '--store', String(shop.store.id)])
    expect({ code, output }).toEqual({ code: 0, output: '2 lines: 2 stored, 0 refused\n' })
    expect(errors).toMatch(new RegExp(`^Store ${shop.store.id}  █+ 100%  2 of 2`))
    expect(await countMakers()).toBe(2)
  })

  test('takes a gzipped file', async () => {
    const file = write('makers.ndjson.gz', gzipSync(lines))
    expect((await run('import', ['--store', String(shop.store.id), file])).code).toBe(0)
    expect(await countMakers()).toBe(2)
  })

  test('takes standard input', async () => {
    const { code, errors } = await run('import', ['-', '--store', String(shop.store.id)], {}, lines)
    expect(code).toBe(0)
    expect(errors).toMatch(/^Store \d+ {2}2 {2}/)
    expect(await countMakers()).toBe(2)
  })

  test('prints each refused line with its number and reason, and ends with exit code 1', async () => {
    const file = write('makers.ndjson', [maker(1), 'no JSON', maker(0), maker(2)].join('\n'))
    const { code, output, errors } = await run('import', [file, '--store', String(shop.store.id)])
    expect({ code, output }).toEqual({ code: 1, output: '4 lines: 2 stored, 2 refused\n' })
    expect(errors).toContain('Line 2: The line is not valid JSON\n')
    expect(errors).toContain('Line 3 (Manufacturers 0): ManufacturerID must be a whole number from 1 to 2146483647\n')
  })

  test('finds address, key and store of the sandbox in the data folder', async () => {
    const sandbox = {
      baseUrl,
      operatorKey: server.services.operatorKey,
      store: { id: shop.store.id, secureUrl: 's', email: 'e', password: 'p', userKey: 'u' },
      developer: { email: 'd', password: 'p' },
      application: { publicKey: 'k', privateKey: 'k', token: 't' },
    }
    write('sandbox.json', JSON.stringify(sandbox))
    const file = write('makers.ndjson', lines)
    const settings = { PUBLIC_URL: '', OPERATOR_KEY: '' }
    expect((await run('import', [file], settings)).code).toBe(0)
    expect(await countMakers()).toBe(2)
  })

  test.each([
    { name: 'no file', args: [], says: /^Usage: npm run import -- FILE\.ndjson/ },
    { name: 'two files', args: ['a', 'b'], says: /^Usage: / },
    { name: 'an unknown option', args: ['a', '--shop', '1'], says: /^Unknown option '--shop'/ },
    { name: 'a store that is no number', args: ['a', '--store', 'x'], says: /^--store x is not the number of a store/ },
    { name: 'a file that is not there', args: ['nowhere'], says: /^nowhere cannot be read \(ENOENT\)\n$/ },
    { name: 'a folder', args: ['.'], says: /EISDIR/ },
  ])('ends with one clear line: $name', async ({ args, says }) => {
    const { code, output, errors } = await run('import', args)
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toMatch(says)
    expect(errors.trim().split('\n')).toHaveLength(1)
  })

  test.each<{ name: string; settings: () => Promise<Record<string, string>>; store: string; says: RegExp }>([
    {
      name: 'no server answers',
      settings: async () => ({ PUBLIC_URL: `http://127.0.0.1:${await freePort()}` }),
      store: '1',
      says: /^No server answers at http:\/\/127\.0\.0\.1:\d+\. Start it: npm start\n$/,
    },
    {
      name: 'another operator’s key',
      settings: async () => ({ OPERATOR_KEY: 'another-operator-key' }),
      store: '1',
      says: /^The server answered 401: Authentication failed/,
    },
    {
      name: 'no such store',
      settings: async () => ({}),
      store: '999999',
      says: /^The server answered 404: No store has the id 999999\n$/,
    },
    {
      name: 'no key',
      settings: async () => ({ OPERATOR_KEY: '' }),
      store: '1',
      says: /^There is no operator key: give OPERATOR_KEY, or the server's DATA_DIR/,
    },
  ])('ends with one clear line: $name', async ({ settings, store, says }) => {
    const file = write('makers.ndjson', lines)
    const { code, output, errors } = await run('import', [file, '--store', store], await settings())
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toMatch(says)
  })
})

describe('npm run export', () => {
  beforeEach(() => importInto(server, shop, [maker(1), maker(2)]))

  test('writes a store to a file that only its owner may read', async () => {
    const file = join(folder, 'store.ndjson')
    const { code, output } = await run('export', ['--store', String(shop.store.id), file])
    expect({ code, output }).toEqual({ code: 0, output: '' })
    expect(readFileSync(file, 'utf8')).toBe(await exportOf(server, shop))
    expect(statSync(file).mode & 0o777).toBe(0o600)
    expect(readdirSync(folder)).toEqual(['store.ndjson'])
  })

  test('writes a gzipped file', async () => {
    const file = join(folder, 'store.ndjson.gz')
    expect((await run('export', ['--store', String(shop.store.id), file])).code).toBe(0)
    expect(gunzipSync(readFileSync(file)).toString()).toBe(await exportOf(server, shop))
  })

  test('writes to standard output without a file', async () => {
    const { code, output } = await run('export', ['--store', String(shop.store.id)])
    expect(code).toBe(0)
    expect(output).toBe(await exportOf(server, shop))
  })

  test.each([
    { name: 'an answer that breaks off', end: (lines: string) => lines.slice(0, lines.length / 2), breaks: true },
    { name: 'an answer without its end line', end: (lines: string) => lines.replace(/\{"end".*\n/, ''), breaks: false },
    { name: 'an answer that lacks a line', end: (lines: string) => lines.replace(/.*\n/, ''), breaks: false },
  ])('leaves the former file alone after $name', async ({ end, breaks }) => {
    const answer = end(await exportOf(server, shop))
    const broken = createServer((_request, response) => {
      response.write(answer, () => (breaks ? response.destroy() : response.end()))
    }).listen(0, '127.0.0.1')
    await once(broken, 'listening')
    const file = write('store.ndjson', 'the former export')
    const settings = { PUBLIC_URL: `http://127.0.0.1:${(broken.address() as AddressInfo).port}` }
    const { code, errors } = await run('export', ['--store', '1', file], settings)
    broken.close()
    expect(code).toBe(1)
    expect(errors).toMatch(/^The export (was cut off|is not complete).*: run this again$/m)
    expect(readFileSync(file, 'utf8')).toBe('the former export')
    expect(readdirSync(folder)).toEqual(['store.ndjson'])
  })

  test.each([
    { name: 'no store', args: [], says: /^Usage: npm run export -- --store ID/ },
    {
      name: 'a folder that is not there',
      args: ['--store', '1', 'no/where'],
      says: /^no\/where\.part cannot be written \(ENOENT\)\n$/,
    },
  ])('ends with one clear line: $name', async ({ args, says }) => {
    const given = args.map((arg) => (arg === '1' ? String(shop.store.id) : arg))
    const { code, output, errors } = await run('export', given)
    expect({ code, output }).toEqual({ code: 1, output: '' })
    expect(errors).toMatch(says)
  })
})

/** The program as npm starts it, in a folder of its own, with the test's server as its settings say. */
function run(
  program: 'import' | 'export',
  args: string[],
  settings: Record<string, string> = {},
  input?: string,
): Promise<Outcome> {
  const own = { PUBLIC_URL: baseUrl, OPERATOR_KEY: server.services.operatorKey, DATA_DIR: folder }
  return startCommand(program, args, { settings: { ...own, ...settings }, cwd: folder }).ends(input)
}

function write(name: string, content: string | Buffer): string {
  const file = join(folder, name)
  writeFileSync(file, content)
  return file
}

function maker(id: number): string {
  return JSON.stringify({ service: 'Manufacturers', record: { ManufacturerID: id, ManufacturerName: `Maker ${id}` } })
}

async function countMakers(): Promise<number> {
  return (await shop.call('GET', '/Manufacturers?countonly=1')).json().TotalCount
}
