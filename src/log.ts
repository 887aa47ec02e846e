import { fstatSync } from 'node:fs'
import { Socket } from 'node:net'
import { isatty } from 'node:tty'
import pino, { type DestinationStream, type Logger, type LoggerOptions } from 'pino'
import { prettyFactory } from 'pino-pretty'

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
export function createLog(level: string): Log {
  const { destination, drained } = openStandardError()
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

/** Members of a record that its readable line begins with, in `head`, or leaves out. */
const HEAD = ['method', 'path', 'route', 'ip', 'operation', 'status', 'ms', 'storeId', 'applicationId', 'requestId']

/** Returns what makes of a JSON line one that people read: time, level, message, further members; below it an error's stack. */
export function readableLines({ colorize }: { colorize: boolean }): (line: string) => string {
  const pretty = prettyFactory({
    colorize,
    singleLine: true,
    translateTime: 'SYS:HH:MM:ss',
    errorLikeObjectKeys: ['err'],
    ignore: HEAD.join(),
    messageFormat: head,
  })
  // A terminal obeys control characters. In JSON only those beyond ASCII stand as they are.
  return (line) => pretty(line.replace(/\p{Cc}/gu, ''))
}

/** Such as "GET /StoreWebAPI/v1/Products 200 12 ms store 1 app 1 from 127.0.0.1 id …". The route says less than the path. */
function head({
  msg,
  method,
  path,
  operation,
  status,
  ms,
  storeId,
  applicationId,
  requestId,
  ip,
}: Record<string, unknown>) {
  const labelled = { store: storeId, app: applicationId, from: ip, id: requestId }
  return [
    ...[method, path, operation, msg === 'request' ? undefined : msg, status],
    ...(ms === undefined ? [] : [ms, 'ms']),
    ...Object.entries(labelled).flatMap(([label, value]) => (value === undefined ? [] : [label, value])),
  ]
    .filter((part) => part !== undefined)
    .join(' ')
    .replace(/\p{Cc}/gu, ' ')
}

interface Output {
  destination: DestinationStream
  drained: () => Promise<void>
}

/**
 * A pipe that nobody reads must never stop the server: process.stderr writes to pipes synchronously, and pino's own
 * destination leaves a thread behind that then holds up the exit. A socket on the same descriptor does neither.
 */
function openStandardError(): Output {
  const kind = fstatSync(STDERR)
  if (!kind.isFIFO() && !kind.isSocket()) {
    const destination = pino.destination({ dest: STDERR, sync: true })
    if (!isatty(STDERR)) return { destination, drained: async () => {} }
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
