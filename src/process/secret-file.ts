import { constants } from 'node:fs'
import { access, mkdir, open, readFile, rename } from 'node:fs/promises'
import { dirname } from 'node:path'
import { StartupError } from './startup-error.ts'

/** Creates the folder if it is missing. Throws `StartupError` when it cannot be written. */
export async function makeDataFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { recursive: true })
    await access(path, constants.W_OK | constants.X_OK)
  } catch (error) {
    throw notWritable(path, error)
  }
}

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

/**
 * Writes JSON that only its owner may read. The write is atomic: readers find the old content or the new, even after a power
 * failure.
 */
export async function writeSecretFile(path: string, content: object): Promise<void> {
  const temporary = `${path}.new`
  try {
    const file = await open(temporary, 'w', 0o600)
    try {
      // A file left by a kill keeps its former mode.
      await file.chmod(0o600)
      await file.writeFile(`${JSON.stringify(content, null, 2)}\n`)
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

function notWritable(path: string, error: unknown): StartupError {
  return new StartupError(
    `${path} cannot be written (${codeOf(error)}). Make its folder writable for the user who runs the server, or name another with DATA_DIR`,
  )
}

function codeOf(error: unknown): string {
  return (error as NodeJS.ErrnoException).code ?? String(error)
}
