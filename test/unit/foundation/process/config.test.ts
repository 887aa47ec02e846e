import { readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readConfig, settingNames } from '../../../../src/foundation/process/settings.ts'
import { StartupError } from '../../../../src/foundation/process/startup-error.ts'
import { makeCertificate } from '../../../support/certificate.ts'
import { sharedFolder } from '../../../support/folders.ts'

const secretKey = 'k'.repeat(32)
const operatorKey = 'o'.repeat(16)
const production = {
  DATABASE_URL: 'postgresql://store:pass-word-1@db.internal:5432/store',
  SECRET_KEY: secretKey,
  OPERATOR_KEY: operatorKey,
  PUBLIC_URL: 'https://api.shop.example',
}

const folder = sharedFolder()
for (const name of ['one', 'other']) makeCertificate(join(folder, `${name}.crt`), join(folder, `${name}.key`))

test('docs/settings.md has each setting once, and no other', () => {
  const text = readFileSync(new URL('../../../../docs/settings.md', import.meta.url), 'utf8')
  const documented = [...text.matchAll(/^\| ([A-Z][A-Z\d_, ]+) \|/gm)].flatMap(([, names = '']) => names.split(', '))
  expect(documented.toSorted()).toEqual(settingNames.toSorted())
})

function faults(environment: Record<string, string>): string {
  try {
    readConfig(environment)
  } catch (error) {
    expect(error).toBeInstanceOf(StartupError)
    return (error as StartupError).message
  }
  throw new Error('The settings were accepted')
}

describe('without settings', () => {
  test('it is a sandbox on this machine, with its own database and keys', () => {
    expect(readConfig({})).toEqual({
      host: '127.0.0.1',
      port: 3000,
      httpPort: null,
      publicUrl: 'http://localhost:3000',
      tls: null,
      trustProxy: [],
      maxConnections: 1000,
      databaseUrl: null,
      databaseDirectUrl: null,
      targetDatabaseUrl: null,
      databaseConnections: 10,
      databaseBackgroundConnections: 4,
      databasePreparedStatements: true,
      representationCacheMb: 32,
      dataDir: resolve('.data'),
      secretKey: null,
      secretKeyNext: null,
      secretKeyPrevious: null,
      operatorKey: null,
      operatorKeyPrevious: null,
      sandbox: true,
      restPrefixes: ['/StoreWebAPI'],
      soapPath: '/cart.asmx',
      soapNamespaces: ['urn:store-platform:cartAPI'],
      timeZone: 'America/New_York',
      outboundAllow: ['127.0.0.0/8', '::1/128'],
      smtpUrl: null,
      mailFrom: null,
      mailFromDomains: [],
      developerSignup: 'open',
      filesDir: null,
      s3Url: null,
      orderPageDays: 90,
      historyDays: 730,
      ledgerDays: null,
      auditDays: null,
      archiveDir: null,
      backupDir: null,
      backupHours: 24,
      backupKeep: 7,
      drainSeconds: 0,
      logLevel: 'info',
    })
  })

  test('an empty value counts as none', () => {
    const empty = { PORT: '', DATABASE_URL: ' ', REST_PREFIXES: '', TIME_ZONE: '', LOG_LEVEL: '', TRUST_PROXY: '' }
    expect(
      readConfig({ ...empty, SOAP_PATH: ' ', SOAP_NAMESPACES: '', OUTBOUND_ALLOW: '', DEVELOPER_SIGNUP: '' }),
    ).toEqual(readConfig({}))
  })
})

test('nothing can change the settings afterwards', () => {
  const config = readConfig({ ...production, TRUST_PROXY: '10.0.0.1' })
  const { restPrefixes, soapNamespaces, trustProxy, outboundAllow } = config
  const lists = [restPrefixes, soapNamespaces, trustProxy, outboundAllow, readConfig({}).outboundAllow]
  expect([config, ...lists].every(Object.isFrozen)).toBe(true)
})

test('the base address follows the port unless given, and loses its trailing slash', () => {
  expect(readConfig({ PORT: '8080' }).publicUrl).toBe('http://localhost:8080')
  expect(readConfig({ PUBLIC_URL: 'https://shop.example/base/' }).publicUrl).toBe('https://shop.example/base')
})

test('with DATABASE_URL there is no sandbox unless asked for', () => {
  expect(readConfig(production).sandbox).toBe(false)
  expect(readConfig({ ...production, SANDBOX: 'true' }).sandbox).toBe(true)
  expect(readConfig({ SANDBOX: 'false' }).sandbox).toBe(false)
})

describe('what strangers may make the server do', () => {
  test('only in a sandbox are addresses of this machine called and developers may sign up, unless the operator says so', () => {
    expect(readConfig(production)).toMatchObject({ outboundAllow: [], developerSignup: 'closed' })
    expect(readConfig({ SANDBOX: 'false' })).toMatchObject({ outboundAllow: [], developerSignup: 'closed' })
    expect(readConfig({ ...production, SANDBOX: 'true' })).toMatchObject({
      outboundAllow: ['127.0.0.0/8', '::1/128'],
      developerSignup: 'open',
    })
  })
  test('what the operator says counts, in a sandbox too: addresses stand instead of its own', () => {
    const given = { OUTBOUND_ALLOW: '10.0.0.5, fd00::/8', DEVELOPER_SIGNUP: 'Closed' }
    const read = { outboundAllow: ['10.0.0.5', 'fd00::/8'], developerSignup: 'closed' }
    expect(readConfig(given)).toMatchObject(read)
    expect(readConfig({ ...production, ...given, DEVELOPER_SIGNUP: 'open' })).toMatchObject({
      ...read,
      developerSignup: 'open',
    })
  })
})

test('lists may have blanks; the order of prefixes stays', () => {
  const config = readConfig({ REST_PREFIXES: '/b/ , /a', TRUST_PROXY: '10.0.0.1, 10.1.0.0/16, ::1, fd00::/8' })
  expect(config.restPrefixes).toEqual(['/b', '/a'])
  expect(config.trustProxy).toEqual(['10.0.0.1', '10.1.0.0/16', '::1', 'fd00::/8'])
})

test('every fault is told at once, each in a line with the setting and what is allowed', () => {
  const message = faults({
    HOST: 'not an address',
    PORT: '70000',
    PUBLIC_URL: 'ftp://shop.example',
    TLS_CERT_FILE: '/nonexistent/certificate',
    TRUST_PROXY: 'true',
    DATABASE_URL: 'mysql://store:pass-word-1@db/store',
    DATABASE_DIRECT_URL: 'mysql://store:pass-word-3@db/store',
    SECRET_KEY: 'short-secret',
    SECRET_KEY_NEXT: 'short-next-secret',
    SECRET_KEY_PREVIOUS: 'short-former-secret',
    OPERATOR_KEY: 'with blanks in the key',
    OPERATOR_KEY_PREVIOUS: 'former',
    SANDBOX: 'perhaps',
    REST_PREFIXES: 'api,/Admin/api',
    SOAP_PATH: '/oauth/cart.asmx',
    SOAP_NAMESPACES: 'http://shop.example/,cartAPI,urn:two words',
    TIME_ZONE: 'Mars/Olympus',
    OUTBOUND_ALLOW: 'receiver.internal',
    SMTP_URL: 'https://user:pass-word-4@mail.example',
    MAIL_FROM: 'Shop',
    MAIL_FROM_DOMAINS: 'shop.example,mail@shop.example',
    DEVELOPER_SIGNUP: 'yes',
    ORDER_PAGE_DAYS: '3651',
    HISTORY_DAYS: 'all',
    LEDGER_DAYS: 'all',
    AUDIT_DAYS: '-1',
    BACKUP_HOURS: '0',
    BACKUP_KEEP: '0',
    DRAIN_SECONDS: '301',
    LOG_LEVEL: 'loud',
  })
  const lines = message.split('\n').slice(1)
  const settings = lines.map((line) => /^ {2}([A-Z_]+) /.exec(line)?.[1])
  expect(settings.sort()).toEqual([
    ...'AUDIT_DAYS BACKUP_HOURS BACKUP_KEEP DATABASE_DIRECT_URL DATABASE_URL DEVELOPER_SIGNUP DRAIN_SECONDS'.split(' '),
    ...'HISTORY_DAYS HOST LEDGER_DAYS LOG_LEVEL MAIL_FROM MAIL_FROM_DOMAINS OPERATOR_KEY OPERATOR_KEY_PREVIOUS'.split(
      ' ',
    ),
    ...'ORDER_PAGE_DAYS OUTBOUND_ALLOW PORT PUBLIC_URL REST_PREFIXES REST_PREFIXES SANDBOX SECRET_KEY'.split(' '),
    ...'SECRET_KEY_NEXT SECRET_KEY_PREVIOUS SMTP_URL SOAP_NAMESPACES SOAP_NAMESPACES SOAP_PATH TIME_ZONE'.split(' '),
    ...'TLS_CERT_FILE TLS_KEY_FILE TRUST_PROXY'.split(' '),
  ])
  expect(lines.every((line) => line.includes('; allowed: '))).toBe(true)
})

test('what is deleted has to have a folder in which it is archived', () => {
  expect(faults({ LEDGER_DAYS: '365', AUDIT_DAYS: '90' })).toContain(
    'ARCHIVE_DIR is missing; it is required with LEDGER_DAYS and AUDIT_DAYS',
  )
  const given = { LEDGER_DAYS: '365', AUDIT_DAYS: '0', ARCHIVE_DIR: 'archive' }
  expect(readConfig(given)).toMatchObject({ ledgerDays: 365, auditDays: null, archiveDir: resolve('archive') })
  expect(readConfig({ LEDGER_DAYS: '0' }).ledgerDays).toBeNull()
})

test('no message shows a key or a password', () => {
  const secrets = {
    DATABASE_URL: 'mysql://store:pass-word-1@db/store',
    DATABASE_DIRECT_URL: 'mysql://store:pass-word-3@db/store',
    SECRET_KEY: 'short-secret',
    SECRET_KEY_NEXT: 'short-next-secret',
    SECRET_KEY_PREVIOUS: 'short-former-secret',
    OPERATOR_KEY: 'open sesame',
    OPERATOR_KEY_PREVIOUS: 'open barley',
    SMTP_URL: 'smtp://user:pass-word-4@mail.example/path',
    MAIL_FROM: 'smtp://user:pass-word-5@mail.example',
  }
  const message = faults({ ...secrets, PUBLIC_URL: 'postgresql://store:pass-word-2@db/store' })
  expect(message).not.toMatch(/pass-word|short-|open /)
})

test.each([
  ['PORT', '-1'],
  ['PORT', '3000.5'],
  ['PORT', '0x10'],
  ['PUBLIC_URL', 'shop.example'],
  ['PUBLIC_URL', 'https://user@shop.example'],
  ['PUBLIC_URL', 'https://shop.example/a\tb'],
  ['PUBLIC_URL', 'https://shop.example/?a=b'],
  ['TRUST_PROXY', '10.0.0.0/33'],
  ['MAX_CONNECTIONS', '9'],
  ['MAX_CONNECTIONS', '100001'],
  ['MAX_CONNECTIONS', '1e3'],
  ['TRUST_PROXY', '10.0.0.0/8/8'],
  ['TRUST_PROXY', 'localhost'],
  ['REST_PREFIXES', '/'],
  ['REST_PREFIXES', ','],
  ['REST_PREFIXES', '/api/:version'],
  ['REST_PREFIXES', '/api,/API/'],
  ['REST_PREFIXES', '/metrics'],
  ['SOAP_PATH', '/'],
  ['SOAP_PATH', 'cart.asmx'],
  ['SOAP_PATH', '/a,/b'],
  ['SOAP_PATH', '/cart.asmx?WSDL'],
  ['SOAP_PATH', '/cart/:name'],
  ['SOAP_PATH', '/cart//asmx'],
  ['SOAP_PATH', '/Metrics'],
  ['SOAP_PATH', '/admin/cart.asmx'],
  ['SOAP_PATH', '/.well-known/cart'],
  ['SOAP_NAMESPACES', ','],
  ['SOAP_NAMESPACES', 'cartAPI'],
  ['SOAP_NAMESPACES', '//shop.example/'],
  ['SOAP_NAMESPACES', 'urn:'],
  ['SOAP_NAMESPACES', 'urn:a b'],
  ['SOAP_NAMESPACES', 'urn:a<b'],
  ['SOAP_NAMESPACES', 'urn:a"b'],
  ['SOAP_NAMESPACES', 'urn:a{b}'],
  ['SOAP_NAMESPACES', 'urn:ä'],
  ['SOAP_NAMESPACES', 'urn:a,urn:a'],
  ['SOAP_NAMESPACES', `urn:${'x'.repeat(252)}`],
  ['SOAP_NAMESPACES', Array.from({ length: 11 }, (_, index) => `urn:${index}`).join()],
  ['SOAP_NAMESPACES', 'http://schemas.xmlsoap.org/soap/envelope/'],
  ['SOAP_NAMESPACES', 'http://www.w3.org/2003/05/soap-envelope'],
  ['TIME_ZONE', '+05:00'],
  ['OUTBOUND_ALLOW', '10.0.0.0/33'],
  ['OUTBOUND_ALLOW', 'localhost'],
  ['DEVELOPER_SIGNUP', 'true'],
])('%s=%s is refused', (setting, value) => {
  expect(faults({ [setting]: value })).toMatch(new RegExp(`^Wrong setting: ${setting} `))
})

describe('mail', () => {
  const MAIL_FROM = 'mail@shop.example'
  const SMTP_URL = 'smtp://user%40shop.example:p%3Aw@mail.example:2525'

  test('has a server and a sender, whose name may be left out', () => {
    const named = { MAIL_FROM: 'Garden “Shop” <mail@bücher.example>', SMTP_URL: 'smtps://mail.example/' }
    expect(readConfig({ SMTP_URL, MAIL_FROM })).toMatchObject({
      smtpUrl: SMTP_URL,
      mailFrom: { name: '', address: 'mail@shop.example' },
    })
    expect(readConfig(named)).toMatchObject({
      smtpUrl: 'smtps://mail.example/',
      mailFrom: { name: 'Garden “Shop”', address: 'mail@xn--bcher-kva.example' },
    })
    expect(readConfig({ SMTP_URL, MAIL_FROM: '"Garden, Shop" <mail@shop.example>' }).mailFrom?.name).toBe(
      'Garden, Shop',
    )
  })

  test('needs both settings', () => {
    expect(faults({ SMTP_URL })).toBe('Wrong setting: SMTP_URL is set without MAIL_FROM; allowed: both, or neither')
    expect(faults({ MAIL_FROM })).toBe('Wrong setting: MAIL_FROM is set without SMTP_URL; allowed: both, or neither')
  })

  test.each([
    'mail.example:587',
    'http://mail.example',
    'smtp:mail.example',
    'smtp://user:pass@',
    'smtp://user@mail.example',
    'smtp://:password@mail.example',
    'smtp://user:%zz@mail.example',
    'smtp://user:a%0d%0ab@mail.example',
    'smtp://mail.example/path',
    'smtp://mail.example?pool=true',
    'smtp://mail.example#a',
    'smtp://mail.example:70000',
  ])('SMTP_URL %s is refused, and not repeated', (url) => {
    const message = faults({ SMTP_URL: url, MAIL_FROM })
    expect(message).toMatch(/^Wrong setting: SMTP_URL is not the address of a mail server; allowed: smtp:/)
    expect(message).not.toContain(url)
  })

  test.each([
    'Shop',
    'Shop <mail>',
    'mail@shop.example, other@shop.example',
    'Shop <mail@shop.example> <other@shop.example>',
    'Shop\r\nBcc: x <mail@shop.example>',
    `${'x'.repeat(250)}@shop.example`,
  ])('MAIL_FROM %j is refused', (sender) => {
    expect(faults({ SMTP_URL, MAIL_FROM: sender })).toMatch(/^Wrong setting: MAIL_FROM .* is not a sender; allowed: /)
  })
})

describe('cartAPI', () => {
  test('answers at the path of SOAP_PATH, without a trailing slash', () => {
    expect(readConfig({ SOAP_PATH: '/Legacy/v1.0/~cart_api-1.asmx/' }).soapPath).toBe('/Legacy/v1.0/~cart_api-1.asmx')
  })

  test('has the namespaces of SOAP_NAMESPACES in their order, each as it is written', () => {
    const longest = `urn:${'x'.repeat(251)}`
    const namespaces = ['http://3dcart.com/', 'http://3dcart.com', 'HTTP://3dcart.com', 'urn:a?b=1&c=#d', longest]
    const more = ['urn:6', 'urn:7', 'urn:8', 'urn:9', "urn:10'"]
    expect(readConfig({ SOAP_NAMESPACES: [...namespaces, ...more].join(' , ') }).soapNamespaces).toEqual([
      ...namespaces,
      ...more,
    ])
  })

  test.each([
    [{ SOAP_PATH: '/StoreWebAPI' }, '/StoreWebAPI'],
    [{ SOAP_PATH: '/storewebapi/cart.asmx/' }, '/storewebapi/cart.asmx/'],
    [{ SOAP_PATH: '/b/c/cart.asmx', REST_PREFIXES: '/a, /B/c/' }, '/b/c/cart.asmx'],
    [{ REST_PREFIXES: '/Cart.asmx' }, '/cart.asmx'],
  ])('does not lie below a path of REST_PREFIXES: %o is refused', (settings, path) => {
    const problem = `SOAP_PATH "${path}" lies below a path of REST_PREFIXES; allowed: another path`
    expect(faults(settings)).toBe(`Wrong setting: ${problem}`)
  })

  test.each([
    { SOAP_PATH: '/StoreWebAPI2/cart.asmx' },
    { SOAP_PATH: '/StoreWebAPI', REST_PREFIXES: '/StoreWebAPI/rest' },
    { SOAP_PATH: '/StoreWebAPI', REST_PREFIXES: '/other' },
  ])('may lie beside or above one: %o', (settings) => {
    expect(readConfig(settings).soapPath).toBe(settings.SOAP_PATH)
  })
})

test('what needs a session of its own has the address past the pooler, and without one that of everything', () => {
  expect(readConfig(production).databaseDirectUrl).toBe(production.DATABASE_URL)
  const direct = 'postgresql://store:pass-word-1@primary.internal:5432/store'
  const { databaseUrl, databaseDirectUrl } = readConfig({ ...production, DATABASE_DIRECT_URL: direct })
  expect([databaseUrl, databaseDirectUrl]).toEqual([production.DATABASE_URL, direct])
  expect(faults({ DATABASE_DIRECT_URL: direct })).toBe(
    'Wrong setting: DATABASE_DIRECT_URL is set without DATABASE_URL; allowed: both, or only DATABASE_URL',
  )
})

test('DATABASE_URL needs SECRET_KEY and OPERATOR_KEY', () => {
  const message = faults({ DATABASE_URL: production.DATABASE_URL })
  expect(message).toMatch(/SECRET_KEY is missing/)
  expect(message).toMatch(/OPERATOR_KEY is missing/)
})

test('a further key goes with the one that it stands beside, and is another', () => {
  const next = 'n'.repeat(32)
  expect(
    readConfig({ ...production, SECRET_KEY_NEXT: next, SECRET_KEY_PREVIOUS: `${next}p`, OPERATOR_KEY_PREVIOUS: next }),
  ).toMatchObject({ secretKeyNext: next, secretKeyPrevious: `${next}p`, operatorKeyPrevious: next })
  expect(faults({ SECRET_KEY_NEXT: next })).toMatch('SECRET_KEY_NEXT is set without SECRET_KEY')
  expect(faults({ ...production, SECRET_KEY_PREVIOUS: secretKey })).toMatch('SECRET_KEY_PREVIOUS is the same as')
  expect(faults({ ...production, OPERATOR_KEY_PREVIOUS: operatorKey })).toMatch('OPERATOR_KEY_PREVIOUS is the same as')
})

describe('plain http stays on this machine', () => {
  test.each(['127.0.0.1', '127.8.8.8', '::1', 'localhost'])('HOST %s is accepted', (HOST) => {
    expect(readConfig({ HOST }).host).toBe(HOST)
  })
  test.each(['0.0.0.0', '::', '10.0.0.5', 'shop.example'])('HOST %s is refused', (HOST) => {
    expect(faults({ HOST })).toMatch(/^Wrong setting: HOST .* plain http/)
  })
  test('with an https base address any HOST is accepted', () => {
    expect(readConfig({ ...production, HOST: '0.0.0.0' }).host).toBe('0.0.0.0')
  })
})

describe('TLS', () => {
  const files = (cert: string, key: string) => ({ TLS_CERT_FILE: join(folder, cert), TLS_KEY_FILE: join(folder, key) })

  test('a certificate and its key are read, and make the base address https', () => {
    const config = readConfig(files('one.crt', 'one.key'))
    expect(config.tls?.cert).toMatch(/BEGIN CERTIFICATE/)
    expect(config.publicUrl).toBe('https://localhost:3000')
  })
  test('one file alone is refused', () => {
    expect(faults({ TLS_KEY_FILE: join(folder, 'one.key') })).toMatch(/TLS_CERT_FILE is missing/)
  })
  test("another certificate's key is refused", () => {
    expect(faults(files('one.crt', 'other.key'))).toMatch(/do not go together/)
  })
  test('both files that cannot be read are named', () => {
    expect(faults(files('no.crt', 'no.key'))).toMatch(/TLS_CERT_FILE .*ENOENT[\s\S]*TLS_KEY_FILE .*ENOENT/)
  })
  test('a base address of plain http is refused', () => {
    expect(faults({ ...files('one.crt', 'one.key'), PUBLIC_URL: 'http://localhost:3000' })).toMatch(/PUBLIC_URL/)
  })
  test('HTTP_PORT is a second port', () => {
    const pair = files('one.crt', 'one.key')
    expect(readConfig({ ...pair, HTTP_PORT: '8080' })).toMatchObject({ port: 3000, httpPort: 8080 })
    for (const HTTP_PORT of ['x', '0', '70000'])
      expect(faults({ ...pair, HTTP_PORT })).toMatch(/HTTP_PORT .*1 to 65535/)
    for (const given of [{ HTTP_PORT: '3000' }, { HTTP_PORT: '443', PORT: '443' }]) {
      expect(faults({ ...pair, ...given })).toMatch(/HTTP_PORT .* is the same as PORT; allowed: another port/)
    }
  })
  test('HTTP_PORT without TLS is refused', () => {
    expect(faults({ HTTP_PORT: '8080' })).toMatch(/HTTP_PORT needs TLS_CERT_FILE.*allowed without them: PORT/)
  })
})
