import { Counter, type Registry } from 'prom-client'

const outcomes = ['sent', 'retried', 'bounced', 'failed'] as const

export type MailMetrics = ReturnType<typeof createMailMetrics>

export function createMailMetrics(registry: Registry) {
  const attempts = new Counter({
    name: 'mail_attempts_total',
    help: 'Attempts to send a mail, by outcome: sent, retried (another one follows), bounced (refused for good), failed (given up after two days)',
    labelNames: ['outcome'],
    registers: [registry],
  })
  for (const outcome of outcomes) attempts.inc({ outcome }, 0)
  return { attempted: (outcome: (typeof outcomes)[number]) => attempts.inc({ outcome }) }
}
