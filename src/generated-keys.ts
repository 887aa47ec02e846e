import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { z } from 'zod'
import { readIfThere, writeSecretFile } from './secret-file.ts'
import { StartupError } from './startup-error.ts'

const Keys = z.object({ secretKey: z.string().min(32), operatorKey: z.string().min(16) })

export type Keys = Readonly<z.infer<typeof Keys>>

interface GivenKeys {
  dataDir: string
  secretKey: string | null
  operatorKey: string | null
}

/**
 * The keys of this installation: as given; what is not given comes from `keys.json` in the data folder (mode 600), made
 * at the first need. A kill at any moment leaves either no file or a whole one.
 */
export async function installationKeys({ dataDir, secretKey, operatorKey }: GivenKeys): Promise<Keys> {
  if (secretKey !== null && operatorKey !== null) return { secretKey, operatorKey }
  const own = await keptKeys(join(dataDir, 'keys.json'))
  return { secretKey: secretKey ?? own.secretKey, operatorKey: operatorKey ?? own.operatorKey }
}

async function keptKeys(path: string): Promise<Keys> {
  const text = await readIfThere(path)
  if (text !== null) return readKeys(path, text)
  const keys = { secretKey: randomBytes(32).toString('hex'), operatorKey: randomBytes(24).toString('hex') }
  await writeSecretFile(path, keys)
  return keys
}

/** A new secret key would make every stored secret unreadable, so a damaged file is never simply replaced. */
function readKeys(path: string, text: string): Keys {
  try {
    return Keys.parse(JSON.parse(text))
  } catch {
    throw new StartupError(
      `${path} is damaged. Restore it from a backup: stored secrets cannot be read without its secretKey`,
    )
  }
}
