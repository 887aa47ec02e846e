import { Counter, type Registry } from 'prom-client'

/** How calls of cartAPI ended: `error` is the number of the error document, or the code of the fault; empty: neither. */
export type CallCounter = Counter<'operation' | 'outcome' | 'error'>

export function createCallCounter(registry: Registry): CallCounter {
  return new Counter({
    name: 'cartapi_calls_total',
    help: 'Calls of cartAPI, by operation (empty where none was named), outcome (result, error, fault) and what was wrong',
    labelNames: ['operation', 'outcome', 'error'],
    registers: [registry],
  })
}
