import type { Writable } from 'node:stream'
import { printable } from './printable.ts'

interface ProgressOptions {
  label: string
  /** Absent: unknown; neither share nor remaining time is shown. */
  total?: number
  /** Default: standard error, because standard output is for the result. */
  stream?: Writable & { isTTY?: boolean; columns?: number }
  nowMs?: () => number
}

export type Progress = ReturnType<typeof createProgress>

const BAR_WIDTH = 24
const TERMINAL_INTERVAL_MS = 100
/** In a log, lines stay. */
const PLAIN_INTERVAL_MS = 5_000
const RATE_WINDOW_MS = 10_000

/** A bar with rate and remaining time: one line that is redrawn on a terminal, a line now and then elsewhere. */
export function createProgress(options: ProgressOptions) {
  const { label, total, stream = process.stderr, nowMs = () => performance.now() } = options
  const isTerminal = stream.isTTY === true
  const intervalMs = isTerminal ? TERMINAL_INTERVAL_MS : PLAIN_INTERVAL_MS
  const startedAtMs = nowMs()
  const recent = [{ atMs: startedAtMs, count: 0 }]
  let count = 0
  let isOver = false
  const draw = () => {
    const atMs = nowMs()
    recent.push({ atMs, count })
    while (recent.length > 2 && atMs - (recent[0]?.atMs ?? 0) > RATE_WINDOW_MS) recent.shift()
    const text = `${label}  ${describe(count, total, rateOf(recent), (atMs - startedAtMs) / 1000)}`
    stream.write(isTerminal ? `\r${text.slice(0, (stream.columns ?? 80) - 1)}\u001b[K` : `${text}\n`)
  }
  const advanceTo = (done: number) => {
    count = done
    if (!isOver && nowMs() - (recent.at(-1)?.atMs ?? 0) >= intervalMs) draw()
  }
  return {
    advance: (more: number) => advanceTo(count + more),
    advanceTo,
    /** Writes a line of its own, above the bar. */
    say: (given: string) => {
      const line = printable(given)
      stream.write(isTerminal ? `\r${line}\u001b[K\n` : `${line}\n`)
      if (isTerminal && !isOver) draw()
    },
    /** Shows the final figures and ends the line; nothing is counted after it. */
    done: () => {
      // The final rate is that of the whole.
      recent.splice(1)
      draw()
      if (isTerminal) stream.write('\n')
      isOver = true
    },
    /** Counts no more, and shows nothing of what was counted. */
    end: () => {
      isOver = true
    },
  }
}

/** From the oldest sample to the newest: customers go faster than orders, so the remaining time follows the last seconds. */
function rateOf(samples: readonly { atMs: number; count: number }[]): number {
  const [first, last] = [samples[0], samples.at(-1)]
  if (!first || !last || last.atMs <= first.atMs) return 0
  return ((last.count - first.count) / (last.atMs - first.atMs)) * 1000
}

function describe(count: number, total: number | undefined, perSecond: number, elapsedSeconds: number): string {
  const rate = `${figure(Math.round(perSecond))}/s`
  const time = clock(elapsedSeconds)
  if (total === undefined) return `${figure(count)}  ${rate}  ${time}`
  const share = total === 0 ? 1 : Math.min(count / total, 1)
  const filled = Math.floor(share * BAR_WIDTH)
  const bar = '█'.repeat(filled) + '░'.repeat(BAR_WIDTH - filled)
  const percent = `${Math.floor(share * 100)}%`.padStart(4)
  const left = share === 1 ? `in ${time}` : perSecond === 0 ? '' : `${clock((total - count) / perSecond)} left`
  return `${bar} ${percent}  ${figure(count)} of ${figure(total)}  ${rate}  ${left}`.trimEnd()
}

export function figure(value: number): string {
  return value.toLocaleString('en-US')
}

/** `0:07`, `12:30`, `1:02:03` */
function clock(seconds: number): string {
  const whole = Math.ceil(seconds)
  const [hours, minutes] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60]
  const rest = String(whole % 60).padStart(2, '0')
  return hours === 0 ? `${minutes}:${rest}` : `${hours}:${String(minutes).padStart(2, '0')}:${rest}`
}
