import { Registry } from 'prom-client'
import { afterAll } from 'vitest'
import { recordsToXml } from '../../src/http/rest/xml.ts'
import { resourceNamed } from '../../src/shop/registry.ts'
import { Dispatcher } from '../../src/shop/webhooks/dispatch/dispatcher.ts'
import { createDispatcherMetrics } from '../../src/shop/webhooks/dispatch/metrics.ts'
import type { TestServer } from './store.ts'

/** A dispatcher of the server, which sends what is due when a test has it settle. */
export function dispatcherOf({ services }: TestServer): Dispatcher {
  return new Dispatcher({
    ...services,
    metrics: createDispatcherMetrics(new Registry()),
    toXml: (service, record) => recordsToXml([record], resourceNamed(service)),
  })
}

/** One for all tests of a file, which is stopped after them, as are the server's requests to others. */
export function sharedDispatcher(server: TestServer): Dispatcher {
  const dispatcher = dispatcherOf(server)
  afterAll(async () => {
    await dispatcher.stop()
    await server.services.outbound.close()
  })
  return dispatcher
}
