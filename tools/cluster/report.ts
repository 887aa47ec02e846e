import type { Sent } from './load.ts'

/** Such as `1.2 s`. */
export function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}

/** How many requests ended how, such as `3 × 503`. */
export function countsOf(failed: readonly Sent[]): string {
  const counts = new Map<string, number>()
  for (const { status } of failed) {
    const name = status === null ? 'no answer' : String(status)
    counts.set(name, (counts.get(name) ?? 0) + 1)
  }
  return [...counts].map(([name, count]) => `${count} × ${name}`).join(', ') || 'none'
}

/** What the first of them were answered. */
export function firstOf(failed: readonly Sent[]): string {
  return failed
    .slice(0, 3)
    .map(({ status, text }) => `${status ?? 'no answer'} ${text.slice(0, 200)}`)
    .join('; ')
}
