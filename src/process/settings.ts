import { readFileSync } from 'node:fs'
import { resolve } from 'node:path'
import { createSecureContext } from 'node:tls'
import { IANAZone } from 'luxon'
import { z } from 'zod'
import { isAddressBlock } from '../values/address-blocks.ts'
import { isLoopbackHost } from '../values/loopback.ts'
import { StartupError } from './startup-error.ts'

/** Both in PEM form. */
export interface TlsFiles {
  readonly cert: string
  readonly key: string
}

export interface Config {
  readonly host: string
  /** 0: any free port, chosen at start. */
  readonly port: number
  /** Where plain http is listened to beside TLS; null: nowhere. */
  readonly httpPort: number | null
  /** Base of all addresses that are handed out, without a trailing slash. */
  readonly publicUrl: string
  /** Null: plain http, behind a proxy or on this machine alone. */
  readonly tls: TlsFiles | null
  /** Addresses and CIDR blocks of proxies whose X-Forwarded-* headers count. */
  readonly trustProxy: readonly string[]
  /** Null: the embedded database in `dataDir`. */
  readonly databaseUrl: string | null
  /** Absolute. */
  readonly dataDir: string
  /** Null, with the embedded database alone: generated into `dataDir`. */
  readonly secretKey: string | null
  /** Null, with the embedded database alone: generated into `dataDir`. */
  readonly operatorKey: string | null
  readonly sandbox: boolean
  /** Each begins with a slash and ends without one; the first is canonical. */
  readonly restPrefixes: readonly string[]
  /** Where cartAPI answers; begins with a slash and ends without one. */
  readonly soapPath: string
  /** Of cartAPI's elements: the first stands in the WSDL, all are accepted. */
  readonly soapNamespaces: readonly string[]
  /** IANA name: the zone of a new store that names none. */
  readonly timeZone: string
  /** Addresses and CIDR blocks that outbound requests may reach though they are not public. */
  readonly outboundAllow: readonly string[]
  /** Whether anyone may open a developer account, or the operator alone. */
  readonly developerSignup: 'open' | 'closed'
  readonly logLevel: string
}

const SECRET_KEY_LENGTH_MIN = 32
const OPERATOR_KEY_LENGTH_MIN = 16

/** First segments that the server itself uses. */
const OWN_ADDRESSES = [
  '.well-known',
  'account',
  'admin',
  'assets',
  'developers',
  'docs',
  'healthz',
  'metrics',
  'oauth',
  'openapi.json',
  'readyz',
] as const

/** What a sandbox may call besides: receivers that are being developed on this machine. */
const LOOPBACK_BLOCKS = ['127.0.0.0/8', '::1/128']

const REST_PREFIX = '/StoreWebAPI'
const SOAP_PATH = '/cart.asmx'
const NAMESPACE_LENGTH_MAX = 255
const NAMESPACES_MAX = 10

const LOG_LEVELS = ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'] as const

/** Faults of the keys are told without their values, which are secret. */
const Settings = z.object({
  HOST: z
    .string()
    .regex(/^[A-Za-z0-9.:%_-]+$/, { error: shown('is not an address', 'an IP address or host name of this machine') })
    .default('127.0.0.1'),
  PORT: z
    .string()
    .refine(isPort, { error: shown('is not a port', 'a whole number from 0 to 65535') })
    .default('3000'),
  HTTP_PORT: z
    .string()
    .refine((text) => isPort(text) && Number(text) > 0, {
      error: shown('is not a port', 'a whole number from 1 to 65535'),
    })
    .optional(),
  PUBLIC_URL: z
    .string()
    .refine(isBaseAddress, {
      error: shown('is not a base address', 'such as https://api.shop.example, without user, query or fragment'),
    })
    .optional(),
  TLS_CERT_FILE: z.string().optional(),
  TLS_KEY_FILE: z.string().optional(),
  TRUST_PROXY: addressBlocks().optional(),
  DATABASE_URL: z
    .string()
    .refine(isDatabaseAddress, {
      error:
        'is not the address of a PostgreSQL database; allowed: postgresql://user:password@host:5432/database, special characters of the password percent-encoded',
    })
    .optional(),
  DATA_DIR: z.string().default('.data'),
  SECRET_KEY: z
    .string()
    .min(SECRET_KEY_LENGTH_MIN, {
      error: `is too short; allowed: at least ${SECRET_KEY_LENGTH_MIN} characters, such as \`openssl rand -hex 32\` prints`,
    })
    .optional(),
  OPERATOR_KEY: z
    .string()
    .regex(new RegExp(`^[!-~]{${OPERATOR_KEY_LENGTH_MIN},}$`), {
      error: `does not do; allowed: at least ${OPERATOR_KEY_LENGTH_MIN} visible ASCII characters without blanks, such as \`openssl rand -hex 32\` prints`,
    })
    .optional(),
  SANDBOX: z.stringbool({ error: shown('is neither yes nor no', 'true, false') }).optional(),
  REST_PREFIXES: commaList(
    isPrefix,
    'is not a path to serve',
    `such as /StoreWebAPI, outside ${OWN_ADDRESSES.map((name) => `/${name}`).join(', ')}`,
  )
    .refine(
      (prefixes) =>
        new Set(prefixes.map((prefix) => withoutTrailingSlash(prefix).toLowerCase())).size === prefixes.length,
      {
        error: 'names a path twice (upper and lower case do not differ)',
      },
    )
    .default([REST_PREFIX]),
  SOAP_PATH: z
    .string()
    .refine(isPrefix, {
      error: shown(
        'is not a path to serve',
        `such as /cart.asmx, outside ${OWN_ADDRESSES.map((name) => `/${name}`).join(', ')}`,
      ),
    })
    .default(SOAP_PATH),
  SOAP_NAMESPACES: commaList(
    isNamespace,
    'is not a namespace',
    `such as urn:store-platform:cartAPI or http://shop.example/, of at most ${NAMESPACE_LENGTH_MAX} characters`,
  )
    .refine((namespaces) => namespaces.length <= NAMESPACES_MAX && new Set(namespaces).size === namespaces.length, {
      error: `names a namespace twice, or more than ${NAMESPACES_MAX}`,
    })
    .default(['urn:store-platform:cartAPI']),
  TIME_ZONE: z
    .string()
    .refine((name) => /^[A-Za-z]/.test(name) && IANAZone.isValidZone(name), {
      error: shown('is not a time zone', 'an IANA name, such as America/New_York'),
    })
    .default('America/New_York'),
  OUTBOUND_ALLOW: addressBlocks().optional(),
  DEVELOPER_SIGNUP: z
    .string()
    .toLowerCase()
    .pipe(z.enum(['open', 'closed'], { error: shown('is neither open nor closed', 'open, closed') }))
    .optional(),
  LOG_LEVEL: z
    .string()
    .toLowerCase()
    .pipe(z.enum(LOG_LEVELS, { error: shown('is not a level', LOG_LEVELS.join(', ')) }))
    .default('info'),
})

export const settingNames: readonly string[] = Object.keys(Settings.shape)

/**
 * Checks the environment once; whatever is wrong is reported together, one line per fault, as a StartupError.
 * A setting that is empty counts as not given.
 */
export function readConfig(environment: Readonly<Record<string, string | undefined>>): Config {
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
  if (!parsed.success || faults.length > 0) throw wrongSettings(faults)
  const settings = parsed.data
  const sandbox = settings.SANDBOX ?? settings.DATABASE_URL === undefined
  return Object.freeze({
    host: settings.HOST,
    port: Number(settings.PORT),
    httpPort: settings.HTTP_PORT === undefined ? null : Number(settings.HTTP_PORT),
    publicUrl: withoutTrailingSlash(publicUrlOf(given)),
    tls,
    trustProxy: Object.freeze(settings.TRUST_PROXY ?? []),
    databaseUrl: settings.DATABASE_URL ?? null,
    dataDir: resolve(settings.DATA_DIR),
    secretKey: settings.SECRET_KEY ?? null,
    operatorKey: settings.OPERATOR_KEY ?? null,
    sandbox,
    restPrefixes: Object.freeze(settings.REST_PREFIXES.map(withoutTrailingSlash)),
    soapPath: withoutTrailingSlash(settings.SOAP_PATH),
    soapNamespaces: Object.freeze(settings.SOAP_NAMESPACES),
    timeZone: settings.TIME_ZONE,
    outboundAllow: Object.freeze(settings.OUTBOUND_ALLOW ?? (sandbox ? LOOPBACK_BLOCKS : [])),
    developerSignup: settings.DEVELOPER_SIGNUP ?? (sandbox ? 'open' : 'closed'),
    logLevel: settings.LOG_LEVEL,
  })
}

type Given = Partial<Record<keyof typeof Settings.shape, string>>

function wrongSettings(faults: readonly string[]): StartupError {
  const [first, ...others] = new Set(faults)
  if (others.length === 0) return new StartupError(`Wrong setting: ${first}`)
  const lines = [first, ...others].map((fault) => `  ${fault}`)
  return new StartupError(`Wrong settings; correct these environment variables and start again:\n${lines.join('\n')}`)
}

/** The pair, when both files are given and fit; each fault is added to `faults`. */
function readTls({ TLS_CERT_FILE: certFile, TLS_KEY_FILE: keyFile }: Given, faults: string[]): TlsFiles | null {
  if (!certFile && !keyFile) return null
  const cert = readPem('TLS_CERT_FILE', certFile, faults)
  const key = readPem('TLS_KEY_FILE', keyFile, faults)
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

function readPem(setting: string, file: string | undefined, faults: string[]): string | null {
  if (file === undefined) {
    faults.push(`${setting} is missing; allowed: both TLS_CERT_FILE and TLS_KEY_FILE, or neither`)
    return null
  }
  try {
    return readFileSync(file, 'utf8')
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    faults.push(
      `${setting} ${JSON.stringify(file)} cannot be read (${code}); allowed: a PEM file that the server may read`,
    )
    return null
  }
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
  if (given.HTTP_PORT && !given.TLS_CERT_FILE && !given.TLS_KEY_FILE) {
    faults.push(
      'HTTP_PORT goes with TLS_CERT_FILE and TLS_KEY_FILE; allowed without them: PORT, which is plain http then',
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
    if (given.TLS_CERT_FILE || given.TLS_KEY_FILE) {
      faults.push(`PUBLIC_URL ${JSON.stringify(publicUrl)} does not fit TLS_CERT_FILE; allowed: an https address`)
    } else if (!isLoopbackHost(host)) {
      faults.push(
        `HOST ${JSON.stringify(host)} is reachable from other machines while PUBLIC_URL is plain http; allowed: HOST 127.0.0.1, ::1 or localhost, or a PUBLIC_URL that begins with https://`,
      )
    }
  }
  return faults
}

function publicUrlOf(given: Given): string {
  const scheme = given.TLS_CERT_FILE || given.TLS_KEY_FILE ? 'https' : 'http'
  return given.PUBLIC_URL ?? `${scheme}://localhost:${given.PORT ?? 3000}`
}

function withoutTrailingSlash(text: string): string {
  return text.replace(/\/+$/, '')
}

/** Not for secrets: the value stands in the message. */
function shown(problem: string, allowed: string): (issue: { input?: unknown }) => string {
  return ({ input }) => `${JSON.stringify(withoutPassword(String(input)))} ${problem}; allowed: ${allowed}`
}

/** An address with credentials may have been put into the wrong setting. */
function withoutPassword(text: string): string {
  return text.replace(/\/\/.*@/, '//…@')
}

function addressBlocks() {
  return commaList(isAddressBlock, 'is not an IP address or CIDR block', 'such as 10.0.0.5, 10.1.0.0/16')
}

function commaList(isAllowed: (item: string) => boolean, problem: string, allowed: string) {
  return z
    .string()
    .transform((text) => text.split(',').flatMap((item) => item.trim() || []))
    .superRefine((items, context) => {
      const wrong = items.length > 0 ? items.filter((item) => !isAllowed(item)) : ['']
      for (const item of wrong) {
        context.addIssue({ code: 'custom', message: shown(problem, `a comma list, ${allowed}`)({ input: item }) })
      }
    })
}

function isPort(text: string): boolean {
  return /^\d{1,5}$/.test(text) && Number(text) <= 65_535
}

function isBaseAddress(text: string): boolean {
  const url = URL.parse(text)
  return url !== null && /^https?:$/.test(url.protocol) && !`${url.username}${url.password}${url.search}${url.hash}`
}

function isDatabaseAddress(text: string): boolean {
  return /^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? '')
}

function isPrefix(text: string): boolean {
  if (!/^(\/[A-Za-z0-9._~-]+)+\/?$/.test(text)) return false
  const first = text.split('/')[1]?.toLowerCase()
  return !OWN_ADDRESSES.some((name) => name === first)
}

/** An absolute URI; envelopes have namespaces of their own. */
function isNamespace(text: string): boolean {
  const isUri = /^[a-z][a-z0-9+.-]*:[\w:/?#[\]@!$&'()*+;=.~%-]+$/i.test(text)
  return isUri && text.length <= NAMESPACE_LENGTH_MAX && !/^http:\/\/(schemas\.xmlsoap|www\.w3)\.org\//.test(text)
}
