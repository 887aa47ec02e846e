import { Counter, type Registry } from 'prom-client'

/** How calls of cartAPI ended: `error` is the number of the error document, or the code of the fault; empty: neither. */
export type CallCounter = Counter<'operation' | 'outcome' | 'error'>

const NAME = 'cartapi_calls_total'

export function createCallCounter(registry: Registry): CallCounter {
  // Several applications may share one registry.
  const known = registry.getSingleMetric(NAME)
  if (known instanceof Counter) return known
  return new Counter({
    name: NAME,
    help: 'Calls of cartAPI, by operation (empty where none was named), outcome (result, error, fault) and what was wrong',
    labelNames: ['operation', 'outcome', 'error'],
    registers: [registry],
  })
}
