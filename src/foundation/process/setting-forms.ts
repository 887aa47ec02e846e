import { resolve } from 'node:path'
import { z } from 'zod'
import { isAddressBlock } from '../values/address-blocks.ts'
import { asciiEmail, EMAIL_LENGTH_MAX } from '../values/email.ts'

// The forms of settings: each names the value, what is wrong with it, and what is allowed.

/** First segments that the server itself uses: those of its routes, which a test compares. */
export const OWN_ADDRESSES =
  '/.well-known, /account, /admin, /assets, /developers, /docs, /files, /healthz, /llms.txt, /logo, /metrics, /oauth, /openapi.json, /operator, /order, /readyz, /records.xsd'

export const NAMESPACE_LENGTH_MAX = 255

/** The form of an address, for messages. */
export const DATABASE_ADDRESS =
  'postgresql://user:password@host:5432/database, special characters of the password percent-encoded'

export function isDatabaseAddress(text: string): boolean {
  return /^postgres(ql)?:$/.test(URL.parse(text)?.protocol ?? '')
}

export function withoutTrailingSlash(text: string): string {
  return text.replace(/\/+$/, '')
}

/** A setting of one text. Not for secrets: the value stands in the message. */
export function checked(isAllowed: (text: string) => boolean, problem: string, allowed: string) {
  return z.string().refine(isAllowed, { error: shown(problem, allowed) })
}

/** A setting whose messages omit its value. */
export function secret(isAllowed: (text: string) => boolean, error: string) {
  return z.string().refine(isAllowed, { error }).optional()
}

export const databaseUrl = secret(
  isDatabaseAddress,
  `is not the address of a PostgreSQL database; allowed: ${DATABASE_ADDRESS}`,
)

/** The form of SMTP_URL, for messages. */
const MAIL_SERVER =
  'smtp://user:password@host:587 (STARTTLS) or smtps://user:password@host:465 (TLS), special characters of user and password percent-encoded'

/** The address of the mail server. User and password are both given or both left out; the port may be left out. */
export const smtpUrl = secret(isMailServer, `is not the address of a mail server; allowed: ${MAIL_SERVER}`)

function isMailServer(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^smtps?:\/\//i.test(text) || /[\p{Cc}\s]/u.test(text) || url.hostname === '') return false
  const isBare = /^\/?$/.test(url.pathname) && `${url.search}${url.hash}` === ''
  return isBare && (url.username === '') === (url.password === '') && isDecodable(`${url.username}${url.password}`)
}

/** The address of a bucket, with the keys of access as user and password. */
export const s3Url = secret(
  isBucket,
  'is not the address of a bucket; allowed: https://KEY:SECRET@s3.example/bucket?region=eu-central-1, special characters of the keys percent-encoded',
)

function isBucket(text: string): boolean {
  const url = URL.parse(text)
  if (url === null || !/^https?:$/.test(url.protocol) || url.username === '' || url.password === '') return false
  const isBare =
    /^\/[\w.-]+(?:\/[\w.-]+)*\/?$/.test(url.pathname) && /^(?:\?region=[\w-]+)?$/.test(url.search) && url.hash === ''
  return isBare && isDecodable(`${url.username}${url.password}`)
}

function isDecodable(text: string): boolean {
  try {
    return !/\p{Cc}/u.test(decodeURIComponent(text))
  } catch {
    return false
  }
}

const mailAddress = z.email().max(EMAIL_LENGTH_MAX)

/** The sender of mails: an address alone, or a name before it in angle brackets. */
export function sender() {
  const error = shown('is not a sender', 'mail@shop.example or Shop Name <mail@shop.example>')
  return z.string().transform((text, context) => {
    const [, name, address] = /^(?:"?([^"<>\p{Cc}]*?)"?\s*<([^<>]+)>|[^<>]+)$/u.exec(text) ?? []
    const sender = { name: name?.trim() ?? '', address: asciiEmail(address ?? text) }
    if (mailAddress.safeParse(sender.address).success) return Object.freeze(sender)
    context.addIssue({ code: 'custom', message: error({ input: text }) })
    return z.NEVER
  })
}

export const secretKey = secret(
  (text) => text.length >= 32,
  'is too short; allowed: at least 32 characters, such as `openssl rand -hex 32` prints',
)

export const operatorKey = secret(
  (text) => /^[!-~]{16,}$/.test(text),
  'does not do; allowed: at least 16 visible ASCII characters without blanks, such as `openssl rand -hex 32` prints',
)

/** One of these words; ignores case. */
export function oneOf<const Words extends readonly string[]>(words: Words, problem: string) {
  return z
    .string()
    .toLowerCase()
    .pipe(z.enum(words, { error: shown(problem, words.join(', ')) }))
}

export const yesOrNo = z.stringbool({ error: shown('is neither yes nor no', 'true, false') })

/** Removes the password of an address, which may have been put into the wrong setting. */
function shown(problem: string, allowed: string): (issue: { input?: unknown }) => string {
  return ({ input }) => `${JSON.stringify(String(input).replace(/\/\/.*@/, '//…@'))} ${problem}; allowed: ${allowed}`
}

export const addressBlocks = commaList(
  isAddressBlock,
  'is not an IP address or CIDR block',
  'such as 10.0.0.5, 10.1.0.0/16',
)

export function commaList(isAllowed: (item: string) => boolean, problem: string, allowed: string) {
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

export function areDistinct(texts: readonly string[]): boolean {
  return new Set(texts).size === texts.length
}

export function port(min: number) {
  return wholeNumber('is not a port', min, 65_535)
}

export function wholeNumber(problem: string, min: number, max: number) {
  const isAllowed = (text: string) => /^\d{1,6}$/.test(text) && Number(text) >= min && Number(text) <= max
  return checked(isAllowed, problem, `a whole number from ${min} to ${max}`).transform(Number)
}

/** 0: null, which is for ever. */
export const days = wholeNumber('is not a number of days', 0, 36_500).transform((count) => count || null)

/** Its absolute path. */
export const folder = z.string().transform((path) => resolve(path))

export function isBaseAddress(text: string): boolean {
  const url = URL.parse(text)
  // Parsers drop tabs and line breaks silently.
  if (/\p{Cc}/u.test(text)) return false
  return url !== null && /^https?:$/.test(url.protocol) && !`${url.username}${url.password}${url.search}${url.hash}`
}

/** Whether REST_PREFIXES may name it. */
export function isPrefix(text: string): boolean {
  const [, first = ''] = /^(\/[A-Za-z0-9._~-]+)(?:\/[A-Za-z0-9._~-]+)*\/?$/.exec(text) ?? []
  return first !== '' && !OWN_ADDRESSES.split(', ').includes(first.toLowerCase())
}

/** Whether SOAP_NAMESPACES may name it: an absolute URI; envelopes have namespaces of their own. */
export function isNamespace(text: string): boolean {
  const isUri = /^[a-z][a-z0-9+.-]*:[\w:/?#[\]@!$&'()*+;=.~%-]+$/i.test(text)
  return isUri && text.length <= NAMESPACE_LENGTH_MAX && !/^http:\/\/(schemas\.xmlsoap|www\.w3)\.org\//.test(text)
}
