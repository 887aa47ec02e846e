import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath, pathToFileURL } from 'node:url'
import { StartupError } from '../../src/foundation/process/startup-error.ts'
import type { Stops } from './bench.ts'

const own = fileURLToPath(new URL('../../', import.meta.url))

export interface OtherTree {
  /** The commit's short id. */
  readonly commit: string
  readonly root: URL
}

/** Checks a commit out into a temporary worktree that can start its server. */
export async function checkOut(commit: string, stops: Stops): Promise<OtherTree> {
  const id = await commitId(commit, stops)
  const folder = await mkdtemp(join(tmpdir(), 'store-platform-against-'))
  await stops.add(() => rm(folder, { recursive: true, force: true }))
  const tree = join(folder, 'tree')
  // Without a worktree, because it was never finished, there is nothing to remove.
  await stops.add(() => run(['git', 'worktree', 'remove', '--force', tree], own).catch(() => {}))
  await run(['git', 'worktree', 'add', '--detach', tree, id], own, stops)
  if (!(await linkDependencies(tree, stops))) await run(['npm', 'ci'], tree, stops)
  return { commit: id, root: pathToFileURL(`${tree}/`) }
}

async function commitId(commit: string, stops: Stops): Promise<string> {
  try {
    return await run(['git', 'rev-parse', '--short', '--verify', '--end-of-options', `${commit}^{commit}`], own, stops)
  } catch {
    throw new StartupError(`${commit} is no commit of this repository. Name one by its id, branch or tag`)
  }
}

/** False: they differ from this tree's, or lie on another file system. */
async function linkDependencies(tree: string, stops: Stops): Promise<boolean> {
  const [lock, ownLock] = await Promise.all(
    [tree, own].map((root) => readFile(join(root, 'package-lock.json'), 'utf8')),
  )
  if (lock !== ownLock) return false
  return run(['cp', '-al', join(own, 'node_modules'), join(tree, 'node_modules')], own, stops).then(
    () => true,
    () => false,
  )
}

/** Returns what a program says on standard output. With `stops` it ends, with all that it started, when the bench does. */
async function run([program = '', ...args]: readonly string[], cwd: string, stops?: Stops): Promise<string> {
  const child = spawn(program, args, { cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] })
  const closed = once(child, 'close')
  let said = ''
  let complaint = ''
  child.stdout.setEncoding('utf8').on('data', (text: string) => (said += text))
  child.stderr.setEncoding('utf8').on('data', (text: string) => (complaint += text))
  await stops?.add(async () => {
    if (child.exitCode !== null || child.signalCode !== null || child.pid === undefined) return
    process.kill(-child.pid, 'SIGTERM')
    await closed
  })
  const [code] = await closed
  if (code !== 0) throw new Error(`${program} ${args.join(' ')} failed: ${complaint || said}`)
  return said.trim()
}
