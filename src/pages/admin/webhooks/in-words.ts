import { COUNTED_MAX, type WebhookSummary } from '../../../webhooks/status.ts'

/** Where a webhook leads, as far as a list tells it: a query often holds a token. At most 80 characters. */
export function hostAndPath(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return ''
  const whole = parsed.host + (parsed.pathname === '/' ? '' : parsed.pathname) + (parsed.search && '?…')
  return whole.length > SHOWN_LENGTH_MAX ? `${whole.slice(0, SHOWN_LENGTH_MAX - 1)}…` : whole
}

const SHOWN_LENGTH_MAX = 80

/** `paused`: by the platform; `off`: by somebody. */
export function webhookState({
  enabled,
  failingSince,
  pauseReason,
}: Pick<WebhookSummary, 'enabled' | 'failingSince' | 'pauseReason'>): 'on' | 'failing' | 'paused' | 'off' {
  if (enabled) return failingSince === null ? 'on' : 'failing'
  return pauseReason === null ? 'off' : 'paused'
}

/** What a webhook's status counts, it counts to a thousand. */
export function counted(count: number): string {
  return count >= COUNTED_MAX ? '1,000 or more' : String(count)
}
