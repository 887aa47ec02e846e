import { type Application, registerApplication } from '../../src/access/applications/applications.ts'
import { createAuthenticator } from '../../src/access/applications/authenticate.ts'
import { createThrottle } from '../../src/access/applications/limits/throttle.ts'
import { subscribe } from '../../src/access/applications/subscriptions/subscriptions.ts'
import { createStore, newStore as newStoreInput } from '../../src/access/people/create-store.ts'
import type { Store } from '../../src/access/stores/stores.ts'
import { createOutbound } from '../../src/foundation/outbound/outbound.ts'
import { readConfig } from '../../src/foundation/process/settings.ts'
import { readInput } from '../../src/foundation/values/input.ts'
import { createSecrets } from '../../src/foundation/values/secrets.ts'
import { operator } from './actors.ts'
import { type TestDatabase, workerDatabase } from './database.ts'

/** The worker's database or another, and what the functions of accounts, applications and subscriptions are handed, with a clock that stands. */
export async function openAccess(openDatabase: () => Promise<TestDatabase> = workerDatabase) {
  const { url, db, drop } = await openDatabase()
  const clock = { ms: Date.parse('2026-03-01T12:00:00Z') }
  const now = () => new Date(clock.ms)
  const secrets = createSecrets('a secret key for tests alone, 32+')
  const services = {
    db,
    now,
    secrets,
    config: readConfig({ SANDBOX: 'no' }),
    authenticator: createAuthenticator({ db, secrets, now }),
    throttle: createThrottle(now),
    outbound: createOutbound({ allow: ['127.0.0.0/8'] }),
    defaultTimeZone: 'America/New_York',
  }
  return { url, close: drop, clock, services }
}

export type Services = Awaited<ReturnType<typeof openAccess>>['services']

let serial = 0

/** A store, an application and the subscription that joins them, each unlike all others. */
export async function subscribed(
  services: Services,
): Promise<{ store: Store; application: Application; token: string; subscriptionId: number }> {
  const store = await newStore(services)
  const application = await registerApplication(services, { Name: `Application ${++serial}` })
  const { id, token } = await subscribe(services, {
    storeId: store.id,
    publicKey: application.publicKey,
    actor: operator,
  })
  return { store, application, token, subscriptionId: id }
}

export function newStore(services: Services, changes: Record<string, unknown> = {}): Promise<Store> {
  return createStore(services, readInput(newStoreInput, { ...storeInput(), ...changes }))
}

export function storeInput() {
  return {
    Name: 'A shop',
    SecureURL: `https://new-shop-${++serial}.example`,
    Email: 'merchant@shop.example',
    Password: 'correct horse battery',
  }
}
