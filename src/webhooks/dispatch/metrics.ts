import { Counter, Histogram, type Registry } from 'prom-client'

export type DispatcherMetrics = ReturnType<typeof createDispatcherMetrics>

export function createDispatcherMetrics(registry: Registry) {
  const attempts = new Counter({
    name: 'webhook_attempts_total',
    help: 'Attempts to deliver an event to a webhook, by outcome: delivered, retried (another one follows), failed',
    labelNames: ['outcome'],
    registers: [registry],
  })
  const seconds = new Histogram({
    name: 'webhook_delivery_seconds',
    help: 'Time from an event to the answer of the webhook that took it, retries included',
    buckets: [0.01, 0.025, 0.05, 0.1, 0.2, 0.5, 1, 2.5, 5, 15, 60, 600, 3_600, 86_400],
    registers: [registry],
  })
  return {
    attempted: (outcome: 'delivered' | 'retried' | 'failed') => attempts.inc({ outcome }),
    arrived: (duration: number) => seconds.observe(duration),
  }
}
