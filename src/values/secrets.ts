import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createHmac,
  createSecretKey,
  hkdfSync,
  type KeyObject,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto'

/** Both stored forms of a secret that its owner must be able to see again. */
export type Secrets = ReturnType<typeof createSecrets>

const VERSION = 'v1'
const IV_BYTES = 12
const TAG_BYTES = 16

/** Derives separate keys for lookup and sealing from `secretKey` by HKDF, so that neither reveals the other. */
export function createSecrets(secretKey: string) {
  if (secretKey === '') throw new Error('The secret key is empty')
  const derive = (purpose: string) => Buffer.from(hkdfSync('sha256', secretKey, '', `store-platform ${purpose}`, 32))
  // A KeyObject, because every session and every caller who is not cached needs an HMAC, and creating one from bytes takes seven times as long.
  const lookupKey = createSecretKey(derive('lookup v1'))
  const sealKey = createSecretKey(derive('seal v1'))
  return {
    /** HMAC-SHA-256 as 64 hexadecimal characters: deterministic, so an index finds it. */
    lookup: (text: string) => createHmac('sha256', lookupKey).update(text).digest('hex'),
    /** AES-256-GCM as `v1.` and base64url: a different text each time. */
    seal: (text: string) => seal(sealKey, text),
    /** Reverses `seal`. Throws when `sealed` was altered, or sealed under another secret key. */
    open: (sealed: string) => open(sealKey, sealed),
    /** 32 bytes derived from the secret key: the same for one purpose, and independent of other purposes. */
    derive: (purpose: string) => derive(`derived v1 ${purpose}`),
  }
}

function seal(key: KeyObject, text: string): string {
  const iv = randomBytes(IV_BYTES)
  const cipher = createCipheriv('aes-256-gcm', key, iv, { authTagLength: TAG_BYTES })
  const parts = [iv, cipher.update(text, 'utf8'), cipher.final(), cipher.getAuthTag()]
  return `${VERSION}.${Buffer.concat(parts).toString('base64url')}`
}

function open(key: KeyObject, sealed: string): string {
  const [version, encoded] = sealed.split('.')
  const bytes = Buffer.from(encoded ?? '', 'base64url')
  if (version !== VERSION || bytes.length < IV_BYTES + TAG_BYTES) throw new Error('Not a sealed secret')
  const decipher = createDecipheriv('aes-256-gcm', key, bytes.subarray(0, IV_BYTES), { authTagLength: TAG_BYTES })
  decipher.setAuthTag(bytes.subarray(-TAG_BYTES))
  try {
    return decipher.update(bytes.subarray(IV_BYTES, -TAG_BYTES), undefined, 'utf8') + decipher.final('utf8')
  } catch (error) {
    throw new Error('A stored secret cannot be opened: SECRET_KEY is not the one it was sealed under', { cause: error })
  }
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
