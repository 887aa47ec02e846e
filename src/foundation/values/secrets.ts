import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** Both stored forms of a secret that its owner must be able to see again. */
export type Secrets = ReturnType<typeof createSecrets>

/** The version that names no key: values of early versions, all of one key. */
const UNNAMED = 'v1'
const VERSION = 'v2'
const IV_BYTES = 12
const TAG_BYTES = 16

/**
 * Stores everything under `secretKey`, and reads what is stored under it or one of `others`, so that a key can be replaced
 * while processes run (docs/operations.md).
 */
export function createSecrets(secretKey: string, others: readonly string[] = []) {
  if ([secretKey, ...others].includes('')) throw new Error('The secret key is empty')
  const current = keyOf(secretKey)
  const keys = [current, ...others.map(keyOf)]
  return {
    /** Names `secretKey` without revealing it: 8 hexadecimal characters. */
    keyId: current.id,
    /** The names of all keys, the current one first. */
    keyIds: keys.map(({ id }) => id),
    /** HMAC-SHA-256 as 64 hexadecimal characters: deterministic, so an index finds it. */
    lookup: (text: string) => lookup(current, text),
    /** Under each key, the current one first: what is stored may still be any of them. */
    lookups: (text: string) => keys.map((key) => lookup(key, text)),
    /** AES-256-GCM as `v2.`, the name of the key, and base64url: a different text each time. */
    seal: (text: string) => seal(current, text),
    /** Reverses `seal`. Throws when `sealed` was altered, or sealed under another secret key. */
    open: (sealed: string) => open(keys, sealed).text,
    /** 32 bytes derived from each secret key: the same for one purpose, and independent of other purposes. */
    derivations: (purpose: string) => keys.map(({ derive }) => derive(purpose)) as [Buffer, ...Buffer[]],
    /** As `derivations`, of the key that `sealed` was sealed under. */
    derivedBeside: (sealed: string, purpose: string) => open(keys, sealed).key.derive(purpose),
  }
}

type Key = ReturnType<typeof keyOf>

/** Derives separate keys for each use from `secretKey` by HKDF, so that none reveals another. */
function keyOf(secretKey: string) {
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, '', `store-platform ${purpose}`, 32))
  return {
    id: derive('id v1').toString('hex', 0, 4),
    // A KeyObject, because every session and every caller who is not cached needs an HMAC, and creating one from bytes takes seven times as long.
    lookupKey: createSecretKey(derive('lookup v1')),
    sealKey: createSecretKey(derive('seal v1')),
    derive: (purpose: string) => derive(`derived v1 ${purpose}`),
  }
}

function lookup({ lookupKey }: Key, text: string): string {
  return createHmac('sha256', lookupKey).update(text).digest('hex')
}

/** How everything begins that is sealed under the key of this name. */
export function sealedBy(keyId: string): string {
  return `${VERSION}.${keyId}.`
}

function seal({ id, sealKey }: Key, text: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', sealKey, iv, { authTagLength: TAG_BYTES })
  const parts = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return sealedBy(id) + Buffer.concat(parts).toString('base64url')
}

function open(keys: readonly Key[], sealed: string): { text: string; key: Key } {
  const encoded = sealed.split('.')
  const bytes = Buffer.from(encoded.pop() ?? '', 'base64url')
  const [version, id] = encoded
  const isNamed = version === VERSION && id !== undefined && encoded.length === 2
  const isUnnamed = version === UNNAMED && encoded.length === 1
  if (!(isNamed || isUnnamed) || bytes.length < IV_BYTES + TAG_BYTES) throw new Error('Not a sealed secret')
  let cause: unknown
  for (const key of keys) {
    if (isNamed && key.id !== id) continue
    try {
      return { text: decipher(key, bytes), key }
    } catch (error) {
      cause = error
    }
  }
  throw new Error('A stored secret cannot be opened: SECRET_KEY is not the one it was sealed under', { cause })
}

function decipher({ sealKey }: Key, bytes: Buffer): string {
  const decipher = createDecipheriv('aes-256-gcm', sealKey, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
}

/** Generates a private or public key, token or user key: 128 random bits as 32 lower-case hexadecimal characters (rest-protocol §2). */
export function generateKey(): string {
  return randomBytes(16).toString('hex')
}

/** Compares two secrets in constant time. */
export function sameSecret(one: string, other: string): boolean {
  const digest = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(digest(one), digest(other))
}

/** Whether a secret is one of several, in a time that does not depend on which. */
export function isOneOf(secret: string, others: readonly string[]): boolean {
  return others.map((other) => sameSecret(secret, other)).includes(true)
}

/** In a time that does not depend on the key. */
export function isOperatorKey(
  { operatorKey, previousOperatorKey }: { operatorKey: string; previousOperatorKey?: string | null },
  key: string,
): boolean {
  return isOneOf(key, [operatorKey, previousOperatorKey ?? operatorKey])
}
