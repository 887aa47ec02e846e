import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { folderOfTest } from '../../../support/folders.ts'
import { filled } from '../../../support/pictures.ts'
import { freePort, runServer } from '../../../support/run-server.ts'

const { files }: { files: Record<string, Record<string, string>> } = JSON.parse(
  readFileSync('src/shop/personal/personal.json', 'utf8'),
)

test('each file that a server writes is of a kind that is declared', { timeout: 180_000 }, async () => {
  const home = folderOfTest()
  const folders = Object.fromEntries(Object.keys(files).map((name) => [name, join(home, name)]))
  const settings = readFileSync('docs/settings.md', 'utf8').matchAll(/^\| (\w+_DIR) \|/gm)
  expect([...settings].map(([, name]) => name).sort()).toEqual(Object.keys(folders).sort())
  const port = `${await freePort()}`
  const server = runServer({ ...folders, PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}` })
  onTestFinished(async () => void (await server.end()))
  await server.shows('Base address')
  const { store, application } = JSON.parse(readFileSync(join(home, 'DATA_DIR/sandbox.json'), 'utf8'))
  const { privateKey, token } = application
  const sent = await fetch(`http://127.0.0.1:${port}/StoreWebAPI/v1/Products/1/Images`, {
    method: 'POST',
    headers: { SecureURL: store.secureUrl, PrivateKey: privateKey, Token: token, 'content-type': 'image/png' },
    body: new Uint8Array(await filled(20, 20).png().toBuffer()),
  })
  expect(sent.status).toBe(201)
  const kindsIn = (name: string) => {
    const entries = readdirSync(join(home, name), { recursive: true, withFileTypes: true })
    const written = entries.filter((entry) => entry.isFile())
    return written.map((entry) => {
      const path = join(entry.parentPath, entry.name).slice(join(home, name).length + 1)
      const kind = Object.entries(files[name] ?? {}).find(([, pattern]) => new RegExp(`^${pattern}$`).test(path))
      return kind?.[0] ?? `${name}: ${path}`
    })
  }
  const isWhole = () =>
    expect(readdirSync(join(home, 'BACKUP_DIR')).filter((each) => /backup$/.test(each))).toHaveLength(1)
  await vi.waitFor(isWhole, 120_000)
  for (const name of Object.keys(files)) {
    const expected = name === 'ARCHIVE_DIR' ? [] : Object.keys(files[name] ?? {})
    expect([...new Set(kindsIn(name))].sort()).toEqual(expected.sort())
  }
})
