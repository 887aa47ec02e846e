import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { openSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { setTimeout as delay } from 'node:timers/promises'
import { ordinaryUser } from '../../test/support/postgres-15.ts'
import type { Run } from './run.ts'

export interface Started {
  readonly pid: number
  readonly kill: (signal: NodeJS.Signals) => void
  readonly exited: Promise<unknown>
}

/** How long a program that ended by itself stays away. */
const RESTART_MS = 200

interface Program {
  readonly program: string
  readonly args?: readonly string[]
  readonly env?: Readonly<Record<string, string>>
  /** Gets all that it writes. */
  readonly log: string
}

/** Starts a program as an ordinary user, in a process group of its own, so that Ctrl-C does not reach it before its turn. */
export function startProgram({ program, args = [], env = {}, log }: Program): Started {
  const output = openSync(log, 'a')
  const child = spawn(program, args, {
    ...ordinaryUser,
    env: { PATH: '/usr/local/sbin:/usr/sbin:/usr/bin:/sbin:/bin', LC_ALL: 'C.UTF-8', ...env },
    cwd: '/',
    detached: true,
    stdio: ['ignore', output, output],
  })
  return asStarted(child)
}

/**
 * Starts a program until the run ends, and again whenever it ends before, as a service manager does; that is printed. What is returned
 * kills it and starts it again.
 */
export function keepProgram(run: Run, program: Program): () => Promise<void> {
  let started: Started
  let isEnding = false
  const start = () => {
    const one = startProgram(program)
    started = one
    one.exited.then(async () => {
      if (isEnding || started !== one) return
      console.log(`${program.program} ended by itself and is started again (its log: ${await lastLine(program.log)})`)
      await delay(RESTART_MS)
      if (!isEnding && started === one) start()
    })
  }
  const end = () => endPid(started.pid, 'SIGKILL')
  start()
  run.add(() => {
    isEnding = true
    return end()
  })
  return async () => {
    isEnding = true
    await end()
    isEnding = false
    start()
  }
}

async function lastLine(path: string): Promise<string> {
  return (await readFile(path, 'utf8')).trimEnd().split('\n').at(-1) ?? ''
}

function asStarted(child: ChildProcess): Started {
  const exited = Promise.race([once(child, 'exit'), once(child, 'error')]).catch(() => {})
  return { pid: child.pid ?? 0, kill: (signal) => void child.kill(signal), exited }
}

/** Ends a process that may not be a child of this one, and waits until it is gone; by SIGKILL when the signal does not do in time. */
export async function endPid(pid: number, signal: NodeJS.Signals, waitMs = 10_000): Promise<void> {
  send(pid, signal)
  for (let waitedMs = 0; isAlive(pid); waitedMs += 50) {
    if (waitedMs === waitMs) send(pid, 'SIGKILL')
    if (waitedMs > 2 * waitMs) throw new Error(`The process ${pid} cannot be ended`)
    await delay(50)
  }
}

function send(pid: number, signal: NodeJS.Signals): void {
  try {
    process.kill(pid, signal)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch {
    return false
  }
}

/** Waits until `look` returns something, and returns it. Errors of `look` count as nothing yet, and stand in the message in the end. */
export async function until<T>(
  what: string,
  look: () => Promise<T | null | undefined | false>,
  { waitMs = 60_000, everyMs = 100 } = {},
): Promise<T> {
  const endMs = performance.now() + waitMs
  for (let reason = 'not yet'; ; await delay(everyMs)) {
    try {
      const found = await look()
      if (found) return found
    } catch (error) {
      reason = (error as Error).message
    }
    if (performance.now() > endMs) throw new Error(`${what}: still not after ${waitMs / 1_000} s (${reason})`)
  }
}
