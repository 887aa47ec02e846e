import { Counter, Gauge, Histogram, type Registry } from 'prom-client'

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
    buckets: [0.05, 0.2, 1, 5, 60, 3_600, 86_400],
    registers: [registry],
  })
  const lastRun = new Gauge({
    name: 'webhook_dispatcher_last_run_timestamp_seconds',
    help: 'When the dispatcher of this process last looked for work and succeeded, by loop: numbering, claiming. It does so each second; 0: not since the start',
    labelNames: ['loop'],
    registers: [registry],
  })
  for (const outcome of ['delivered', 'retried', 'failed']) attempts.inc({ outcome }, 0)
  for (const loop of ['numbering', 'claiming']) lastRun.set({ loop }, 0)
  return {
    ran: (loop: 'numbering' | 'claiming', at: Date) => lastRun.set({ loop }, at.getTime() / 1_000),
    attempted: (outcome: 'delivered' | 'retried' | 'failed') => attempts.inc({ outcome }),
    arrived: (duration: number) => seconds.observe(duration),
  }
}
