import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { isatty } from 'node:tty'
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino'

/** What may wait in memory when whoever reads the log is slow; lines beyond it are dropped. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024
const STDERR = 2

export interface Log extends Logger {
  /** Resolves when every line is written, or after a second. */
  drained(): Promise<void>
}

/**
 * The log of the process on standard error: JSON lines, or readable ones where that is a terminal. Headers never belong
 * into it; should one get there, the known credentials are blotted out.
 */
export async function createLog(level: string): Promise<Log> {
  const { destination, drained } = await openStandardError()
  return Object.assign(pino(logOptions(level), destination), { drained })
}

/** The content of the lines, wherever they go. */
export function logOptions(level: string): LoggerOptions {
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: plainError },
    redact: ['headers', '*.headers', 'password', '*.password'],
  }
}

interface Output {
  destination: DestinationStream
  drained: () => Promise<void>
}

/**
 * A pipe that nobody reads must never stop the server: process.stderr writes to pipes synchronously, and pino's own
 * destination leaves a thread behind that then holds up the exit. A socket on the same descriptor does neither.
 */
async function openStandardError(): Promise<Output> {
  const kind = fstatSync(STDERR)
  if (!kind.isFIFO() && !kind.isSocket()) {
    const destination = pino.destination({ dest: STDERR, sync: true })
    if (!isatty(STDERR)) return { destination, drained: async () => {} }
    // Loaded here, because a service never needs it.
    const { readableLines } = await import('./readable-log.ts')
    // Node knows whether NO_COLOR or the kind of terminal forbids colours.
    const readable = readableLines({ colorize: process.stderr.hasColors() })
    return { destination: { write: (line) => destination.write(readable(line)) }, drained: async () => {} }
  }
  const socket = new Socket({ fd: STDERR, readable: false })
  socket.on('error', () => {})
  socket.unref()
  return {
    destination: {
      write: (line) => {
        if (socket.writableLength < WAITING_BYTES_MAX) socket.write(line)
      },
    },
    drained: () => written(socket),
  }
}

function written(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, 1_000)
  socket.write('', () => resolve())
  return promise
}

/** Prisma's and PostgreSQL's errors carry the values of the statement in further fields; those stay out. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  const { code } = error as { code?: unknown }
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) }
  return { name, message, stack, ...(code === undefined ? {} : { code }), ...cause }
}
