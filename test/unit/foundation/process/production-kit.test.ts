import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { parse } from 'yaml'
import { readConfig, settingNames } from '../../../../src/foundation/process/settings.ts'
import { startCommand } from '../../../support/run-server.ts'

interface Service {
  readonly image?: string
  readonly build?: string
  readonly ports?: readonly string[]
  readonly read_only?: boolean
  readonly cap_drop?: readonly string[]
  readonly mem_limit?: string
  readonly restart?: string
  readonly stop_grace_period?: string
  readonly logging?: { readonly options: Readonly<Record<string, string>> }
  readonly environment?: Readonly<Record<string, string>>
}

const composeText = fileOf('docker-compose.yml')
const { services } = parse(composeText, { merge: true }) as { services: Record<string, Service> }
const { proxy, server, database } = services
/** The least that an operator sets. */
const required = {
  DOMAIN: 'api.shop.example',
  POSTGRES_PASSWORD: 'p',
  SECRET_KEY: 's'.repeat(64),
  OPERATOR_KEY: 'o'.repeat(64),
}

/** The longest that a server without a drain takes to stop (src/foundation/process/shutdown.ts), with some seconds to spare. */
const STOP_SECONDS = 35

function fileOf(path: string): string {
  return readFileSync(fileURLToPath(new URL(`../../../../${path}`, import.meta.url)), 'utf8')
}

/** `${NAME:-default}` and `${NAME:?message}` as Compose replaces them. */
function interpolate(text: string, given: Readonly<Record<string, string>>): string {
  return text.replace(/\$\{(\w+):([-?])([^}]*)\}/g, (_, name: string, kind: string, rest: string) => {
    if (kind === '?' && given[name] === undefined) throw new Error(`${name} is missing: ${rest}`)
    return given[name] ?? rest
  })
}

describe('docker-compose.yml', () => {
  test('hands every setting to the server but those of the image and the proxy', () => {
    // There is no pooler to lead past.
    const elsewhere = [
      'HOST',
      'PORT',
      'DATA_DIR',
      'TLS_CERT_FILE',
      'TLS_KEY_FILE',
      'HTTP_PORT',
      'DATABASE_DIRECT_URL',
      'TARGET_DATABASE_URL',
    ]
    const wanted = settingNames.filter((name) => !elsewhere.includes(name))
    expect(Object.keys(server?.environment ?? {}).toSorted()).toEqual(wanted.toSorted())
  })

  test('needs four variables, says what each is, and makes settings of them that the server takes', () => {
    const demands = [...composeText.matchAll(/\$\{(\w+):\?([^}]*)\}/g)]
    expect([...new Set(demands.map(([, name]) => name))].toSorted()).toEqual(Object.keys(required).toSorted())
    expect(demands.filter(([, , message = '']) => message.length < 20)).toEqual([])
    const given = Object.entries(server?.environment ?? {}).map(([name, value]) => [name, interpolate(value, required)])
    const config = readConfig({ HOST: '0.0.0.0', DATA_DIR: '/data', ...Object.fromEntries(given) })
    expect(config).toMatchObject({
      publicUrl: 'https://api.shop.example',
      trustProxy: ['10.213.57.0/28'],
      sandbox: false,
      backupDir: '/data/backups',
    })
  })

  test('publishes the ports of the proxy alone', () => {
    expect(proxy?.ports).toHaveLength(2)
    expect([server?.ports, database?.ports]).toEqual([undefined, undefined])
  })

  test.each(Object.entries(services))(
    'bounds %s: its version, file system, privileges, memory and log',
    (_, service) => {
      if (service.build === undefined) expect(service.image).toMatch(/^[a-z]+:\d+\.\d+(\.\d+)?-[a-z]+$/)
      expect(service).toMatchObject({
        ...{ read_only: true, cap_drop: ['ALL'], restart: 'unless-stopped' },
        logging: { options: { 'max-size': '10m', 'max-file': '5' } },
      })
      expect(interpolate(service.mem_limit ?? '', {})).toMatch(/^\d+[mg]$/)
    },
  )

  test('lets the server stop in its own time', () => {
    const drain = Number(interpolate(server?.environment?.DRAIN_SECONDS ?? '', {}))
    expect(Number.parseInt(server?.stop_grace_period ?? '', 10)).toBeGreaterThanOrEqual(drain + STOP_SECONDS)
  })
})

test('the Caddyfile uses variables that the proxy has, or a default', () => {
  const used = [...fileOf('deploy/Caddyfile').matchAll(/\{\$(\w+)\}|\{env\.(\w+)\}/g)].map(
    ([, one, other]) => one ?? other,
  )
  expect([...new Set(used)].toSorted()).toEqual(['CARTAPI_PLAIN_HTTP', 'DOMAIN'])
  expect(Object.keys(proxy?.environment ?? {})).toEqual(expect.arrayContaining(used))
})

describe('store-platform.service', () => {
  const unit = fileOf('deploy/systemd/store-platform.service')
  const directive = (name: string) => new RegExp(`^${name}=(.*)$`, 'm').exec(unit)?.[1] ?? ''

  test('starts the server as npm start does', () => {
    const root = fileURLToPath(new URL('../../../../', import.meta.url))
    const { args, environment } = startCommand(new URL('../../../../', import.meta.url))
    const [, ...own] = directive('ExecStart').split(' ')
    expect(own).toEqual(args.map((arg) => arg.replace(root, '')))
    for (const pair of Object.entries(environment)) expect(directive('Environment')).toContain(pair.join('='))
  })

  test('names only settings that there are, in the example of its settings too', () => {
    const example = [...fileOf('deploy/systemd/settings.example').matchAll(/^(\w+)=/gm)].map(([, name]) => name)
    const own = directive('Environment')
      .split(' ')
      .map((pair) => pair.split('=')[0])
    const others = ['NODE_ENV', 'MALLOC_MMAP_THRESHOLD_']
    expect([...own, ...example].filter((name = '') => !settingNames.includes(name) && !others.includes(name))).toEqual(
      [],
    )
  })

  test('lets the server stop in its own time', () => {
    expect(Number.parseInt(directive('TimeoutStopSec'), 10)).toBeGreaterThanOrEqual(STOP_SECONDS)
  })
})
