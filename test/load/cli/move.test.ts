import { readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { openReceiver } from '../../app/shop/webhooks/dispatch-receiver.ts'
import { contentsOf } from '../../support/contents.ts'
import { createDatabase } from '../../support/database.ts'
import { sharedFolder } from '../../support/folders.ts'
import { startCommand } from '../../support/run-command.ts'
import { freePort, programEnv, type Run, runProgram, runServer } from '../../support/run-server.ts'
import { shared } from '../../support/shared.ts'

const dataDir = sharedFolder()
const target = await shared(createDatabase())

function start(args: string[], settings: Record<string, string> = {}): Run {
  const path = new URL('../../../src/cli/move.ts', import.meta.url).pathname
  return runProgram(process.execPath, [path, ...args], { env: { ...programEnv, DATA_DIR: dataDir, ...settings } })
}

async function run(args: string[], settings: Record<string, string> = {}) {
  const { exited, output } = start(args, settings)
  return { code: await exited, output: output() }
}

/** The lines of a file for the environment. */
function settingsIn(path: string): Record<string, string> {
  return Object.fromEntries(
    [...readFileSync(path, 'utf8').matchAll(/^(\w+)='(.*)'$/gm)].map(([, name, value]) => [name, value]),
  )
}

test('an embedded installation moves beside its server, its keys too, goes on there, and comes back', async () => {
  const receiver = await openReceiver()
  const port = await freePort()
  const base = `http://127.0.0.1:${port}`
  const settings = { PORT: String(port), DATA_DIR: dataDir }
  const first = runServer(settings)
  await first.shows(/http:\/\/localhost:\d+/)
  const sandbox = JSON.parse(readFileSync(join(dataDir, 'sandbox.json'), 'utf8'))
  const { publicKey: _, privateKey, token } = sandbox.application
  const headers = {
    privatekey: privateKey,
    token,
    secureurl: sandbox.store.secureUrl,
    'content-type': 'application/json',
  }
  const call = (method: string, path: string, body?: object) =>
    fetch(`${base}/StoreWebAPI/v1${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) })
  const order = () =>
    fetch(`${base}/admin/stores/1/orders`, {
      method: 'POST',
      headers: { authorization: `Bearer ${sandbox.operatorKey}`, 'content-type': 'application/json' },
      body: JSON.stringify({ BillingEmail: 'a@b.example', OrderItemList: [{ CatalogID: 1, ItemQuantity: 1 }] }),
    })
  const webhook = { Name: 'Here', Url: receiver.url, EventType: 1, Enabled: true }
  expect((await call('POST', '/Webhooks', webhook)).status).toBe(201)
  expect((await order()).status).toBe(201)
  await receiver.came(1)

  const moved = await run([], { TARGET_DATABASE_URL: target.url })
  expect(moved, moved.output).toMatchObject({ code: 0 })
  expect(moved.output).toMatch(/rows of \d+ tables are identical.*moved\.env.*All is well/s)
  expect(moved.output).not.toContain(new URL(target.url).password || 'no password')
  const file = join(dataDir, 'moved.env')
  expect(statSync(file).mode & 0o777).toBe(0o600)
  const lines = settingsIn(file)
  expect(moved.output).not.toContain(lines.SECRET_KEY)

  expect((await call('GET', '/Products/1')).status).toBe(200)
  expect((await order()).status).toBe(503)
  await first.shows('The store is being moved to the database')
  await first.end()
  const refused = runServer(settings)
  expect(await refused.exited).toBe(1)
  expect(refused.output()).toContain('The store has been moved to the database')

  const second = runServer({ ...settings, ...lines })
  await second.shows(/http:\/\/localhost:\d+/)
  expect((await order()).status).toBe(201)
  await receiver.came(2)
  const before = await contentsOf(target.url)

  const back = await run(['--to', 'embedded'], lines)
  expect(back, back.output).toMatchObject({ code: 0, output: expect.stringContaining('without DATABASE_URL') })
  expect((await contentsOf(target.url)).Order).toBe(before.Order)
  await second.end()
  const third = runServer(settings)
  await third.shows(/http:\/\/localhost:\d+/)
  expect((await order()).status).toBe(201)
  await receiver.came(3)
  await third.end()
})

test('wrong arguments are refused, and no password is repeated', async () => {
  expect(await run([])).toMatchObject({ code: 2, output: expect.stringMatching(/^Usage: npm run move/) })
  const refused = await run(['--to', 'mysql://root:hunter2@db/shop'])
  expect(refused).toMatchObject({
    code: 2,
    output: expect.stringMatching(/^The target is not the address of a PostgreSQL/),
  })
  expect(refused.output).not.toContain('hunter2')
  for (const given of [
    'postgresql://someone:hunter2@127.0.0.1:1/shop',
    'postgres://127.0.0.1:1/shop?password=hunter2',
  ]) {
    const open = await run(['--to', given])
    expect(open).toMatchObject({
      code: 2,
      output: expect.stringMatching(/^--to has a password, .* TARGET_DATABASE_URL/),
    })
    expect(open.output).not.toContain('hunter2')
    const command = startCommand('move', ['--to', '-'], { settings: { DATA_DIR: dataDir }, cwd: dataDir })
    const unseen = await command.ends(`${given}\n`)
    // The embedded database of the test is the source; nobody listens at the target.
    expect(unseen).toMatchObject({
      code: 2,
      errors: expect.stringContaining('The database at 127.0.0.1:1/shop cannot be used'),
    })
    expect(unseen.errors).not.toContain('hunter2')
  }
  expect(await run(['--to', 'embedded'])).toMatchObject({ code: 2, output: expect.stringContaining('DATABASE_URL') })
})
