import { setTimeout as delay } from 'node:timers/promises'
import { Gauge, type Registry } from 'prom-client'

/** Shows one value; the gauge must be one of the declared ones. */
export type Show = (gauge: string, value: number, labels?: Readonly<Record<string, string>>) => void

export interface SampledFigures {
  /** By name, which includes the unit. */
  readonly gauges: Readonly<Record<string, { readonly help: string; readonly labelNames?: readonly string[] }>>
  /** Finds the values. Whatever it showed before it fails is shown. */
  readonly sample: (show: Show) => Promise<void>
}

/** How long a scrape waits for a sample. */
const WAIT_MS = 2_000

interface Options {
  readonly registry: Registry
  /** Gets what `sample` throws, unless the one before failed too. */
  readonly onFailure: (error: unknown) => void
  /** The shortest time between two samples; default: 15 s. */
  readonly everyMs?: number
}

/**
 * Registers gauges whose values take a while to find. They are sampled when somebody scrapes, at most every 15 s and one sample
 * at a time, whatever the number of scrapes. A scrape never fails because of them and waits 2 s at most: values that are not
 * found by then are absent.
 */
export function showSampled({ gauges, sample }: SampledFigures, options: Options): void {
  const { registry, onFailure, everyMs = 15_000 } = options
  const values: Parameters<Show>[] = []
  let startedAtMs = Number.NEGATIVE_INFINITY
  let hasFailed = false
  let running: Promise<void> | undefined
  let shown: Promise<void> = Promise.resolve()

  const show: Show = (...value) => values.push(value)

  async function run(): Promise<void> {
    try {
      await sample(show)
      hasFailed = false
    } catch (error) {
      if (!hasFailed) onFailure(error)
      hasFailed = true
    } finally {
      running = undefined
    }
  }

  function refreshed(): Promise<void> {
    if (running === undefined && performance.now() - startedAtMs >= everyMs) {
      startedAtMs = performance.now()
      values.length = 0
      running = run()
      shown = Promise.race([running, delay(WAIT_MS, undefined, { ref: false })])
    }
    return shown
  }

  for (const [name, { help, labelNames = [] }] of Object.entries(gauges)) {
    new Gauge({
      name,
      help,
      labelNames: [...labelNames],
      registers: [registry],
      async collect() {
        await refreshed()
        this.reset()
        // Without labels a gauge begins with 0, which would be a value.
        if (labelNames.length === 0) this.remove()
        for (const [gauge, value, labels = {}] of values) if (gauge === name) this.set(labels, value)
      },
    })
  }
}
