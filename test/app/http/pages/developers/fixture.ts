import { subscribe } from '../../../../../src/access/applications/subscriptions/subscriptions.ts'
import { createStore } from '../../../../../src/access/people/create-store.ts'
import type { Store } from '../../../../../src/access/stores/stores.ts'
import { storeInput } from '../../../../support/access.ts'
import { operator } from '../../../../support/actors.ts'
import type { TestPerson } from '../../../../support/person.ts'
import type { TestServer } from '../../../../support/store.ts'

let serial = 0

/** The developers' record of an application. */
export interface ApplicationRecord {
  readonly Id: number
  readonly Name: string
  readonly Kind: 'existing' | 'new'
  readonly PublicKey: string
  readonly PrivateKey: string
  readonly FormerPrivateKeyUntil: string | null
  readonly CallBackURL: string | null
  readonly CallBackSecret: string
  readonly Erasures: boolean
  readonly RedirectURIs: readonly string[]
  readonly Privileges: Record<string, string[]> | null
  readonly DateCreated: string
}

/** An application, registered by JSON. */
export async function registered(developer: TestPerson, body: object = {}): Promise<ApplicationRecord> {
  const answer = await developer.call('POST', '/developers/applications', { Name: 'App', ...body })
  if (answer.statusCode !== 201) throw new Error(`Not registered: ${answer.body}`)
  return answer.json()
}

export async function read(developer: TestPerson, { Id }: { Id: number }): Promise<ApplicationRecord> {
  const answer = await developer.call('GET', `/developers/applications/${Id}`)
  if (answer.statusCode !== 200) throw new Error(`Not read: ${answer.body}`)
  return answer.json()
}

export interface UsedBy {
  readonly store: Store
  readonly token: string
  /** The status of a call to the API with this private key. */
  readonly status: (privateKey: string, method?: 'GET' | 'POST', service?: string) => Promise<number>
}

/** A store that has subscribed to the application. */
export async function usedBy(
  { app, services }: TestServer,
  { PublicKey: publicKey }: { PublicKey: string },
  name = `Shop of developers ${++serial}`,
): Promise<UsedBy> {
  const store = await createStore(services, { ...storeInput(), Name: name })
  const { token } = await subscribe(services, { storeId: store.id, publicKey, actor: operator })
  return {
    store,
    token,
    status: async (privateKey, method = 'GET', service = 'Products') => {
      const answer = await app.inject({
        method,
        url: `/StoreWebAPI/v1/${service}`,
        headers: { secureurl: store.secureUrl, privatekey: privateKey, token },
        ...(method === 'POST' && { payload: [] }),
      })
      return answer.statusCode
    },
  }
}

/** What the developer's log has of an application, the oldest first. */
export async function logged({ services: { db } }: TestServer, { Id }: { Id: number }) {
  const entries = await db.auditEntry.findMany({ where: { applicationId: Id }, orderBy: { id: 'asc' } })
  return entries.map(({ action, actorKind, target, details, storeId }) => ({
    action,
    actorKind,
    target,
    details,
    storeId,
  }))
}
