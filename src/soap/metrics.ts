import { Counter, type CounterConfiguration, Gauge, type Registry } from 'prom-client'

export interface SoapMetrics {
  /** How calls of cartAPI ended: `error` is the number of the error document, or the code of the fault; empty: neither. */
  readonly calls: Counter<'operation' | 'outcome' | 'error'>
  /** Calls that got no slot of their store's bucket. */
  readonly givenUpCalls: GivenUpCounter
}

export type GivenUpCounter = Counter<'reason'>

/** `waiting` counts the calls that wait for their turn. */
export function createSoapMetrics(registry: Registry, waiting: () => number): SoapMetrics {
  // Several applications may share one registry.
  const known = registry.getSingleMetric('cartapi_waiting_calls')
  if (!known) {
    new Gauge({
      name: 'cartapi_waiting_calls',
      help: "Calls of cartAPI that wait for a slot of their store's bucket",
      registers: [registry],
      collect() {
        this.set(waiting())
      },
    })
  }
  return {
    calls: counter(registry, {
      name: 'cartapi_calls_total',
      help: 'Calls of cartAPI, by operation (empty where none was named), outcome (result, error, fault) and what was wrong',
      labelNames: ['operation', 'outcome', 'error'],
    }),
    givenUpCalls: counter(registry, {
      name: 'cartapi_given_up_calls_total',
      help: 'Calls of cartAPI that got no slot, by reason: refused (more than 30 s to wait, or too many waiting), left (by the client), stopped (with the server)',
      labelNames: ['reason'],
    }),
  }
}

function counter<T extends string>(registry: Registry, options: CounterConfiguration<T>): Counter<T> {
  const known = registry.getSingleMetric(options.name)
  return known instanceof Counter ? known : new Counter({ ...options, registers: [registry] })
}
