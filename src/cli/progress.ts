import type { Writable } from 'node:stream'

export interface ProgressOptions {
  label: string
  /** Absent: not known; then neither share nor remaining time is shown. */
  total?: number
  /** Default: standard error, so that standard output stays free for what the program gives. */
  stream?: Writable & { isTTY?: boolean; columns?: number }
  /** Default: the process's clock. */
  nowMs?: () => number
}

export interface Progress {
  advance(count: number): void
  /** Writes a line of its own, above the bar. */
  say(line: string): void
  /** Shows how it went and ends the line. */
  done(): void
}

const BAR_WIDTH = 24
const TERMINAL_INTERVAL_MS = 100
/** Where lines stay, in a log, there should not be many. */
const PLAIN_INTERVAL_MS = 5_000
const RATE_WINDOW_MS = 10_000

/** A bar with rate and remaining time: one line that is redrawn on a terminal, a line now and then elsewhere. */
export function createProgress({
  label,
  total,
  stream = process.stderr,
  nowMs = () => performance.now(),
}: ProgressOptions): Progress {
  const isTerminal = stream.isTTY === true
  const intervalMs = isTerminal ? TERMINAL_INTERVAL_MS : PLAIN_INTERVAL_MS
  const startedAtMs = nowMs()
  const recent: Sample[] = [{ atMs: startedAtMs, count: 0 }]
  let count = 0
  const draw = () => {
    const atMs = nowMs()
    recent.push({ atMs, count })
    while (recent.length > 2 && atMs - (recent[0]?.atMs ?? 0) > RATE_WINDOW_MS) recent.shift()
    const text = describe({ label, count, total, perSecond: rateOf(recent), elapsedMs: atMs - startedAtMs })
    stream.write(isTerminal ? `\r${text.slice(0, (stream.columns ?? 80) - 1)}\u001b[K` : `${text}\n`)
  }
  return {
    advance: (more) => {
      count += more
      if (nowMs() - (recent.at(-1)?.atMs ?? 0) >= intervalMs) draw()
    },
    say: (line) => {
      stream.write(isTerminal ? `\r${line}\u001b[K\n` : `${line}\n`)
      if (isTerminal) draw()
    },
    done: () => {
      // What is over has one rate: the whole's.
      recent.splice(1)
      draw()
      if (isTerminal) stream.write('\n')
    },
  }
}

interface Sample {
  atMs: number
  count: number
}

/** From the oldest sample to the newest: customers go faster than orders, so the remaining time follows the last seconds. */
function rateOf(samples: readonly Sample[]): number {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || last.atMs <= first.atMs) return 0
  return ((last.count - first.count) / (last.atMs - first.atMs)) * 1000
}

interface ProgressState {
  label: string
  count: number
  total: number | undefined
  perSecond: number
  elapsedMs: number
}

function describe({ label, count, total, perSecond, elapsedMs }: ProgressState): string {
  const rate = `${number(Math.round(perSecond))}/s`
  const time = clock(elapsedMs / 1000)
  if (total === undefined) return `${label}  ${number(count)}  ${rate}  ${time}`
  const share = total === 0 ? 1 : Math.min(count / total, 1)
  const filled = Math.floor(share * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  const left = share === 1 ? `in ${time}` : perSecond === 0 ? '' : `${clock((total - count) / perSecond)} left`
  return `${label}  ${bar} ${percent}  ${number(count)} of ${number(total)}  ${rate}  ${left}`.trimEnd()
}

function number(value: number): string {
  return value.toLocaleString('en-US')
}

/** `0:07`, `12:30`, `1:02:03` */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds)
  const parts = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60]
  const shown = parts[0] === 0 ? parts.slice(1) : parts
  return shown.map((part, index) => (index === 0 ? String(part) : String(part).padStart(2, '0'))).join(':')
}
