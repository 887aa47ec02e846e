import { registerApplication } from '../../../../src/access/applications/applications.ts'
import type { Authenticator, Credentials } from '../../../../src/access/applications/authenticate.ts'
import type { Subscribing } from '../../../../src/access/applications/subscriptions/subscriptions.ts'
import { createStore } from '../../../../src/access/people/create-store.ts'
import type { CreateStore } from '../../../../src/access/stores/create-store.ts'
import type { Db } from '../../../../src/foundation/database/client.ts'
import { storeInput } from '../../../support/access.ts'

type Services = Subscribing & CreateStore & { authenticator: Authenticator; db: Db }

export const merchant = { kind: 'merchant', name: 'merchant@shop.example', address: '203.0.113.9' } as const

let serial = 0

/** A store, and an application that wants to be asked at `callbackUrl`; null: that does not. */
export async function storeAndApplication(services: Services, callbackUrl: string | null) {
  const store = await createStore(services, storeInput())
  const { id } = await registerApplication(services, { Name: `Application ${++serial}` })
  const application = await services.db.application.update({ where: { id }, data: { callbackUrl } })
  return {
    store,
    application,
    wanted: { storeId: store.id, publicKey: application.publicKey, actor: merchant },
    pair: { storeId: store.id, applicationId: application.id },
  }
}

export type Scene = Awaited<ReturnType<typeof storeAndApplication>>

/** Everything that joins the store and the application. */
export async function leftOf({ db }: Services, { pair }: Scene) {
  const [subscriptions, handshakes, notices] = await Promise.all([
    db.subscription.count({ where: pair }),
    db.handshake.count({ where: pair }),
    db.removalNotice.count({ where: pair }),
  ])
  return { subscriptions, handshakes, notices }
}

export const nothing = { subscriptions: 0, handshakes: 0, notices: 0 }

/** The actions of the audit log about the pair, oldest first, with what they tell. */
export async function auditOf({ db }: Services, { pair }: Scene) {
  const rows = await db.auditEntry.findMany({ where: pair, orderBy: { id: 'asc' } })
  return rows.map(({ action, actor, details }) => ({ action, actor, details }))
}

/** What a call with the subscription's token carries. */
export function credentialsWith({ secrets }: Services, { store, application }: Scene, token: string): Credentials {
  return { secureUrl: store.secureUrl, privateKey: secrets.open(application.privateKeySealed), token }
}

/** The status with which a call with the subscription's token would be answered. */
export async function statusWith(services: Services, scene: Scene, token: string): Promise<number> {
  return services.authenticator.authenticate(credentialsWith(services, scene, token)).then(
    () => 200,
    (error) => error.status,
  )
}
