import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { Semaphore } from '../values/semaphore.ts'
import { DECODING_MS_MAX } from './bounds.ts'
import type { Answer } from './decode.ts'

/** How long the process waits for another picture. */
const IDLE_MS = 10_000

const program = fileURLToPath(new URL('decode.ts', import.meta.url))

export type Decoder = ReturnType<typeof createDecoder>

/**
 * Decodes pictures that strangers sent, one at a time, in a process of its own, which ends itself above a bound of memory, is ended after
 * one of time, and by itself where none follows.
 */
export function createDecoder() {
  const turns = new Semaphore({
    capacity: 1,
    capacityOfKey: 1,
    waitingMax: 100,
    waitingOfKeyMax: 20,
    waitMs: 60_000,
    message: 'Many pictures are being read; try again in a moment',
  })
  let child: ChildProcess | undefined
  let idle: NodeJS.Timeout | undefined

  async function stop(): Promise<void> {
    child?.kill('SIGKILL')
    child = undefined
  }

  async function ask(picture: Uint8Array): Promise<Answer> {
    clearTimeout(idle)
    // However the last one ended, the next picture begins another.
    if (!child || child.exitCode !== null || child.signalCode !== null) child = begin()
    const asked = child
    const over = new AbortController()
    const { signal } = over
    const timer = setTimeout(() => asked.kill('SIGKILL'), DECODING_MS_MAX)
    try {
      asked.send(picture)
      return await Promise.race([
        once(asked, 'message', { signal }).then(([answer]): Answer => answer),
        once(asked, 'exit', { signal }).then((): Answer => ({ refusal: 'effort' })),
      ])
    } finally {
      over.abort()
      clearTimeout(timer)
      idle = setTimeout(stop, IDLE_MS)
      idle.unref()
      asked.unref()
      asked.channel?.unref()
    }
  }

  return {
    /** Returns its files, or why it is refused. `key`: those of one take turns with others. Throws `unavailable` where too many wait. */
    decode: (picture: Uint8Array, key: string): Promise<Answer> => turns.run(key, 1, () => ask(picture)),
    stop,
  }
}

/** What goes wrong with it is told to whoever waits. */
function begin(): ChildProcess {
  const begun = fork(program, { serialization: 'advanced', stdio: ['ignore', 'ignore', 'ignore', 'ipc'], env: {} })
  return begun.on('error', () => {})
}
