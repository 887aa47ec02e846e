import { randomBytes } from 'node:crypto'
import { constants } from 'node:fs'
import { access, mkdir, open, readFile, rename, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import type { Config } from './settings.ts'
import { StartupError } from './startup-error.ts'

// The data folder and the files in it that only their owner may read: keys.json and sandbox.json.

const KeysFile = z.object({
  secretKey: z.string().min(32),
  /** While secrets are taken over to `secretKey` (`npm run rotate-secret-key`). */
  previousSecretKey: z.string().min(32).optional(),
  operatorKey: z.string().min(16),
})
type KeysFile = Readonly<z.infer<typeof KeysFile>>

/** The keys of this installation. */
export interface Keys {
  readonly secretKey: string
  readonly otherSecretKeys: readonly string[]
  readonly operatorKey: string
}

const text = z.string()
/** The shape that scripts rely on (contract §10.2). */
const SandboxFile = z.object({
  baseUrl: text,
  operatorKey: text,
  store: z.object({ id: z.number(), secureUrl: text, email: text, password: text, userKey: text }),
  developer: z.object({ email: text, password: text }),
  application: z.object({ publicKey: text, privateKey: text, token: text }),
})
export type SandboxFile = z.infer<typeof SandboxFile>

/**
 * Returns the keys of this installation. A key that is not given comes from `keys.json`, or is generated if the file
 * does not exist. `keep` writes generated keys there; call it before anything is stored under them. A damaged file is
 * never replaced, because a new secret key would make every stored secret unreadable.
 */
export async function installationKeys(config: KeySettings): Promise<{ keys: Keys; keep: () => Promise<void> }> {
  const { dataDir, secretKey, secretKeyNext, secretKeyPrevious, operatorKey } = config
  const otherSecretKeys = [secretKeyNext ?? [], secretKeyPrevious ?? []].flat()
  if (secretKey !== null && operatorKey !== null) {
    return { keys: { secretKey, otherSecretKeys, operatorKey }, keep: async () => {} }
  }
  const stored = await readKeys(dataDir)
  const own: KeysFile = stored ?? { secretKey: newSecretKey(), operatorKey: randomBytes(24).toString('hex') }
  const ofFile = { secretKey: own.secretKey, otherSecretKeys: [own.previousSecretKey ?? []].flat() }
  const given = secretKey === null ? ofFile : { secretKey, otherSecretKeys }
  return {
    keys: { ...given, operatorKey: operatorKey ?? own.operatorKey },
    keep: async () => {
      if (stored === null) await writeSecretFile(keysPath(dataDir), own)
    },
  }
}

type KeySettings = Pick<Config, 'dataDir' | 'secretKey' | 'secretKeyNext' | 'secretKeyPrevious' | 'operatorKey'>

function newSecretKey(): string {
  return randomBytes(32).toString('hex')
}

async function readKeys(dataDir: string): Promise<KeysFile | null> {
  const stored = await readJson(keysPath(dataDir), KeysFile)
  if (stored !== 'damaged') return stored
  throw new StartupError(
    `${keysPath(dataDir)} is damaged. Restore it from a backup: stored secrets cannot be read without its secretKey`,
  )
}

/** Puts a new secret key into `keys.json` and keeps the former one beside it, unless there is a former one already. */
export async function renewSecretKey(dataDir: string): Promise<{ isNew: boolean }> {
  const stored = await readKeys(dataDir)
  if (stored === null) throw new StartupError(`${keysPath(dataDir)} is missing. Start the server once, which makes it`)
  if (stored.previousSecretKey !== undefined) return { isNew: false }
  const keys = { ...stored, secretKey: newSecretKey(), previousSecretKey: stored.secretKey }
  await writeSecretFile(keysPath(dataDir), keys)
  return { isNew: true }
}

/** Takes the former secret key out of `keys.json`. */
export async function forgetFormerKey(dataDir: string): Promise<void> {
  const { previousSecretKey: _, ...keys } = (await readKeys(dataDir)) ?? {}
  await writeSecretFile(keysPath(dataDir), keys)
}

/**
 * Puts the keys of an installation into `keys.json`, unless they are there. Returns whether a server that is given no keys has
 * them now: a file with another secret key stays as it is.
 */
export async function storeKeys(dataDir: string, { secretKey, otherSecretKeys, operatorKey }: Keys): Promise<boolean> {
  const stored = await readKeys(dataDir)
  if (stored !== null) return stored.secretKey === secretKey && stored.operatorKey === operatorKey
  const [previousSecretKey] = otherSecretKeys
  await writeSecretFile(keysPath(dataDir), { secretKey, previousSecretKey, operatorKey })
  return true
}

/** Writes settings as lines that a shell, `node --env-file` and systemd read, into a file that only its owner may read. */
export async function writeSettings(path: string, settings: Readonly<Record<string, string>>): Promise<void> {
  const lines = Object.entries(settings).map(([name, value]) => `${name}='${value.replaceAll("'", '%27')}'\n`)
  await writeSecretText(path, lines.join(''))
}

export function movedSettingsPath(dataDir: string): string {
  return join(dataDir, 'moved.env')
}

const OperatorKeyFile = z.object({ operatorKey: z.string() })

/** The operator key in `keys.json`; null: there is none, or the file is damaged. */
export async function readOperatorKey(dataDir: string): Promise<string | null> {
  const stored = await readJson(keysPath(dataDir), OperatorKeyFile)
  return stored === 'damaged' ? null : (stored?.operatorKey ?? null)
}

/** The secret keys of the settings, else of `keys.json`. Throws `StartupError` where neither has one. */
export async function findSecretKeys(config: KeySettings): Promise<Pick<Keys, 'secretKey' | 'otherSecretKeys'>> {
  const { dataDir, secretKey } = config
  if (secretKey === null && (await readJson(keysPath(dataDir), KeysFile)) === null) {
    throw new StartupError(
      `There is no secret key: give the server's SECRET_KEY, or its keys.json in DATA_DIR (${keysPath(dataDir)} is missing)`,
    )
  }
  return (await installationKeys(config)).keys
}

export function keysPath(dataDir: string): string {
  return join(dataDir, 'keys.json')
}

export function sandboxPath(dataDir: string): string {
  return join(dataDir, 'sandbox.json')
}

/** Null: there is none, or somebody has damaged it. */
export async function readSandboxFile(dataDir: string): Promise<SandboxFile | null> {
  const stored = await readJson(sandboxPath(dataDir), SandboxFile)
  return stored === 'damaged' ? null : stored
}

export function writeSandboxFile(dataDir: string, content: SandboxFile): Promise<void> {
  return writeSecretFile(sandboxPath(dataDir), content)
}

/** Null: the file does not exist. */
async function readJson<T>(path: string, schema: z.ZodType<T>): Promise<T | 'damaged' | null> {
  const text = await readIfThere(path)
  if (text === null) return null
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return 'damaged'
  }
}

/** Creates a folder and those above it, unless they are there. Node's `recursive` never ends in /proc, which takes no folders. */
export async function makeFolder(path: string, mode?: number): Promise<void> {
  const found = (place: string) => stat(place).catch(() => null)
  if ((await found(path))?.isDirectory()) return
  if ((await found(dirname(path))) === null) await makeFolder(dirname(path), mode)
  // Another process may make it too.
  await mkdir(path, { mode }).catch(async (error) => {
    if (!(await found(path))?.isDirectory()) throw error
  })
}

/** A folder of another machine may not answer. */
const SAID_AFTER_MS = 5_000

/** Creates the folder of a setting if it is missing. Throws `StartupError` when it cannot be written. */
export async function makeDataFolder(path: string, setting = 'DATA_DIR', mode = 0o777): Promise<void> {
  const timer = setTimeout(() => process.stderr.write(`Waiting for ${setting} (${path}) …\n`), SAID_AFTER_MS)
  try {
    await makeFolder(path, mode)
    await access(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw notWritable(path, error, setting)
  } finally {
    clearTimeout(timer)
  }
}

/**
 * As `makeDataFolder`, for only the owner. A folder that exists keeps its mode, because others may use it too; `warn` hears of one
 * that is open to others.
 */
export async function makePrivateFolder(path: string, setting: string, warn: (message: string) => void): Promise<void> {
  await makeDataFolder(path, setting, PRIVATE)
  const mode = (await stat(path)).mode & 0o777
  if ((mode & 0o077) === 0) return
  warn(
    `The folder of ${setting} is open to other users of this machine (mode ${mode.toString(8)}). Run chmod 700 on it`,
  )
}

/** The mode of a folder that only its owner may list and enter. */
export const PRIVATE = 0o700

/** Returns null when the file does not exist. */
export async function readIfThere(path: string): Promise<string | null> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (codeOf(error) === 'ENOENT') return null
    throw new StartupError(
      `${path} cannot be read (${codeOf(error)}). Make it readable for the user who runs the server`,
    )
  }
}

function writeSecretFile(path: string, content: object): Promise<void> {
  return writeSecretText(path, `${JSON.stringify(content, null, 2)}\n`)
}

/**
 * Writes a text that only its owner may read. The write is atomic: readers find the old content or the new, even after a power
 * failure.
 */
async function writeSecretText(path: string, text: string): Promise<void> {
  const temporary = `${path}.new`
  try {
    const file = await open(temporary, 'w', 0o600)
    try {
      // A file left by a kill keeps its former mode.
      await file.chmod(0o600)
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
    await syncFolder(dirname(path))
  } catch (error) {
    throw notWritable(path, error)
  }
}

/** Makes renames in the folder durable. */
export async function syncFolder(path: string): Promise<void> {
  const folder = await open(path, 'r')
  try {
    await folder.sync()
  } finally {
    await folder.close()
  }
}

function notWritable(path: string, error: unknown, setting = 'DATA_DIR'): StartupError {
  return new StartupError(
    `${path} cannot be written (${codeOf(error)}). Make its folder writable for the user who runs the server, or name another with ${setting}`,
  )
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
