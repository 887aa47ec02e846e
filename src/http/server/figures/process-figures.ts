import { X509Certificate } from 'node:crypto'
import { totalmem } from 'node:os'
import type { Registry } from 'prom-client'
import type { DatabaseHealth } from '../../../foundation/database/health.ts'
import { knownMigrations } from '../../../foundation/database/migration.ts'
import { type Show, showSampled } from '../../../foundation/process/sampled-figures.ts'
import { programVersion } from '../../../foundation/process/version.ts'

interface ProcessFigures {
  readonly databaseHealth: Pick<DatabaseHealth, 'fault'>
  readonly isStopping: () => boolean
  readonly tls: { readonly cert: string } | null
}

/** As fresh as what a balancer gets from `/readyz`. */
const READY_MS = 1_000

/** Registers what a process is, whether it is ready, and what limits it. */
export function showProcess(registry: Registry, { databaseHealth, isStopping, tls }: ProcessFigures): void {
  const schema = knownMigrations().toSorted().at(-1) ?? ''
  const expiresAt = tls && Date.parse(new X509Certificate(tls.cert).validTo) / 1_000
  const gauges = {
    store_platform_info: {
      help: '1, with the version of the server and the last migration that it needs',
      labelNames: ['version', 'schema'],
    },
    store_platform_ready: { help: '1 while changes can be stored, as /readyz answers; otherwise 0' },
    process_memory_limit_bytes: {
      help: 'The memory that the process and others of its container may have together, or that of the machine where no container limits it',
    },
    tls_certificate_expiry_timestamp_seconds: {
      help: 'When the certificate of TLS_CERT_FILE that the process has read expires',
    },
  }
  async function sample(show: Show): Promise<void> {
    show('store_platform_info', 1, { version: programVersion, schema })
    // 0 or more than the machine has: no limit.
    show('process_memory_limit_bytes', Math.min(process.constrainedMemory() || Number.POSITIVE_INFINITY, totalmem()))
    if (expiresAt !== null) show('tls_certificate_expiry_timestamp_seconds', expiresAt)
    // Stands while nothing else is known.
    show('store_platform_ready', 0)
    const isReady = !isStopping() && (await databaseHealth.fault('changes')) === null
    show('store_platform_ready', Number(isReady))
  }
  showSampled({ gauges, sample }, { registry, onFailure: () => {}, everyMs: READY_MS })
}
