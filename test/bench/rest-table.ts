import type { Measurement } from './load.ts'
import { markdownTable } from './markdown-table.ts'
import type { Target } from './rest-targets.ts'

export interface CaseMeasurements {
  readonly title: string
  /** Length of our answer. */
  readonly bytes: number
  readonly connections: number
  readonly rounds: readonly Readonly<Record<Target, Measurement>>[]
}

/** A Markdown table. Ratios are medians of the rounds' own, since what is measured side by side is disturbed alike. */
export function restTable(results: readonly CaseMeasurements[]): string {
  const names = ['', 'memory ', 'pg ']
  const head = [
    'request',
    'answer',
    'at once',
    ...names.flatMap((name) => [`${name}req/s`, 'p50 ms', 'p99 ms']),
    'of memory',
    'of pg',
  ]
  return markdownTable(head, results.map(rowOf))
}

function rowOf({ title, bytes, connections, rounds }: CaseMeasurements): string[] {
  const figures = (target: Target) => {
    const of = (figure: keyof Measurement) => number(median(rounds.map((round) => round[target][figure])))
    return [of('perSecond'), of('p50Ms'), of('p99Ms')]
  }
  const ratio = (to: Target) => median(rounds.map((round) => round.ours.perSecond / round[to].perSecond))
  return [
    title,
    bytes < 1024 ? `${bytes} B` : `${number(bytes / 1024)} KB`,
    String(connections),
    ...figures('ours'),
    ...figures('memory'),
    ...figures('pg'),
    ratio('memory').toFixed(2),
    ratio('pg').toFixed(2),
  ]
}

/** Three digits are more than such a measurement means. */
export function number(value: number): string {
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 10 ? 1 : 2)
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2
}
