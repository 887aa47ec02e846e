import { COUNTED_MAX, type WebhookSummary } from '../../../webhooks/status.ts'

/** Returns a webhook's address for lists, without the query, which often holds a token. At most 80 characters. */
export function hostAndPath(url: string): string {
  const parsed = URL.parse(url)
  if (parsed === null) return ''
  const whole = parsed.host + (parsed.pathname === '/' ? '' : parsed.pathname) + (parsed.search && '?…')
  return whole.length > SHOWN_LENGTH_MAX ? `${whole.slice(0, SHOWN_LENGTH_MAX - 1)}…` : whole
}

const SHOWN_LENGTH_MAX = 80

/** `paused`: by the platform; `off`: by a person or program. */
export function webhookState({
  enabled,
  failingSince,
  pauseReason,
}: Pick<WebhookSummary, 'enabled' | 'failingSince' | 'pauseReason'>): 'on' | 'failing' | 'paused' | 'off' {
  if (enabled) return failingSince === null ? 'on' : 'failing'
  return pauseReason === null ? 'off' : 'paused'
}

/** Formats a count of a webhook's status, which stops at a thousand. */
export function counted(count: number): string {
  return count >= COUNTED_MAX ? '1,000 or more' : String(count)
}
