import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'

export interface Child {
  readonly pid: number
  /** Sends a message and resolves with the answer; rejects with the child's error, and when it ends. One at a time. */
  ask<T>(message: object): Promise<T>
  stop(): Promise<void>
}

type Reply = { result: unknown } | { error: string }

/** A process of its own from a file of this folder, which calls `answerMessages`. */
export function startChild(file: string): Child {
  const child = fork(fileURLToPath(new URL(file, import.meta.url)), { serialization: 'advanced' })
  const ended = once(child, 'exit').then(([code, signal]) => {
    throw new Error(`${file} ended with ${code ?? signal}`)
  })
  ended.catch(() => {})
  return {
    pid: child.pid ?? 0,
    ask: async <T>(message: object) => {
      const answered = once(child, 'message') as Promise<[Reply]>
      child.send(message)
      const [reply] = await Promise.race([answered, ended])
      if ('error' in reply) throw new Error(reply.error)
      return reply.result as T
    },
    stop: () => end(child),
  }
}

/** In the child: answers every message by `work`, and ends when the parent goes away. */
export function answerMessages<M>(work: (message: M) => Promise<unknown>): void {
  process.on('message', async (message: M) => {
    try {
      process.send?.({ result: await work(message) })
    } catch (error) {
      process.send?.({ error: error instanceof Error ? (error.stack ?? error.message) : String(error) })
    }
  })
  process.on('disconnect', () => process.exit())
  // A terminal's Ctrl-C reaches every process; the parent says when this one is done.
  process.on('SIGINT', () => {})
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGKILL')
  await exited
}
