import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { rename, rm, stat } from 'node:fs/promises'
import { dirname } from 'node:path'
import type { Writable } from 'node:stream'
import { syncFolder } from './data-folder.ts'
import { StartupError } from './startup-error.ts'

/**
 * Writes a file that only its owner may read, and that exists whole or not at all: `write` fills `path.part`, which is renamed when
 * everything is on the disk. Opens the file before it calls `write`. Throws `StartupError` when it cannot be opened.
 */
export async function writeWholeFile<T>(path: string, write: (target: Writable) => Promise<T>): Promise<T> {
  const part = `${path}.part`
  await rm(part, { force: true }).catch((error) => {
    throw cannotBeWritten(part, error)
  })
  const target = createWriteStream(part, { flags: 'wx', mode: 0o600, flush: true })
  await once(target, 'open').catch((error) => {
    throw cannotBeWritten(part, error)
  })
  const { ino } = await stat(part)
  try {
    const result = await write(target)
    if (!target.closed) await once(target, 'close')
    const there = await stat(part).catch(() => null)
    if (there?.ino !== ino)
      throw new StartupError(`Another program has replaced ${part}: run this again, once at a time`)
    await rename(part, path)
    await syncFolder(dirname(path))
    return result
  } catch (error) {
    const { errored } = target
    target.destroy()
    await rm(part, { force: true })
    throw isOfDisk(errored) ? cannotBeWritten(part, errored) : error
  }
}

/** Errors of the source reach the file's stream too. */
function isOfDisk(error: NodeJS.ErrnoException | null): error is NodeJS.ErrnoException {
  return ['ENOSPC', 'EDQUOT', 'EFBIG', 'EIO'].includes(error?.code ?? '')
}

function cannotBeWritten(path: string, error: NodeJS.ErrnoException): StartupError {
  return new StartupError(`${path} cannot be written (${error.code ?? error.message})`)
}
