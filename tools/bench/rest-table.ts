import type { Measurement } from './load.ts'
import { markdownTable } from './markdown-table.ts'
import { type Baseline, baselines } from './rest-cases.ts'
import type { Target } from './rest-targets.ts'

export interface CaseMeasurements {
  readonly title: string
  /** Length of our answer. */
  readonly bytes: number
  readonly connections: number
  readonly rounds: readonly Round[]
}

/** Baselines that mean nothing for the case are missing. */
export type Round = Readonly<Partial<Record<Target, Measurement>>>

const head = ['request', 'answer', 'at once', 'req/s', 'p50 ms', 'p99 ms']

/** A Markdown table, with the baselines that its cases have. Ratios are medians of the rounds' own, since what is measured side by side is disturbed alike. */
export function restTable(results: readonly CaseMeasurements[]): string {
  const shown = baselines.filter((name) => results.some(({ rounds }) => rounds.some((round) => round[name])))
  const columns = [...head, ...shown.map((name) => `${name} req/s`), ...shown.map((name) => `of ${name}`)]
  return markdownTable(
    columns,
    results.map((result) => rowOf(result, shown)),
  )
}

function rowOf({ title, bytes, connections, rounds }: CaseMeasurements, shown: readonly Baseline[]): string[] {
  const figure = (target: Target, name: keyof Measurement) =>
    median(rounds.map((round) => round[target]?.[name] ?? NaN))
  const ratio = (to: Baseline) =>
    median(rounds.map(({ ours, [to]: other }) => (ours?.perSecond ?? NaN) / (other?.perSecond ?? NaN)))
  return [
    title,
    size(bytes),
    String(connections),
    ...(['perSecond', 'p50Ms', 'p99Ms'] as const).map((name) => number(figure('ours', name))),
    ...shown.map((name) => number(figure(name, 'perSecond'))),
    ...shown.map((name) => share(ratio(name))),
  ]
}

export function size(bytes: number): string {
  return bytes < 1024 ? `${bytes} B` : `${number(bytes / 1024)} KB`
}

/** A ratio; – for what was not measured. */
export function share(ratio: number): string {
  return Number.isNaN(ratio) ? '–' : ratio.toFixed(2)
}

/** Three digits are more than such a measurement means; – for what was not measured. */
export function number(value: number): string {
  if (Number.isNaN(value)) return '–'
  if (value >= 100) return Math.round(value).toLocaleString('en-US')
  return value.toFixed(value >= 10 ? 1 : 2)
}

/** The value of sorted ones that this share of them does not exceed; NaN where there are none. */
export function quantile(sorted: readonly number[], share: number): number {
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * share))] ?? Number.NaN
}

export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b)
  const middle = sorted.length / 2
  return ((sorted[Math.floor(middle)] ?? Number.NaN) + (sorted[Math.ceil(middle) - 1] ?? Number.NaN)) / 2
}
