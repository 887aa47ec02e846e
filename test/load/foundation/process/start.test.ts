import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { cpSync, existsSync, mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { connect as connectSocket } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { setImmediate as immediate } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs, stripVTControlCharacters } from 'node:util'
import { Agent, request } from 'undici'
import { afterEach, beforeEach, describe, expect, inject, test } from 'vitest'
import type { SandboxFile } from '../../../../src/foundation/process/data-folder.ts'
import { makeCertificate } from '../../../support/certificate.ts'
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts'
import { startCommand } from '../../../support/run-command.ts'
import { freePort, programEnv, runProgram, serverKeys } from '../../../support/run-server.ts'
import { newStore, operatorKey, serverRuns } from '../../../support/server-runs.ts'

const { folder, port, end, start, failure, get, createStore } = serverRuns()

function sandboxFile(): SandboxFile {
  return JSON.parse(readFileSync(join(folder(), 'data/sandbox.json'), 'utf8'))
}

/** Runs `npm run new-store` with the settings of a server. */
function openFirstStore(settings: Record<string, string>) {
  const args = ['--url', 'shop.example', '--name', 'Shop', '--email', 'a@shop.example', '--generate-password']
  return startCommand('new-store', args, { settings: { PORT: String(port()), ...settings }, cwd: folder() }).ends()
}

/** Sends what the shell would hand to curl, on machines without curl too. */
function asCurl(line: string) {
  const shell = `curl() { for word; do echo "$word"; done; }; ${line}`
  const words = execFileSync('sh', ['-c', shell], { encoding: 'utf8' }).trim().split('\n')
  const { values, positionals } = parseArgs({
    args: words,
    options: { header: { type: 'string', short: 'H', multiple: true, default: [] } },
    allowPositionals: true,
  })
  const headers = Object.fromEntries(values.header.map((header) => header.split(': ', 2) as [string, string]))
  return request(positionals[0] ?? '', { headers })
}

function secretsOf({ store, developer, application, operatorKey: key }: ReturnType<typeof sandboxFile>): string[] {
  return [store.password, store.userKey, developer.password, application.privateKey, application.token, key]
}

describe('the sandbox', () => {
  test('is made by the first start, whose log names the file with the keys and has none; the second one finds the same', async () => {
    const first = await start()
    const output = await first.shows('All keys')
    const made = sandboxFile()
    const { store, baseUrl } = made
    expect(baseUrl).toBe(`http://localhost:${port()}`)
    expect(statSync(join(folder(), 'data/sandbox.json')).mode & 0o777).toBe(0o600)
    const wsdl = `${baseUrl}/cart.asmx?WSDL`
    for (const shown of [baseUrl, store.secureUrl, wsdl, join(folder(), 'data/sandbox.json'), 'Creating the sandbox']) {
      expect(output).toContain(shown)
    }

    expect(await first.end()).toBe(0)
    const second = await start()
    const again = await second.shows('All keys')
    expect(sandboxFile()).toEqual(made)
    expect(again).not.toContain('Creating the sandbox')
    await second.end()
    for (const secret of secretsOf(made)) expect(first.output() + second.output()).not.toContain(secret)
  })
})

describe('a start that cannot be', () => {
  test('a taken port ends it before anything is made', async () => {
    const other = createServer().listen(port(), '127.0.0.1')
    await once(other, 'listening')
    expect(await failure({})).toMatch(/^store-platform cannot start: .*port is in use.*PORT.*\n$/)
    expect(existsSync(join(folder(), 'data'))).toBe(false)
    other.close()
  })
  test('a password that the database refuses is not shown', async () => {
    const url = Object.assign(new URL(inject('templateUrl')), { password: 'pass-word-2' })
    const output = await failure({ DATABASE_URL: url.href, ...serverKeys })
    expect(output).toMatch(/password authentication failed/)
    expect(output).not.toContain('pass-word-2')
  })
  test('a misspelt setting is told too, because it may be the reason', async () => {
    const DATABASE_URL = 'postgresql://store:pass-word-1@127.0.0.1:1/store'
    const output = await failure({ DATABASE_URL, SECRETKEY: serverKeys.SECRET_KEY, OPERATOR_KEY: operatorKey })
    expect(output).toMatch('Warning: SECRETKEY is not a setting and is ignored. Did you mean SECRET_KEY?\n')
    expect(output).toMatch('Wrong setting: SECRET_KEY is missing')
    expect(output).not.toContain(serverKeys.SECRET_KEY)
  })
})

describe('with DATABASE_URL', () => {
  let database: TestDatabase
  beforeEach(async () => {
    database = await cloneDatabase()
  })
  afterEach(async () => {
    await end()
    await database.drop()
  })
  const settings = () => ({ DATABASE_URL: database.url, ...serverKeys })

  test('another SECRET_KEY than the database was filled under is refused at once', async () => {
    const first = await start(settings())
    await createStore()
    await first.end()
    expect(await failure({ ...settings(), SECRET_KEY: 'x'.repeat(32) })).toMatch(/SECRET_KEY.*not the key.*\n$/)
  })

  test('while there is no store, the banner names the command that opens the first one, and no key; there is no data folder', async () => {
    const first = await start(settings())
    expect(await first.shows('There is no store yet')).toContain('npm run new-store')
    expect(first.output()).not.toContain(operatorKey)
    expect(existsSync(join(folder(), 'data'))).toBe(false)
    expect((await openFirstStore(settings())).code).toBe(0)
    await first.end()
    expect((await start(settings())).output()).not.toContain('There is no store yet')
  })

  /** A request to create a store whose body is half sent. */
  function requestInHand() {
    const head = [
      'POST /admin/stores HTTP/1.1',
      `Authorization: Bearer ${operatorKey}`,
      'Content-Type: application/json',
    ]
    return halfSent(port(), head, newStore)
  }

  async function halfSent(to: number, head: readonly string[], body: string) {
    const lines = [...head, 'Host: x', `Content-Length: ${body.length}`]
    const socket = connectSocket(to, '127.0.0.1')
    socket.on('error', () => {}).write(`${lines.join('\r\n')}\r\n\r\n${body.slice(0, 9)}`)
    while (!(await get('/metrics', to)).body.includes('store_platform_http_requests_in_hand 2')) await immediate()
    return {
      finish: () => {
        socket.write(body.slice(9))
        return text(socket)
      },
    }
  }

  test('SIGTERM: behind the drain what is in hand is answered, nothing new is accepted, exit code 0', async () => {
    const server = await start({ ...settings(), DRAIN_SECONDS: '1' })
    const idle = connectSocket(port(), '127.0.0.1')
    await once(idle, 'connect')
    const inHand = await requestInHand()
    server.process.kill('SIGTERM')
    await refusesConnections()
    expect(await inHand.finish()).toMatch(/^HTTP\/1.1 201 [\s\S]*shop.example/)
    expect(await server.exited).toBe(0)
    expect(await database.db.store.count()).toBe(1)
    idle.destroy()
  })

  test('one Ctrl-C, which comes from the terminal and again from npm, is one signal', async () => {
    const server = await start(settings())
    const inHand = await requestInHand()
    server.process.kill('SIGINT')
    await server.shows('"stopping"')
    server.process.kill('SIGINT')
    await server.shows(/"stopping"[\s\S]*"stopping"/)
    expect(await inHand.finish()).toMatch(/^HTTP\/1.1 201 /)
    expect(await server.exited).toBe(0)
  })

  test('a later second signal ends it at once, with exit code 1', async () => {
    const server = await start(settings())
    await requestInHand()
    while (server.process.exitCode === null) {
      server.process.kill('SIGTERM')
      await immediate()
    }
    expect(await server.exited).toBe(1)
  })

  test('in the drain it serves as before, while /readyz tells balancers; a second signal ends it at once', async () => {
    const server = await start({ ...settings(), DRAIN_SECONDS: '300' })
    expect((await get('/readyz')).status).toBe(200)
    server.process.kill('SIGTERM')
    while ((await get('/readyz')).status === 200) await immediate()
    const { status, body } = await get('/readyz')
    expect([status, JSON.parse(body)]).toEqual([503, { status: 'unavailable', reason: 'the server is stopping' }])
    const fresh = connectSocket(port(), '127.0.0.1')
    await once(fresh, 'connect')
    fresh.destroy()
    await createStore()
    const { headers } = await request(`http://127.0.0.1:${port()}/healthz`)
    expect(headers.connection).toBe('keep-alive')
    while (server.process.exitCode === null) {
      server.process.kill('SIGTERM')
      await immediate()
    }
    expect(await server.exited).toBe(1)
  })

  test('an output that nobody reads neither stops the server nor its end', async () => {
    const server = await start(settings())
    server.process.stdout?.removeAllListeners('data').pause()
    server.process.stderr?.removeAllListeners('data').pause()
    for (let i = 0; i < 2_000; i++) await get('/healthz')
    const exit = once(server.process, 'exit')
    server.process.kill('SIGTERM')
    expect((await exit)[0]).toBe(0)
    server.process.stdout?.resume()
    server.process.stderr?.resume()
  })

  /** The settings for a certificate that is made for the test. */
  function certified() {
    const files = { TLS_CERT_FILE: join(folder(), 'server.crt'), TLS_KEY_FILE: join(folder(), 'server.key') }
    makeCertificate(files.TLS_CERT_FILE, files.TLS_KEY_FILE)
    return files
  }

  describe('HTTP_PORT beside TLS', () => {
    let plainPort: number
    beforeEach(async () => {
      plainPort = await freePort()
    })
    const startBoth = () => start({ ...settings(), ...certified(), HTTP_PORT: String(plainPort) })
    const plain = (path: string, headers = {}) => request(`http://127.0.0.1:${plainPort}${path}`, { headers })
    const call = '<Envelope xmlns="http://schemas.xmlsoap.org/soap/envelope/"><Body/></Envelope>'

    test('over plain http REST is refused, pages lead to https, cartAPI answers; over TLS all is served', async () => {
      const server = await startBoth()
      expect(server.output()).toContain(`https://localhost:${port()}`)
      const rest = await plain('/StoreWebAPI/v1/Products')
      expect(rest.statusCode).toBe(403)
      expect(await rest.body.json()).toMatchObject([
        { Message: `Use https://localhost:${port()}: plain http is refused` },
      ])
      expect((await plain('/admin/stores', { authorization: `Bearer ${operatorKey}` })).statusCode).toBe(403)
      const page = await plain('/admin/sign-in?next=%2F', { accept: 'text/html' })
      expect([page.statusCode, page.headers.location]).toEqual([
        302,
        `https://localhost:${port()}/admin/sign-in?next=%2F`,
      ])
      const fault = await request(`http://127.0.0.1:${plainPort}/cart.asmx`, {
        method: 'POST',
        headers: { 'content-type': 'text/xml' },
        body: call,
      })
      expect(await fault.body.text()).toContain('<faultcode>')
      expect((await plain('/cart.asmx?WSDL')).statusCode).toBe(200)
      const health = await plain('/healthz')
      expect(health.statusCode).toBe(200)
      expect(health.headers).not.toHaveProperty('strict-transport-security')
      const dispatcher = new Agent({ connect: { rejectUnauthorized: false } })
      const headers = { authorization: `Bearer ${operatorKey}` }
      const secure = await request(`https://127.0.0.1:${port()}/admin/stores`, { headers, dispatcher })
      expect(secure.statusCode).toBe(200)
      expect(secure.headers['strict-transport-security']).toMatch(/^max-age=/)
      await dispatcher.close()
      await answersWhatIsNoRequest()
    })

    /** As over TLS. */
    async function answersWhatIsNoRequest(): Promise<void> {
      for (const [head, status] of [
        ['GET / HTTP/9', 400],
        [`GET / HTTP/1.1\r\nHost: x\r\nA: ${'x'.repeat(20_000)}`, 431],
        ['GET / HTTP/1.1\r\nHost: x\r\nExpect: miracles', 417],
        ['GET / HTTP/1.1', 400],
      ] as const) {
        const socket = connectSocket(plainPort, '127.0.0.1')
        socket.write(`${head}\r\n\r\n`)
        expect(await text(socket)).toMatch(
          new RegExp(`^HTTP/1.1 ${status} [^]*x-request-id: [\\w-]{36}\\r\\n[^]*"Key"`, 'i'),
        )
      }
    }

    test('SIGTERM: what is in hand there is answered too, nothing new is accepted, exit code 0', async () => {
      const server = await startBoth()
      const idle = connectSocket(plainPort, '127.0.0.1')
      await once(idle, 'connect')
      const inHand = await halfSent(plainPort, ['POST /cart.asmx HTTP/1.1', 'Content-Type: text/xml'], call)
      server.process.kill('SIGTERM')
      await refusesConnections(plainPort)
      expect(await inHand.finish()).toMatch(/^HTTP\/1.1 500 [\s\S]*<faultcode>/)
      expect(await server.exited).toBe(0)
      idle.destroy()
    })

    test('a taken one ends the start before anything is made', async () => {
      const other = createServer().listen(plainPort, '127.0.0.1')
      await once(other, 'listening')
      const output = await failure({ ...certified(), HTTP_PORT: String(plainPort) })
      expect(output).toMatch(/^store-platform cannot start: .*port is in use.* set HTTP_PORT to a free one\n$/)
      expect(existsSync(join(folder(), 'data'))).toBe(false)
      other.close()
    })
  })

  async function refusesConnections(to = port()): Promise<void> {
    for (;;) {
      const socket = connectSocket(to, '127.0.0.1')
      const refused = await once(socket, 'connect').then(
        () => false,
        () => true,
      )
      socket.destroy()
      if (refused) return
    }
  }
})

/** A terminal of its own for a program; from util-linux, which systems without it go without. */
const script = '/usr/bin/script'
const hasTerminal =
  existsSync(script) && execFileSync(script, ['--version'], { encoding: 'utf8' }).includes('util-linux')

describe.skipIf(!hasTerminal)(`the log at a terminal (needs ${script} of util-linux)`, () => {
  async function startAtTerminal(settings: Record<string, string>) {
    const env = { PATH: process.env.PATH, SHELL: '/bin/sh', TERM: 'xterm-256color', SANDBOX: 'false', ...settings }
    const command = `echo "pid $$"; exec '${process.execPath}' src/start.js`
    const terminal = runProgram(script, ['-qefc', command, '/dev/null'], {
      cwd: fileURLToPath(new URL('../../../..', import.meta.url)),
      env: { DATA_DIR: join(folder(), 'data'), PORT: String(port()), ...env },
    })
    await terminal.shows('Base address')
    const end = async () => {
      process.kill(Number(/pid (\d+)/.exec(terminal.output())?.[1]), 'SIGTERM')
      return terminal.exited
    }
    return { terminal, end }
  }

  test('is begun by the keys of the sandbox and a curl line that works, in colours', async () => {
    const { terminal, end } = await startAtTerminal({ SANDBOX: 'true' })
    const output = await terminal.shows(/Try it:\s+curl .*\r\n/)
    for (const secret of secretsOf(sandboxFile())) expect(output).toContain(secret)
    const answer = await asCurl(/^ +(curl .*)\r$/m.exec(output)?.[1] ?? '')
    expect(answer.statusCode).toBe(200)
    expect(await answer.body.json()).toHaveLength(3)
    await end()
    expect(terminal.output()).toMatch(/\[\d\d:\d\d:\d\d\] \S+INFO\S+ /)
  })

  test('has a readable line for each request, to the last, and no colours where NO_COLOR is set', async () => {
    const { terminal, end } = await startAtTerminal({ NO_COLOR: '1' })
    await request(`http://127.0.0.1:${port()}/healthz?asked=1`, { headers: { 'x-request-id': 'r-1' } })
    expect(await end()).toBe(0)
    const output = terminal.output()
    expect(output).toMatch(/^\[\d\d:\d\d:\d\d\] INFO: GET \/healthz 200 \d+ ms from 127\.0\.0\.1 id r-1\r$/m)
    expect(output).toMatch(/INFO: stopped \{"exitCode":0\}\s*$/)
    expect(output).not.toMatch(/asked|"level"/)
    expect(stripVTControlCharacters(output)).toBe(output)
  })
})

describe('the embedded database', () => {
  test('its first store is opened with the generated key, which the command reads by itself', async () => {
    const DATA_DIR = join(folder(), "the shop's data")
    const server = await start({ SANDBOX: 'false', DATA_DIR })
    const { code, output } = await openFirstStore({ SANDBOX: 'false', DATA_DIR })
    expect(code).toBe(0)
    const { operatorKey: generated } = JSON.parse(readFileSync(join(DATA_DIR, 'keys.json'), 'utf8'))
    expect(output + server.output()).not.toContain(generated)
  })

  test('gets another secret key in two runs of one command, with a restart between them', async () => {
    const server = await start()
    const { application, store } = sandboxFile()
    const former = keysFile().secretKey
    const first = await rotate()
    expect(first).toMatch(/^.*keys\.json has a new secret key.*\nA running process still stores.*Restart the server/)
    expect(await statusOf(application, store)).toBe(200)
    await server.end()

    await start()
    expect(await statusOf(application, store)).toBe(200)
    expect(await rotate()).toMatch(/is under the new key\.\n.*until.*\npreviousSecretKey in .* has to stay until/s)
    expect(keysFile()).toMatchObject({ previousSecretKey: former })
    expect(keysFile().secretKey).not.toBe(former)
    expect(await statusOf(application, store)).toBe(200)
  })

  function keysFile(): { readonly secretKey: string } {
    return JSON.parse(readFileSync(join(folder(), 'data/keys.json'), 'utf8'))
  }

  async function rotate(): Promise<string> {
    const file = fileURLToPath(new URL('../../../../src/cli/rotate-secret-key.ts', import.meta.url))
    const env = { ...programEnv, DATA_DIR: join(folder(), 'data') }
    const program = runProgram(process.execPath, [file], { env })
    await program.exited
    return program.output()
  }

  async function statusOf({ privateKey, token }: SandboxFile['application'], { secureUrl }: SandboxFile['store']) {
    const headers = { privatekey: privateKey, token, secureurl: secureUrl }
    return (await request(`http://127.0.0.1:${port()}/StoreWebAPI/v1/OrderStatus`, { headers })).statusCode
  }
})

describe('an installation that is not whole is told in one line', () => {
  const startFile = fileURLToPath(new URL('../../../../src/start.js', import.meta.url))

  function startIn(dir: string, ...options: string[]): string {
    mkdirSync(join(dir, 'src'), { recursive: true })
    writeFileSync(join(dir, 'package.json'), '{"type": "module"}')
    cpSync(startFile, join(dir, 'src/start.js'))
    try {
      execFileSync(process.execPath, [...options, join(dir, 'src/start.js')], { stdio: 'pipe' })
    } catch (error) {
      const { status, stderr } = error as { status: number; stderr: Buffer }
      expect(status).toBe(1)
      return stderr.toString()
    }
    throw new Error('It started')
  }

  test('without dependencies', () => {
    expect(startIn(folder())).toMatch(/^store-platform cannot start: .*npm ci\n$/)
  })
  test('without some of the dependencies', () => {
    mkdirSync(join(folder(), 'node_modules/fastify'), { recursive: true })
    expect(startIn(folder())).toMatch(
      /^store-platform cannot start: The dependencies are not installed whole \(Cannot find .*\)\. Run npm ci .*\n$/,
    )
  })
  test('under a Node that is too old', () => {
    mkdirSync(join(folder(), 'node_modules/fastify'), { recursive: true })
    const old = `data:text/javascript,Object.defineProperty(process.versions,'node',{value:'20.20.2'})`
    expect(startIn(folder(), '--import', old)).toMatch(
      /^store-platform cannot start: Node 22.19 .* this is 20.20.2\. Run npm start, .*\n$/,
    )
  })
})
