import { refuseNamesAsPassword } from '../../access/people/passwords.ts'
import type { Privileges } from '../../engine/caller.ts'
import { orRefusal, StoreFailure } from '../../foundation/values/failure.ts'
import { Refusal, type Server } from '../server.ts'
import { fields } from './fields.ts'
import type { Form } from './form.ts'
import {
  type Application,
  applicationWithId,
  findStore,
  findSubscription,
  openStore,
  registerApplication,
  type Store,
  subscribe,
} from './installation.ts'
import type { Prompt } from './prompt.ts'

export interface Opened {
  readonly store: Store
  /** Null: the store was there already. A password that a person chose is not repeated. */
  readonly merchant: { readonly email: string; readonly madePassword: string | null } | null
  readonly application: Application
  readonly token: string
  readonly isTokenBrought: boolean
  /** Whether the application was made now, rather than found. */
  readonly isNewApplication: boolean
}

export interface Opening {
  readonly server: Server
  readonly prompt: Prompt
  readonly form: Form
  readonly isPasswordMade: boolean
  readonly timeZone: string
}

const CURRENCY_DEFAULT = 'USD'
const APPLICATION_DEFAULT = 'Integration'

/** Makes what is missing of a store with its merchant, an application, and the subscription that joins them. */
export async function open(opening: Opening): Promise<Opened> {
  const { store, merchant } = await ensureStore(opening)
  return { store, merchant, ...(await ensureApplication(opening, store)) }
}

async function ensureStore(opening: Opening): Promise<Pick<Opened, 'store' | 'merchant'>> {
  const { server, prompt, form } = opening
  for (;;) {
    const url = await form.require(fields.url)
    const store = await findStore(server, url)
    if (store !== undefined) {
      prompt.say(`The store ${store.Id}, ${store.Name}, has this address already and stays as it is.`)
      return { store, merchant: null }
    }
    try {
      return await makeStore(opening, url)
    } catch (error) {
      const field = error instanceof Refusal && Object.values(fields).find(({ member }) => member === error.field)
      if (!field) throw error
      form.refuse(field, error.message)
    }
  }
}

async function makeStore({ server, form, isPasswordMade, timeZone }: Opening, SecureURL: string) {
  const Name = await form.require(fields.name)
  const Email = await form.require(fields.email)
  const { password, isMade } = await form.password(isPasswordMade, (given) => {
    const refused = orRefusal(() => refuseNamesAsPassword(given, { email: Email, storeName: Name }))
    return refused instanceof StoreFailure ? refused.message : null
  })
  const Currency = await form.withDefault(fields.currency, CURRENCY_DEFAULT)
  const TimeZone = await form.withDefault(fields.timeZone, timeZone)
  const store = await openStore(server, { Name, SecureURL, Email, Password: password, Currency, TimeZone })
  return { store, merchant: { email: Email, madePassword: isMade ? password : null } }
}

async function ensureApplication({ server, form }: Opening, { Id: storeId }: Store) {
  const Name = await form.withDefault(fields.application, APPLICATION_DEFAULT)
  const subscription = await findSubscription(server, storeId, Name)
  if (subscription !== undefined) {
    const application = await applicationWithId(server, subscription.ApplicationId)
    const { Token: token, DateTokenBrought } = subscription
    return { application, token, isTokenBrought: DateTokenBrought !== null, isNewApplication: false }
  }
  const Privileges: Privileges = await form.withDefault(fields.privileges, 'all')
  const application = await registerApplication(server, storeId, { Name, Privileges })
  const token = await subscribe(server, storeId, application.PublicKey)
  return { application, token, isTokenBrought: false, isNewApplication: true }
}
