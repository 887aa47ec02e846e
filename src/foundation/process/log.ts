import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { isatty } from 'node:tty'
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino'

/** Buffered when the reader of the log is slow; further lines are dropped. */
const WAITING_BYTES_MAX = 4 * 1024 * 1024
const STDERR = 2
const DEBUG = 20
const FATAL = 60

export interface Log extends Logger {
  /** Resolves when every line is written, or after a second. */
  drained(): Promise<void>
}

/**
 * Opens the log of the process on standard error: JSON lines, or readable lines on a terminal. Headers are never logged; if one
 * is by mistake, it is redacted. `fateOf` decides on lines with an error that have a level from info to error.
 */
export async function createLog(level: string, fateOf: FateOf): Promise<Log> {
  const { destination, drained } = await openStandardError()
  const undecided = new Set<Promise<unknown>>()
  const log = pino(logOptions(level, fateOf, undecided), destination)
  return Object.assign(log, { drained: () => Promise.allSettled(undecided).then(drained) })
}

/** How a line is logged: with its level, only for debugging, or not at all. */
export type Fate = 'logged' | 'debug' | 'omitted'
type FateOf = (error: unknown) => Fate | Promise<Fate>

/** `undecided` has the lines that wait for their fate. */
export function logOptions(
  level: string,
  fateOf: FateOf = () => 'logged',
  undecided = new Set<Promise<unknown>>(),
): LoggerOptions {
  return {
    level,
    base: null,
    timestamp: pino.stdTimeFunctions.isoTime,
    formatters: { level: (label) => ({ level: label }) },
    serializers: { err: plainError },
    hooks: {
      logMethod(args, method, number) {
        const [details] = args
        const { err } = (details ?? {}) as { err?: unknown }
        const end = (fate: Fate) => {
          if (fate === 'logged') method.apply(this, args)
          else if (fate === 'debug') this.debug(...args)
        }
        const isOpen = err !== undefined && number > DEBUG && number < FATAL
        const fate = isOpen ? fateOf(err) : 'logged'
        if (!(fate instanceof Promise)) return end(fate)
        const decided = fate.then(end).finally(() => undecided.delete(decided))
        undecided.add(decided)
      },
    },
    redact: ['headers', '*.headers', 'password', '*.password'],
  }
}

/**
 * A pipe that nobody reads must not block the server. process.stderr writes to pipes synchronously, and pino's own destination
 * leaves a thread that delays the exit; a socket on the same descriptor does neither.
 */
async function openStandardError(): Promise<{ destination: DestinationStream; drained: () => Promise<void> }> {
  const kind = fstatSync(STDERR)
  if (!kind.isFIFO() && !kind.isSocket()) {
    const destination = pino.destination({ dest: STDERR, sync: true })
    const drained = async () => {}
    if (!isatty(STDERR)) return { destination, drained }
    // Loaded on demand, because a service never needs it.
    const { readableLines } = await import('./readable-log.ts')
    // Node considers NO_COLOR and the kind of terminal.
    const readable = readableLines({ colorize: process.stderr.hasColors() })
    return { destination: { write: (line) => destination.write(readable(line)) }, drained }
  }
  const socket = new Socket({ fd: STDERR, readable: false })
  socket.on('error', () => {})
  socket.unref()
  const write = (line: string) => {
    if (socket.writableLength < WAITING_BYTES_MAX) socket.write(line)
  }
  return { destination: { write }, drained: () => written(socket) }
}

function written(socket: Socket): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  setTimeout(resolve, 1_000)
  socket.write('', () => resolve())
  return promise
}

/** Omits further fields, because errors of Prisma and PostgreSQL carry the statement's values in them. */
function plainError(error: unknown): object {
  if (!(error instanceof Error)) return { message: String(error) }
  const { name, message, stack } = error
  const { code } = error as { code?: unknown }
  const cause = error.cause === undefined ? {} : { cause: plainError(error.cause) }
  return { name, message, stack, ...(code === undefined ? {} : { code }), ...cause }
}
