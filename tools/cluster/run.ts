import { chmod, chown, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { ordinaryUser } from '../../test/support/postgres-15.ts'

/** What a run has started and made, and how all of it ends. */
export interface Run {
  /** Temporary, and of the ordinary user. */
  readonly folder: string
  /** The file that gets what a program writes. */
  readonly log: (name: string) => string
  /** Registers what `end` does, which begins with the last one. */
  readonly add: (end: () => Promise<unknown>) => void
  /** Copies a file of `cluster/` into the folder, with other texts in place of some. Throws for a text that is not there. */
  readonly copy: (name: string, texts: Readonly<Record<string, string>>) => Promise<string>
  /** The last lines of each program's log. */
  readonly tails: () => Promise<string>
  readonly end: () => Promise<void>
}

const TAIL_LINES = 15

const source = new URL('../../cluster/', import.meta.url)

export async function openRun(): Promise<Run> {
  const folder = await mkdtemp(join(tmpdir(), 'cluster-'))
  await chmod(folder, 0o755)
  const give = async (path: string) => {
    if (ordinaryUser.uid !== undefined) await chown(path, ordinaryUser.uid, ordinaryUser.gid)
  }
  await give(folder)
  const ends: (() => Promise<unknown>)[] = []
  const logs = new Set<string>()
  const log = (name: string) => {
    const path = join(folder, `${name}.log`)
    logs.add(path)
    return path
  }
  return {
    folder,
    log,
    tails: async () => {
      const texts = [...logs].map(async (path) => {
        const lines = (await readFile(path, 'utf8')).trimEnd().split('\n')
        return [`--- ${basename(path)}`, ...lines.slice(-TAIL_LINES)].join('\n')
      })
      return (await Promise.all(texts)).join('\n')
    },
    add: (end) => void ends.push(end),
    copy: async (name, texts) => {
      let text = await readFile(new URL(name, source), 'utf8')
      for (const [wanted, other] of Object.entries(texts)) {
        if (!text.includes(wanted)) throw new Error(`cluster/${name} has no ${JSON.stringify(wanted)}`)
        text = text.replaceAll(wanted, other)
      }
      const path = join(folder, name)
      await writeFile(path, text, { mode: 0o600 })
      await give(path)
      return path
    },
    end: async () => {
      for (let end = ends.pop(); end !== undefined; end = ends.pop()) {
        await end().catch((error: Error) => console.error(`While ending: ${error.message}`))
      }
      await rm(folder, { recursive: true, force: true })
    },
  }
}
