import { randomUUID } from 'node:crypto'
import { mkdir, open, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Files } from './files.ts'

const PARTS = 'parts'
/** Nothing is written for so long: a part of this age is left of a process that was killed. */
const PART_MS = 3_600_000

/** Files of a folder, which only the owner of the process may read. */
export function diskFiles(folder: string): Files {
  const parts = join(folder, PARTS)
  const makeFolder = (path: string) => mkdir(path, { recursive: true, mode: 0o700 })
  return {
    async put(path, bytes) {
      const part = join(parts, randomUUID())
      const target = join(folder, path)
      await Promise.all([makeFolder(parts), makeFolder(dirname(target))])
      try {
        await writeFile(part, bytes, { mode: 0o600, flush: true })
        await rename(part, target)
      } finally {
        await rm(part, { force: true })
      }
    },
    async open(path) {
      const file = await open(join(folder, path)).catch((error: NodeJS.ErrnoException) => {
        if (error.code === 'ENOENT') return null
        throw error
      })
      return file && { size: (await file.stat()).size, bytes: file.createReadStream() }
    },
    remove: (path) => rm(join(folder, path), { force: true, recursive: true }),
    async tidy() {
      await makeFolder(parts)
      for (const name of await readdir(parts)) {
        const part = join(parts, name)
        const found = await stat(part).catch(() => null)
        if (found && found.mtimeMs < Date.now() - PART_MS) await rm(part, { force: true })
      }
    },
  }
}
