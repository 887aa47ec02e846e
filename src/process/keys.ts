import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readIfThere, writeSecretFile } from './secret-file.ts'
import { StartupError } from './startup-error.ts'

const Keys = z.object({ secretKey: z.string().min(32), operatorKey: z.string().min(16) })

export type Keys = Readonly<z.infer<typeof Keys>>

export interface InstallationKeys {
  readonly keys: Keys
  /** Writes generated keys into `keys.json`. Call it before anything is stored under them. */
  readonly keep: () => Promise<void>
}

interface GivenKeys {
  dataDir: string
  secretKey: string | null
  operatorKey: string | null
}

/**
 * Returns the keys of this installation. A key that is not given comes from `keys.json` in the data folder (mode 600), or is
 * generated if the file does not exist. A kill leaves either no file or a complete one.
 */
export async function installationKeys({ dataDir, secretKey, operatorKey }: GivenKeys): Promise<InstallationKeys> {
  if (secretKey !== null && operatorKey !== null) return { keys: { secretKey, operatorKey }, keep: async () => {} }
  const path = keysPath(dataDir)
  const text = await readIfThere(path)
  const own = text === null ? generatedKeys() : readKeys(path, text)
  return {
    keys: { secretKey: secretKey ?? own.secretKey, operatorKey: operatorKey ?? own.operatorKey },
    keep: async () => {
      if (text === null) await writeSecretFile(path, own)
    },
  }
}

export function keysPath(dataDir: string): string {
  return join(dataDir, 'keys.json')
}

function generatedKeys(): Keys {
  return { secretKey: randomBytes(32).toString('hex'), operatorKey: randomBytes(24).toString('hex') }
}

/** Never replaces a damaged file, because a new secret key would make every stored secret unreadable. */
function readKeys(path: string, text: string): Keys {
  try {
    return Keys.parse(JSON.parse(text))
  } catch {
    throw new StartupError(
      `${path} is damaged. Restore it from a backup: stored secrets cannot be read without its secretKey`,
    )
  }
}
