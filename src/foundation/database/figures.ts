import type { SampledFigures, Show } from '../process/sampled-figures.ts'
import { type Db, inTransaction, queryRows, type Transaction } from './client.ts'

/** Gauges whose values the database knows. */
export interface DatabaseFigures {
  readonly gauges: SampledFigures['gauges']
  /** Reads the values in a transaction that only reads, and whose statements have 1.5 s. None may read a large table whole. */
  readonly ask: (tx: Transaction, show: Show, at: Date) => Promise<void>
}

const STATEMENT_MS_MAX = 1_500
/** Their turn among the changes (`inTransaction`) is that of no store, so that they hold up no other work of the background. */
const NO_STORE_ELSE = -1

/** Joins figures into one sample, which asks one after another. What fails does not keep the others away. */
export function askDatabase(
  { db, now }: { db: Db; now: () => Date },
  parts: readonly DatabaseFigures[],
): SampledFigures {
  async function ask(part: DatabaseFigures, show: Show): Promise<void> {
    await inTransaction(
      db,
      async (tx) => {
        // Plans are made once, when tables may be small, and would read all that there will ever be.
        await queryRows(tx)`
          SELECT set_config('statement_timeout', ${String(STATEMENT_MS_MAX)}, true), set_config('enable_seqscan', 'off', true),
            set_config('transaction_read_only', 'on', true)`
        await part.ask(tx, show, now())
      },
      { storeId: NO_STORE_ELSE },
    )
  }
  return {
    gauges: Object.assign({}, ...parts.map(({ gauges }) => gauges)),
    sample: async (show) => {
      const failures: unknown[] = []
      for (const part of parts) await ask(part, show).catch((error) => failures.push(error))
      if (failures.length > 0) throw failures[0]
    },
  }
}
