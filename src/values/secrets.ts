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

/** Both stored forms of a secret that its owner must be able to see again: design.md, "Secrets". */
export interface Secrets {
  /** HMAC-SHA-256, 64 hexadecimal characters: the same text always gives the same, so an index finds it. */
  lookup(text: string): string
  /** AES-256-GCM, `v1.` and base64url: another text each time; `open` gives the original back. */
  seal(text: string): string
  /** Throws when `sealed` was altered, or sealed under another secret key. */
  open(sealed: string): string
  /** 32 bytes that the secret key alone leads to; always the same for one purpose, and of no use for finding another's. */
  derive(purpose: string): Buffer
}

const VERSION = 'v1'
const IV_BYTES = 12
const TAG_BYTES = 16

/** Lookup and sealing use keys of their own, derived from `secretKey` by HKDF, so that neither tells anything of the other. */
export function createSecrets(secretKey: string): Secrets {
  if (secretKey === '') throw new Error('The secret key is empty')
  const lookupKey = keyFor(secretKey, 'store-platform lookup v1')
  const sealKey = keyFor(secretKey, 'store-platform seal v1')
  return {
    lookup: (text) => createHmac('sha256', lookupKey).update(text).digest('hex'),
    seal: (text) => seal(sealKey, text),
    open: (sealed) => open(sealKey, sealed),
    derive: (purpose) => derive(secretKey, `store-platform derived v1 ${purpose}`),
  }
}

/** A KeyObject, since setting up an HMAC with bytes takes seven times as long, and every call of the API needs one. */
function keyFor(secretKey: string, purpose: string): KeyObject {
  return createSecretKey(derive(secretKey, purpose))
}

function derive(secretKey: string, purpose: string): Buffer {
  return Buffer.from(hkdfSync('sha256', secretKey, '', purpose, 32))
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

/** A new private or public key, token or user key: 32 lower-case hexadecimal characters (rest-protocol 2), 128 bits at random. */
export function generateKey(): string {
  return randomBytes(16).toString('hex')
}

/** Whether two secrets are the same text, in a time that depends on neither. */
export function sameSecret(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other))
}

function digest(text: string): Buffer {
  return createHash('sha256').update(text).digest()
}
