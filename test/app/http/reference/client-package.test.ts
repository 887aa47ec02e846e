import { execFile } from 'node:child_process'
import { chmod, cp, mkdir, readdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { gunzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { compileClient } from '../../../../clients/typescript/generate.ts'
import { folderOfTest } from '../../../support/folders.ts'
import { sharedServer } from '../../../support/store.ts'

// The client for TypeScript, as the server hands it out. test/load installs it and calls a server by it.

const run = promisify(execFile)
const project = fileURLToPath(new URL('../../../../', import.meta.url))
const source = join(project, 'clients', 'typescript')
const server = await sharedServer()

test('the package is answered to GET, HEAD and If-None-Match, as it is whatever encodings are accepted', async () => {
  const url = '/docs/client.tgz'
  const compressing = { 'accept-encoding': 'gzip, br' }
  const { statusCode, headers, rawPayload } = await server.app.inject({ url, headers: compressing })
  expect([statusCode, headers['content-type']]).toEqual([200, 'application/gzip'])
  expect(headers).not.toHaveProperty('content-encoding')
  expect(gunzipSync(rawPayload).toString('latin1')).toContain('package/package.json')
  const head = await server.app.inject({ url, method: 'HEAD' })
  const sizes = [head.statusCode, head.rawPayload.length, Number(head.headers['content-length'])]
  expect(sizes).toEqual([200, 0, rawPayload.length])
  const known = await server.app.inject({ url, headers: { 'if-none-match': String(headers.etag) } })
  expect([known.statusCode, known.rawPayload.length]).toEqual([304, 0])
})

test('it has what the compiler makes of its sources (`npm run client-types` writes it), its README and nothing else', async () => {
  const folder = folderOfTest()
  const compiled = join(folder, 'compiled')
  const { rawPayload } = await server.app.inject('/docs/client.tgz')
  await Promise.all([writeFile(join(folder, 'client.tgz'), rawPayload), compileClient(compiled)])
  await run('tar', ['-xzf', 'client.tgz'], { cwd: folder })
  const files = (await readdir(compiled)).map((name) => `lib/${name}`)
  const found = await readdir(join(folder, 'package'), { recursive: true })
  expect(found.toSorted()).toEqual(['README.md', 'lib', ...files, 'lib/schema.d.ts', 'package.json'].toSorted())
  for (const file of files) {
    const fresh = await readFile(join(compiled, file.slice('lib/'.length)), 'utf8')
    expect([file, await readFile(join(folder, 'package', file), 'utf8')]).toEqual([file, fresh])
  }
})

test('its bytes are the same for files of another age, order and mode', async () => {
  const folder = folderOfTest()
  const packer = 'src/http/reference/client-package.ts'
  await mkdir(join(folder, 'src/http/reference'), { recursive: true })
  await Promise.all([
    cp(join(project, packer), join(folder, packer)),
    cp(source, join(folder, 'clients/typescript'), { recursive: true }),
    symlink(join(project, 'node_modules'), join(folder, 'node_modules')),
  ])
  await chmod(join(folder, 'clients/typescript/README.md'), 0o600)
  const program = `import { packClient } from './${packer}'; process.stdout.write(packClient())`
  const options = { cwd: folder, encoding: 'buffer', env: { ...process.env, TZ: 'Asia/Tokyo' } } as const
  const { stdout } = await run(process.execPath, ['--input-type=module', '--eval', program], options)
  expect(stdout.equals((await server.app.inject('/docs/client.tgz')).rawPayload)).toBe(true)
})

test('no document has a package installed that neither the server nor this project’s lock file has', async () => {
  const { stdout } = await run('git', ['ls-files', '*.md', '*.eta', 'docs/guides/examples'], { cwd: project })
  const { packages } = JSON.parse(await readFile(join(project, 'package-lock.json'), 'utf8'))
  const named: string[] = []
  for (const file of stdout.trim().split('\n')) {
    const text = await readFile(join(project, file), 'utf8')
    for (const [, words = ''] of text.matchAll(/\b(?:(?:p?npm|yarn|bun) (?:install|i|add)|npx)((?: [^\s`|&;)]+)+)/g)) {
      named.push(...words.split(' ').filter((word) => /^@?[a-z]/.test(word) && !/^https?:/.test(word)))
    }
  }
  expect(named.filter((name) => packages[`node_modules/${name}`] === undefined)).toEqual([])
})
