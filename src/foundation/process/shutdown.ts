import { setTimeout as delay } from 'node:timers/promises'
import type { Log } from './log.ts'

/** Time for requests in progress when the process is told to stop. */
export const STOP_TIMEOUT_MS = 10_000
/** The process ends after this time and the drain, whatever hangs. */
const END_TIMEOUT_MS = 30_000
/** Ctrl-C in a terminal arrives twice, from the terminal and from npm. Only a later signal forces an immediate end. */
const SAME_SIGNAL_MS = 1_000

/** What starts and stops with the process. */
export interface Part {
  /** What it does by itself from then on; default: nothing. */
  start?(): unknown
  stop(): Promise<unknown>
}

export type Shutdown = ReturnType<typeof handleShutdown>

/**
 * Makes signals and uncaught errors end the process in order. Waits up to 10 s for `started`, which settles when starting is
 * over, so that no step of the start loses what it uses. `drainMs`: the time between a signal and the end of the listener.
 */
export function handleShutdown(log: Log, started: Promise<unknown>, drainMs: number) {
  const parts: [name: string, part: Part][] = []
  let requestedAt: number | undefined
  let isDefect = false

  async function stop(): Promise<boolean> {
    requestedAt ??= Date.now()
    setTimeout(() => process.exit(1), END_TIMEOUT_MS + drainMs).unref()
    await Promise.race([started.catch(() => undefined), delay(STOP_TIMEOUT_MS)])
    return stopAll(parts.splice(0).reverse(), log)
  }

  async function end(code: number): Promise<void> {
    if (requestedAt !== undefined) return
    const exitCode = (await stop()) ? code : 1
    log.info({ exitCode }, 'stopped')
    await log.drained()
    process.exit(exitCode)
  }

  endBySignals(log, () => requestedAt, end)
  endByDefects(log, () => {
    isDefect = true
    end(1)
  })

  return {
    /** Registers a part, and returns it. Parts start in order and stop in reverse order. */
    add: <P extends Part>(name: string, part: P): P => {
      parts.push([name, part])
      return part
    },
    /** Starts every part that has been registered. */
    start: async () => {
      for (const [, part] of [...parts]) await part.start?.()
    },
    isRequested: () => requestedAt !== undefined,
    /** Call it between the steps of starting: throws when the process has been told to stop. */
    checkpoint: () => {
      if (requestedAt !== undefined) throw new Error('Told to stop while starting')
    },
    /** Waits for the drain if a signal stops the process. Returns at once after an error, because the process may be broken. */
    drain: async () => {
      if (requestedAt !== undefined && !isDefect) await delay(drainMs)
    },
    /** Stops every part. Returns false when one of them failed to stop. */
    stop,
  }
}

function endBySignals(log: Log, requestedAt: () => number | undefined, end: (code: number) => void): void {
  for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
    process.on(signal, () => {
      if (Date.now() - (requestedAt() ?? Number.POSITIVE_INFINITY) > SAME_SIGNAL_MS) process.exit(1)
      log.info({ signal }, 'stopping')
      end(0)
    })
  }
}

function endByDefects(log: Log, end: () => void): void {
  for (const event of ['uncaughtException', 'unhandledRejection']) {
    process.on(event, (error: unknown) => {
      log.fatal({ err: error }, event)
      end()
    })
  }
}

/** Returns false when one of them failed to stop. */
async function stopAll(parts: readonly (readonly [name: string, part: Part])[], log: Log): Promise<boolean> {
  let isInOrder = true
  for (const [name, part] of parts) {
    await part.stop().catch((error: unknown) => {
      log.error({ err: error }, `${name} could not be stopped in order`)
      isInOrder = false
    })
  }
  return isInOrder
}
