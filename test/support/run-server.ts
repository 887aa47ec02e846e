import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { once } from 'node:events'
import { mkdtempSync, readFileSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

export const ownTree = new URL('../../', import.meta.url)

/** What `npm start` of a tree hands to Node, and the variables that it sets. */
export function startCommand(tree: URL): { args: readonly string[]; environment: Readonly<Record<string, string>> } {
  const { scripts } = JSON.parse(readFileSync(new URL('package.json', tree), 'utf8')) as { scripts: { start: string } }
  const words = scripts.start.split(' ')
  const program = words.indexOf('node')
  return {
    args: words.slice(program + 1).map((word) => (word.startsWith('--') ? word : fileURLToPath(new URL(word, tree)))),
    environment: Object.fromEntries(words.slice(0, program).map((word) => word.split('=', 2))),
  }
}

export interface Run {
  readonly process: ChildProcess
  /** Everything written to standard output and standard error so far. */
  output(): string
  /** Resolves when standard output shows `text`; rejects with all output when the process ends before. */
  shows(text: string | RegExp): Promise<string>
  /** The exit code; null when a signal ended it. */
  readonly exited: Promise<number | null>
  /** Sends a signal and waits for the exit code. */
  readonly end: (signal?: NodeJS.Signals) => Promise<number | null>
}

/** The environment of programs: the test's PATH, and a cache of compiled modules, which saves a third of the CPU time of a start. */
export const programEnv = {
  PATH: process.env.PATH,
  NODE_COMPILE_CACHE: fileURLToPath(new URL('../../node_modules/.cache/node-compile', import.meta.url)),
}

/** What a server needs, whichever of its data the tests seal themselves. */
export const serverKeys = {
  SECRET_KEY: 'secret-key-of-the-tests-secret-key',
  OPERATOR_KEY: 'operator-key-of-the-tests',
}

/** Starts the server of a tree as `npm start` does, with these settings and none of the test's own environment but PATH. */
export function runServer(settings: Record<string, string>, tree = ownTree): Run {
  const { args, environment } = startCommand(tree)
  return runProgram(process.execPath, args, { env: { ...programEnv, ...environment, ...settings } })
}

export function runProgram(program: string, args: readonly string[], options: SpawnOptions): Run {
  const child = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] })
  let text = ''
  const watchers = new Set<() => void>()
  for (const stream of [child.stdout, child.stderr]) {
    stream?.setEncoding('utf8').on('data', (chunk: string) => {
      text += chunk
      for (const look of watchers) look()
    })
  }
  // 'close' comes after the output's end, unlike 'exit'.
  const exited = once(child, 'close').then(([code]) => code as number | null)
  return {
    process: child,
    output: () => text,
    shows: (wanted) => {
      const { promise, resolve, reject } = Promise.withResolvers<string>()
      const look = () => {
        if (typeof wanted === 'string' ? text.includes(wanted) : wanted.test(text)) resolve(text)
      }
      watchers.add(look)
      look()
      exited.then((code) => reject(new Error(`The server ended with ${code}:\n${text}`)))
      return promise.finally(() => watchers.delete(look))
    },
    exited,
    end: (signal = 'SIGTERM') => {
      child.kill(signal)
      return exited
    },
  }
}

/** A port that nobody listens on, below those of outgoing connections, one of which could take it before a program does. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = randomInt(10_000, 32_768)
    const { promise, resolve } = Promise.withResolvers<boolean>()
    const server = createServer().once('error', () => resolve(false))
    server.listen(port, '127.0.0.1', () => server.close(() => resolve(true)))
    if (await promise) return port
  }
  throw new Error('No port')
}

export function temporaryFolder(): string {
  return mkdtempSync(join(tmpdir(), 'process-'))
}
