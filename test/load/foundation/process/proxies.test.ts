import { existsSync, readFileSync } from 'node:fs'
import { mkdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { Agent, request } from 'undici'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { makeCertificate } from '../../../support/certificate.ts'
import { cloneDatabase, type TestDatabase } from '../../../support/database.ts'
import { freePort, programEnv, type Run, runProgram, runServer, temporaryFolder } from '../../../support/run-server.ts'

const isRequired = process.env.REQUIRE_PROXIES === 'true'

interface Ports {
  readonly server: number
  readonly http: number
  readonly https: number
}

interface Proxy {
  readonly name: string
  readonly program: string
  /** Starts it on these ports, with what lies in the project for operators. */
  readonly start: (folder: string, ports: Ports) => Promise<Run>
}

const caddy: Proxy = {
  name: 'Caddy, by deploy/Caddyfile',
  program: '/usr/bin/caddy',
  start: async (folder, { server, http, https }) => {
    const config = join(folder, 'Caddyfile')
    // For localhost it makes a certificate of its own.
    const ports = `http_port ${http}\n\thttps_port ${https}\n\tskip_install_trust`
    await writeFile(config, fileOf('deploy/Caddyfile').replace('admin off', `admin off\n\t${ports}`))
    const environment = { DOMAIN: 'localhost', SERVER: `127.0.0.1:${server}`, HOME: folder, XDG_DATA_HOME: folder }
    const run = runProgram('/usr/bin/caddy', ['run', '--config', config, '--adapter', 'caddyfile'], {
      env: { PATH: programEnv.PATH, ...environment },
    })
    await run.shows('serving initial configuration')
    return run
  },
}

const haproxy: Proxy = {
  name: 'HAProxy, by the line of cluster/haproxy.cfg',
  program: '/usr/sbin/haproxy',
  start: async (folder, { server, http, https }) => {
    const key = join(folder, 'key.pem')
    const certificate = join(folder, 'certificate.pem')
    makeCertificate(certificate, key)
    await writeFile(join(folder, 'tls.pem'), readFileSync(key, 'utf8') + readFileSync(certificate, 'utf8'))
    const [line = ''] = /^ *http-request set-header X-Forwarded-Proto .*$/m.exec(fileOf('cluster/haproxy.cfg')) ?? []
    expect(fileOf('docs/operations.md')).toContain(line.trim())
    const config = join(folder, 'haproxy.cfg')
    await writeFile(
      config,
      `global
    log stdout format raw local0
defaults
    mode http
    timeout connect 2s
    timeout client 75s
    timeout server 75s
frontend clients
    bind 127.0.0.1:${http}
    bind 127.0.0.1:${https} ssl crt ${join(folder, 'tls.pem')}
    option forwardfor
${line}
    default_backend servers
backend servers
    server one 127.0.0.1:${server}
`,
    )
    const run = runProgram('/usr/sbin/haproxy', ['-W', '-db', '-f', config], { env: { PATH: programEnv.PATH } })
    await run.shows('Loading success')
    return run
  },
}

function fileOf(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), 'utf8')
}

describe.each([caddy, haproxy].filter(({ program }) => isRequired || existsSync(program)))(
  'behind $name',
  ({ start }) => {
    const agent = new Agent({ connect: { rejectUnauthorized: false } })
    let database: TestDatabase
    let folder: string
    let ports: Ports
    let proxy: Run
    let server: Run

    beforeAll(async () => {
      database = await cloneDatabase()
      folder = temporaryFolder()
      ports = { server: await freePort(), http: await freePort(), https: await freePort() }
      server = runServer({
        DATABASE_URL: database.url,
        PORT: String(ports.server),
        PUBLIC_URL: `https://localhost:${ports.https}`,
        TRUST_PROXY: '127.0.0.1',
        OPERATOR_KEY: 'operator-key-of-the-tests',
        SECRET_KEY: 'secret-key-of-the-tests-secret-key',
        SANDBOX: 'false',
      })
      await mkdir(join(folder, 'proxy'))
      ;[proxy] = await Promise.all([start(join(folder, 'proxy'), ports), server.shows('Base address')])
    })
    afterAll(async () => {
      for (const run of [proxy, server]) await run?.end()
      await agent.close()
      await database.drop()
      await rm(folder, { recursive: true, force: true })
    })

    async function call(scheme: 'http' | 'https', path: string, { method = 'GET', headers = {} } = {}) {
      const url = `${scheme}://localhost:${ports[scheme]}${path}`
      const answer = await request(url, { method: method as 'GET', headers, dispatcher: agent })
      const { statusCode: status, body } = answer
      return { status, headers: answer.headers, text: await body.text() }
    }
    const browser = { accept: 'text/html,application/xhtml+xml' }

    test.each(['GET', 'HEAD'])('%s of a page over plain http leads to the page over https', async (method) => {
      const path = '/admin/sign-in?next=%2Fadmin%2Forders'
      const plain = await call('http', path, { method, headers: browser })
      expect([plain.status, plain.headers.location]).toEqual([302, `https://localhost:${ports.https}${path}`])
      expect(plain.headers).not.toHaveProperty('strict-transport-security')
      const page = await call('https', path, { headers: browser })
      expect([page.status, page.headers['strict-transport-security']]).toEqual([200, 'max-age=15552000'])
      expect(page.text).toContain('</html>')
    })

    test('a client that claims https over plain http is not believed', async () => {
      const headers = { ...browser, 'x-forwarded-proto': 'https', 'x-forwarded-host': 'evil.example' }
      const { status, headers: answered } = await call('http', '/admin', { headers })
      expect([status, answered.location]).toEqual([302, `https://localhost:${ports.https}/admin`])
      expect((await call('http', '/StoreWebAPI/v1/Products', { headers })).status).toBe(403)
    })

    test('REST, the operator’s routes and forms that are sent are refused over plain http, and served over https', async () => {
      const operator = { authorization: 'Bearer operator-key-of-the-tests' }
      for (const [path, given, served] of [
        ['/StoreWebAPI/v1/Products', { headers: browser }, 401],
        ['/admin/stores', { headers: operator }, 200],
        ['/admin/sign-in', { method: 'POST', headers: browser }, 400],
      ] as const) {
        const plain = await call('http', path, given)
        expect([path, plain.status, plain.headers.location]).toEqual([path, 403, undefined])
        expect(plain.text).toContain(`Use https://localhost:${ports.https}: plain http is refused`)
        expect([path, (await call('https', path, given)).status]).toEqual([path, served])
      }
    })

    test('health is told over both', async () => {
      for (const scheme of ['http', 'https'] as const) expect((await call(scheme, '/readyz')).status).toBe(200)
    })
  },
)
