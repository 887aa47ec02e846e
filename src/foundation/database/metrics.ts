import { Counter, Histogram, type Registry } from 'prom-client'
import { type Show, showSampled } from '../process/sampled-figures.ts'
import type { DatabaseHealth } from './health.ts'

/** What a pool tells of itself. */
export interface PoolObserver {
  /** Shows the connections of `pool`, which opens at most `max`. */
  readonly opened: (pool: PoolCounts, max: number) => void
  /** Somebody got a connection, or gave up waiting for one, after so many seconds. */
  readonly waitedForConnection: (seconds: number) => void
  /** The same for a turn, by which no store takes all connections. */
  readonly waitedForTurn: (of: 'reads' | 'changes', seconds: number) => void
}

interface PoolCounts {
  readonly totalCount: number
  readonly idleCount: number
  readonly waitingCount: number
}

type PoolName = 'requests' | 'background'

type Health = Pick<DatabaseHealth, 'breaker'>

type OpenPools = Map<PoolName, { readonly counts: PoolCounts; readonly max: number }>

const WAIT_BUCKETS = [0.01, 0.1, 0.5, 2, 10]

/** Registers the figures of the process's connections to the database. Asks the database nothing. */
export function createDatabaseMetrics(registry: Registry, health: Health) {
  const registers = [registry]
  const pools: OpenPools = new Map()
  const connectionWait = new Histogram({
    name: 'database_pool_wait_seconds',
    help: 'Time until a statement or transaction got a connection of the pool, or gave up',
    labelNames: ['pool'],
    buckets: WAIT_BUCKETS,
    registers,
  })
  const turnWait = new Histogram({
    name: 'database_turn_wait_seconds',
    help: 'Time until a read or change of a store got its turn before it asks for a connection: no store may take all of them',
    labelNames: ['pool', 'of'],
    buckets: WAIT_BUCKETS,
    registers,
  })
  new Counter({
    name: 'database_breaker_openings_total',
    help: 'How often the database stopped answering',
    registers,
    collect() {
      this.reset()
      this.inc(health.breaker().openings)
    },
  })
  showConnections(registry, pools, health)
  return {
    pool: (pool: PoolName): PoolObserver => {
      connectionWait.zero({ pool })
      turnWait.zero({ pool, of: 'reads' })
      turnWait.zero({ pool, of: 'changes' })
      return {
        opened: (counts, max) => pools.set(pool, { counts, max }),
        waitedForConnection: (seconds) => connectionWait.observe({ pool }, seconds),
        waitedForTurn: (of, seconds) => turnWait.observe({ pool, of }, seconds),
      }
    },
  }
}

function showConnections(registry: Registry, pools: OpenPools, health: Health): void {
  const labelNames = ['pool']
  const gauges = {
    database_pool_connections: {
      help: 'Connections of the pool, by state: in_use, idle',
      labelNames: ['pool', 'state'],
    },
    database_pool_connections_max: {
      help: 'The most connections of the pool (DATABASE_CONNECTIONS, DATABASE_BACKGROUND_CONNECTIONS)',
      labelNames,
    },
    database_breaker_open: {
      help: '1 while the database does not answer, so that statements are refused immediately; otherwise 0',
    },
    database_pool_waiting: { help: 'Statements and transactions that wait for a connection of the pool', labelNames },
  }
  async function sample(show: Show): Promise<void> {
    show('database_breaker_open', Number(health.breaker().isOpen))
    for (const [pool, { counts, max }] of pools) {
      show('database_pool_connections', counts.totalCount - counts.idleCount, { pool, state: 'in_use' })
      show('database_pool_connections', counts.idleCount, { pool, state: 'idle' })
      show('database_pool_connections_max', max, { pool })
      show('database_pool_waiting', counts.waitingCount, { pool })
    }
  }
  showSampled({ gauges, sample }, { registry, onFailure: () => {}, everyMs: 0 })
}
