import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { IANAZone } from 'luxon'
import { z } from 'zod'
import { isLoopbackHost } from '../values/loopback.ts'
import {
  addressBlocks,
  areDistinct,
  checked,
  commaList,
  databaseUrl,
  days,
  folder,
  isBaseAddress,
  isNamespace,
  isPrefix,
  NAMESPACE_LENGTH_MAX,
  OWN_ADDRESSES,
  oneOf,
  operatorKey,
  port,
  s3Url,
  secretKey,
  sender,
  smtpUrl,
  wholeNumber,
  withoutTrailingSlash,
  yesOrNo,
} from './setting-forms.ts'
import { StartupError } from './startup-error.ts'

/** What `readConfig` returns: frozen, with every default filled in. */
export type Config = ReturnType<typeof readConfig>

/** What a sandbox may call besides: receivers that are being developed on this machine. */
const LOOPBACK_BLOCKS = ['127.0.0.0/8', '::1/128']

const REST_PREFIX = '/StoreWebAPI'
const SOAP_PATH = '/cart.asmx'
const NAMESPACES_MAX = 10
const DRAIN_SECONDS_MAX = 300

const Settings = z.object({
  HOST: checked(
    (text) => /^[A-Za-z0-9.:%_-]+$/.test(text),
    'is not an address',
    'an IP address or host name of this machine',
  ).default('127.0.0.1'),
  /** 0: any free port, chosen at start. */
  PORT: port(0).default(3000),
  /** Where plain http is listened to beside TLS; null: nowhere. */
  HTTP_PORT: port(1).optional(),
  PUBLIC_URL: checked(
    isBaseAddress,
    'is not a base address',
    'such as https://api.shop.example, without user, query or fragment',
  ).optional(),
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  /** Addresses and CIDR blocks of proxies whose X-Forwarded-* headers count. */
  TRUST_PROXY: addressBlocks.default([]),
  /** The connections of clients that the process has at once, on each port. */
  MAX_CONNECTIONS: wholeNumber('is not a number of connections', 10, 100_000).default(1000),
  /** Null: the embedded database in `dataDir`. */
  DATABASE_URL: databaseUrl,
  /** The same database past a pooler, for what needs a session of its own. */
  DATABASE_DIRECT_URL: databaseUrl,
  /** Where `npm run move` moves the store; the server does not read it. */
  TARGET_DATABASE_URL: databaseUrl,
  /** The most connections for requests. */
  DATABASE_CONNECTIONS: wholeNumber('is not allowed', 4, 100).default(10),
  /** The most connections for deliveries, imports, exports and what is deleted by age. */
  DATABASE_BACKGROUND_CONNECTIONS: wholeNumber('is not allowed', 3, 100).default(4),
  /** Whether connections keep statements prepared, which some poolers do not allow. */
  DATABASE_PREPARED_STATEMENTS: yesOrNo.default(true),
  REPRESENTATION_CACHE_MB: wholeNumber('is not allowed', 0, 65_535).default(32),
  /** Absolute. */
  DATA_DIR: folder.default(() => resolve('.data')),
  /** Where pictures lie, absolute; null: in `dataDir`. */
  FILES_DIR: folder.optional(),
  /** The S3 store in which they lie instead, with the keys of access. */
  S3_URL: s3Url,
  /** Null, only with the embedded database: generated into `dataDir`. */
  SECRET_KEY: secretKey,
  /** Secrets that are stored under these are read too. */
  SECRET_KEY_NEXT: secretKey,
  SECRET_KEY_PREVIOUS: secretKey,
  /** As `secretKey`. */
  OPERATOR_KEY: operatorKey,
  /** Admits the operator too; null: no other key does. */
  OPERATOR_KEY_PREVIOUS: operatorKey,
  SANDBOX: yesOrNo.optional(),
  /** Each begins with a slash and ends without one; the first is canonical. */
  REST_PREFIXES: commaList(isPrefix, 'is not a path to serve', `such as /StoreWebAPI, outside ${OWN_ADDRESSES}`)
    .refine((prefixes) => areDistinct(prefixes.map((prefix) => withoutTrailingSlash(prefix).toLowerCase())), {
      error: 'names a path twice (upper and lower case do not differ)',
    })
    .transform((prefixes) => prefixes.map(withoutTrailingSlash))
    .default([REST_PREFIX]),
  /** Where cartAPI answers; begins with a slash and ends without one. */
  SOAP_PATH: checked(isPrefix, 'is not a path to serve', `such as /cart.asmx, outside ${OWN_ADDRESSES}`)
    .transform(withoutTrailingSlash)
    .default(SOAP_PATH),
  /** Of cartAPI's elements: the first stands in the WSDL, all are accepted. */
  SOAP_NAMESPACES: commaList(
    isNamespace,
    'is not a namespace',
    `such as urn:store-platform:cartAPI or http://shop.example/, of at most ${NAMESPACE_LENGTH_MAX} characters`,
  )
    .refine((namespaces) => namespaces.length <= NAMESPACES_MAX && areDistinct(namespaces), {
      error: `names a namespace twice, or more than ${NAMESPACES_MAX}`,
    })
    .default(['urn:store-platform:cartAPI']),
  /** IANA name: the zone of a new store that names none. */
  TIME_ZONE: checked(
    (name) => /^[A-Za-z]/.test(name) && IANAZone.isValidZone(name),
    'is not a time zone',
    'an IANA name, such as America/New_York',
  ).default('America/New_York'),
  /** Addresses and CIDR blocks that outbound requests may reach though they are not public. */
  OUTBOUND_ALLOW: addressBlocks.optional(),
  /** The mail server, with its user and password if it has them. Null: no mail can be sent. */
  SMTP_URL: smtpUrl,
  /** The sender of mails, its name empty where there is none; null exactly where `smtpUrl` is. */
  MAIL_FROM: sender().optional(),
  /** Domains of which mails to a store's customers may come, where the store has proved an address; in lower case. */
  MAIL_FROM_DOMAINS: commaList(
    (domain) => /^(?=.{1,253}$)([a-z\d-]+\.)+[a-z\d-]+$/i.test(domain),
    'is not a domain',
    'such as shop.example, as its records of SPF and DKIM allow it',
  )
    .transform((domains) => domains.map((domain) => domain.toLowerCase()))
    .default([]),
  /** Whether anyone may open a developer account, or only the operator. */
  DEVELOPER_SIGNUP: oneOf(['open', 'closed'], 'is neither open nor closed').optional(),
  /** How long after an order was placed its page opens for whoever has the address; 0: there are none. */
  ORDER_PAGE_DAYS: wholeNumber('is not a number of days', 0, 3_650).default(90),
  /** How long the history of records is kept; null: for ever. */
  HISTORY_DAYS: days.default(730),
  /** How long stock movements are kept, before they are archived and carried forward; null: for ever. */
  LEDGER_DAYS: days.default(null),
  /** How long entries of the audit log are kept, before they are archived; null: for ever. */
  AUDIT_DAYS: days.default(null),
  /** Where they are archived, absolute; null: neither is deleted. */
  ARCHIVE_DIR: folder.optional(),
  /** Where the server keeps backups that it makes by itself, absolute; null: it makes none. */
  BACKUP_DIR: folder.optional(),
  /** The age at which the newest backup is followed by another. */
  BACKUP_HOURS: wholeNumber('is not a number of hours', 1, 8_760).default(24),
  /** How many of them stay. */
  BACKUP_KEEP: wholeNumber('is not a number of backups', 1, 10_000).default(7),
  /** The time between a signal to stop and the end of the listener, while `/readyz` answers 503. */
  DRAIN_SECONDS: wholeNumber('is not a time to drain', 0, DRAIN_SECONDS_MAX).default(0),
  LOG_LEVEL: oneOf(['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'], 'is not a level').default('info'),
})

export const settingNames: readonly string[] = Object.keys(Settings.shape)

/**
 * Checks the environment once; whatever is wrong is reported together, one line per fault, as a StartupError.
 * A setting that is empty counts as not given.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>) {
  const given: Given = Object.fromEntries(
    settingNames.flatMap((name) => {
      const value = environment[name]?.trim()
      return value ? [[name, value]] : []
    }),
  )
  const parsed = Settings.safeParse(given)
  const faults = (parsed.error?.issues ?? []).map((issue) => `${String(issue.path[0])} ${issue.message}`)
  const tls = readTls(given, faults)
  faults.push(...faultsBetween(given))
  if (given.FILES_DIR && given.S3_URL) faults.push('FILES_DIR is set beside S3_URL; allowed: one of them, or neither')
  if (!parsed.success || faults.length > 0) throw wrongSettings(faults)
  return configOf(named(parsed.data), publicUrlOf(given), tls)
}

function configOf(settings: NamedSettings, publicUrl: string, tls: Tls | null) {
  const { tlsCertFile: _cert, tlsKeyFile: _key, databaseUrl, ...others } = settings
  const sandbox = others.sandbox ?? databaseUrl === null
  const config = {
    ...others,
    /** Base of all addresses that are handed out, without a trailing slash. */
    publicUrl: withoutTrailingSlash(publicUrl),
    /** Certificate and key in PEM form. Null: plain http, behind a proxy or only on this machine. */
    tls,
    databaseUrl,
    databaseDirectUrl: others.databaseDirectUrl ?? databaseUrl,
    sandbox,
    outboundAllow: others.outboundAllow ?? (sandbox ? LOOPBACK_BLOCKS : []),
    developerSignup: others.developerSignup ?? (sandbox ? 'open' : 'closed'),
  }
  for (const value of Object.values(config)) Object.freeze(value)
  return Object.freeze(config)
}

/** `HTTP_PORT` → `httpPort` */
type CamelCase<Name extends string> = Name extends `${infer First}_${infer Rest}`
  ? `${Lowercase<First>}${Capitalize<CamelCase<Rest>>}`
  : Lowercase<Name>

/** The settings as the program names them; null: not given. */
type NamedSettings = {
  readonly [Name in keyof typeof Settings.shape as CamelCase<Name>]: OrNull<z.output<typeof Settings>[Name]>
}
type OrNull<T> = undefined extends T ? Readonly<Exclude<T, undefined>> | null : Readonly<T>

function named(settings: z.output<typeof Settings>): NamedSettings {
  const camelCase = (name: string) => name.toLowerCase().replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase())
  const entries = settingNames.map((name) => [camelCase(name), settings[name as keyof typeof settings] ?? null])
  return Object.fromEntries(entries) as NamedSettings
}

type Given = Partial<Record<keyof typeof Settings.shape, string>>

function wrongSettings(faults: readonly string[]): StartupError {
  const [first, ...others] = new Set(faults)
  if (others.length === 0) return new StartupError(`Wrong setting: ${first}`)
  const lines = [first, ...others].map((fault) => `  ${fault}`)
  return new StartupError(`Wrong settings; correct these environment variables and start again:\n${lines.join('\n')}`)
}

interface Tls {
  readonly cert: string
  readonly key: string
}

/** The pair, when both files are given and fit; each fault is added to `faults`. */
function readTls(given: Given, faults: string[]): Tls | null {
  if (!hasTls(given)) return null
  const cert = readPem('TLS_CERT_FILE', given, faults)
  const key = readPem('TLS_KEY_FILE', given, faults)
  if (cert === null || key === null) return null
  try {
    createSecureContext({ cert, key })
  } catch (error) {
    const reason = (error as Error).message
    faults.push(
      `TLS_CERT_FILE and TLS_KEY_FILE do not go together (${reason}); allowed: a certificate and its key as PEM`,
    )
  }
  return Object.freeze({ cert, key })
}

function readPem(setting: 'TLS_CERT_FILE' | 'TLS_KEY_FILE', given: Given, faults: string[]): string | null {
  const file = given[setting]
  try {
    if (file !== undefined) return readFileSync(file, 'utf8')
    faults.push(`${setting} is missing; allowed: both TLS_CERT_FILE and TLS_KEY_FILE, or neither`)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    faults.push(
      `${setting} ${JSON.stringify(file)} cannot be read (${code}); allowed: a PEM file that the server may read`,
    )
  }
  return null
}

/** What single settings cannot tell. Silent about values that are faults by themselves. */
function faultsBetween(given: Given): string[] {
  const faults: string[] = []
  if (given.DATABASE_URL && !given.SECRET_KEY) {
    faults.push('SECRET_KEY is missing; it is required with DATABASE_URL, and must stay the same for that database')
  }
  if (given.DATABASE_URL && !given.OPERATOR_KEY) {
    faults.push('OPERATOR_KEY is missing; it is required with DATABASE_URL')
  }
  if (given.DATABASE_DIRECT_URL && !given.DATABASE_URL) {
    faults.push('DATABASE_DIRECT_URL is set without DATABASE_URL; allowed: both, or only DATABASE_URL')
  }
  if (Boolean(given.SMTP_URL) !== Boolean(given.MAIL_FROM)) {
    const [is, other] = given.SMTP_URL ? ['SMTP_URL', 'MAIL_FROM'] : ['MAIL_FROM', 'SMTP_URL']
    faults.push(`${is} is set without ${other}; allowed: both, or neither`)
  }
  faults.push(...faultsBetweenKeys(given))
  const archived = (['LEDGER_DAYS', 'AUDIT_DAYS'] as const).filter((name) => Number(given[name] ?? 0) > 0)
  if (archived.length > 0 && !given.ARCHIVE_DIR) {
    faults.push(
      `ARCHIVE_DIR is missing; it is required with ${archived.join(' and ')}, which delete only what is archived`,
    )
  }
  if (given.HTTP_PORT && !hasTls(given)) {
    faults.push(
      'HTTP_PORT needs TLS_CERT_FILE and TLS_KEY_FILE; allowed without them: PORT, which then speaks plain http',
    )
  }
  if (given.HTTP_PORT && Number(given.HTTP_PORT) === Number(given.PORT ?? 3000)) {
    faults.push(`HTTP_PORT ${JSON.stringify(given.HTTP_PORT)} is the same as PORT; allowed: another port`)
  }
  const soapPath = given.SOAP_PATH ?? SOAP_PATH
  for (const prefix of (given.REST_PREFIXES ?? REST_PREFIX).split(',')) {
    const served = withoutTrailingSlash(prefix.trim()).toLowerCase()
    if (served !== '' && `${soapPath.toLowerCase()}/`.startsWith(`${served}/`)) {
      faults.push(`SOAP_PATH ${JSON.stringify(soapPath)} lies below a path of REST_PREFIXES; allowed: another path`)
    }
  }
  const publicUrl = publicUrlOf(given)
  if (isBaseAddress(publicUrl) && new URL(publicUrl).protocol === 'http:') {
    const host = given.HOST ?? '127.0.0.1'
    if (hasTls(given)) {
      faults.push(`PUBLIC_URL ${JSON.stringify(publicUrl)} does not fit TLS_CERT_FILE; allowed: an https address`)
    } else if (!isLoopbackHost(host)) {
      faults.push(
        `HOST ${JSON.stringify(host)} is reachable from other machines while PUBLIC_URL is plain http; allowed: HOST 127.0.0.1, ::1 or localhost, or a PUBLIC_URL that begins with https://`,
      )
    }
  }
  return faults
}

const keyPairs = [
  ['SECRET_KEY_NEXT', 'SECRET_KEY'],
  ['SECRET_KEY_PREVIOUS', 'SECRET_KEY'],
  ['OPERATOR_KEY_PREVIOUS', 'OPERATOR_KEY'],
] as const

function faultsBetweenKeys(given: Given): string[] {
  return keyPairs.flatMap(([other, name]) => {
    if (!given[other]) return []
    if (!given[name]) return [`${other} is set without ${name}; allowed: both, or only ${name}`]
    return given[other] === given[name] ? [`${other} is the same as ${name}; allowed: another key, or none`] : []
  })
}

function hasTls(given: Given): boolean {
  return Boolean(given.TLS_CERT_FILE ?? given.TLS_KEY_FILE)
}

function publicUrlOf(given: Given): string {
  return given.PUBLIC_URL ?? `${hasTls(given) ? 'https' : 'http'}://localhost:${given.PORT ?? 3000}`
}
