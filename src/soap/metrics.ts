import { Counter, type CounterConfiguration, Gauge, type Registry } from 'prom-client'

/** Calls that got no slot of their store's bucket. */
export type GivenUpCounter = Counter<'reason'>

export type SoapMetrics = ReturnType<typeof createSoapMetrics>

/** `waiting` counts the calls that wait for their turn. Several applications may share one registry. */
export function createSoapMetrics(registry: Registry, waiting: () => number) {
  const counter = <T extends string>(name: string, labelNames: T[], help: string): Counter<T> => {
    const options: CounterConfiguration<T> = { name, labelNames, help, registers: [registry] }
    return (registry.getSingleMetric(name) as Counter<T> | undefined) ?? new Counter(options)
  }
  if (!registry.getSingleMetric('cartapi_waiting_calls')) {
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
    calls: counter(
      'cartapi_calls_total',
      ['operation', 'outcome', 'error'],
      'Calls of cartAPI, by operation (empty where none was named), outcome (result, error, fault) and what was wrong',
    ),
    givenUpCalls: counter(
      'cartapi_given_up_calls_total',
      ['reason'],
      'Calls of cartAPI that got no slot, by reason: refused (more than 30 s to wait, or too many waiting), left (by the client), stopped (with the server)',
    ),
  }
}
