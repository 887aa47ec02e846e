import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'

/** What is in hand when the process is told to stop has this long to come to an end. */
export const STOP_TIMEOUT_MS = 10_000
/** Past this the process ends, whatever hangs. */
const END_TIMEOUT_MS = 30_000
/** A terminal's Ctrl-C reaches the process twice, from the terminal and from npm; only a later signal means "at once". */
const SAME_SIGNAL_MS = 1_000

export interface Shutdown {
  /** Parts are stopped in the reverse order of their addition. */
  add(name: string, stop: () => Promise<unknown>): void
  isRequested(): boolean
  /** Between the steps of starting: throws when the process has been told to stop meanwhile. */
  checkpoint(): void
  /** Stops every part; false when one of them could not be stopped in order. */
  stop(): Promise<boolean>
}

/**
 * From now on signals and unforeseen errors end the process in order. `started` tells when starting is over, well or
 * not: nothing is taken away from under a step of it, unless it takes longer than 10 s.
 */
export function handleShutdown(log: Log, started: Promise<unknown>): Shutdown {
  const parts: { name: string; stop: () => Promise<unknown> }[] = []
  let requestedAt: number | undefined

  async function stop(): Promise<boolean> {
    requestedAt ??= Date.now()
    setTimeout(() => process.exit(1), END_TIMEOUT_MS).unref()
    await Promise.race([started.catch(() => undefined), delay(STOP_TIMEOUT_MS)])
    let isInOrder = true
    for (const { name, stop } of parts.splice(0).reverse()) {
      await stop().catch((error: unknown) => {
        log.error({ err: error }, `${name} could not be stopped in order`)
        isInOrder = false
      })
    }
    return isInOrder
  }

  async function end(code: number): Promise<void> {
    if (requestedAt !== undefined) return
    const exitCode = (await stop()) ? code : 1
    log.info({ exitCode }, 'stopped')
    await log.drained()
    process.exit(exitCode)
  }

  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (requestedAt !== undefined && Date.now() - requestedAt > SAME_SIGNAL_MS) process.exit(1)
      log.info({ signal }, 'stopping')
      end(0)
    })
  }
  for (const event of ['uncaughtException', 'unhandledRejection'] as const) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event)
      end(1)
    })
  }

  return {
    add: (name, stop) => parts.push({ name, stop }),
    isRequested: () => requestedAt !== undefined,
    checkpoint: () => {
      if (requestedAt !== undefined) throw new Error('Told to stop while starting')
    },
    stop,
  }
}
