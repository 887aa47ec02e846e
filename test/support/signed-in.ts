import { createDeveloper } from '../../src/access/people/accounts.ts'
import { issueCustomerToken } from '../../src/access/people/customer-tokens.ts'
import { inviteOperator } from '../../src/access/people/operators.ts'
import type { Access } from '../../src/engine/caller.ts'
import type { BuiltInRole } from '../../src/shop/staff/roles.ts'
import { ownRoleInput, saveRole } from '../../src/shop/staff/store-roles.ts'
import { operator } from './actors.ts'
import { type TestPerson, testPerson } from './person.ts'
import { operatorKey } from './services.ts'
import type { TestServer, TestStore } from './store.ts'

/** Of every store that `openStore` opens. */
export const merchantAccount = { Email: 'merchant@shop.example', Password: 'correct horse battery' }

let serial = 0

/** A merchant who has just signed in, to the store of this address or to all that the password opens. */
export async function merchantIn({ app }: Pick<TestServer, 'app'>, store?: { secureUrl: string }): Promise<TestPerson> {
  const person = testPerson(app)
  const query = store ? `?store=${encodeURIComponent(store.secureUrl)}` : ''
  const { statusCode, body } = await person.submit(`/admin/sign-in${query}`, merchantAccount, {
    action: '/admin/sign-in',
  })
  if (statusCode !== 303) throw new Error(`The merchant could not sign in: ${statusCode} ${body}`)
  return person
}

/** Lets somebody who is signed in show the password again, after the clock was moved by more than 15 minutes. */
export async function proveAgain(
  person: TestPerson,
  area: '/admin' | '/developers' | '/operator' = '/admin',
): Promise<void> {
  const { statusCode, body } = await person.call('POST', `${area}/prove`, { Password: merchantAccount.Password })
  if (statusCode !== 204) throw new Error(`The password was not taken: ${statusCode} ${body}`)
}

/** A role of a store's own. */
export interface OwnRole {
  readonly Name: string
  readonly Privileges: Readonly<Record<string, readonly Access[]>>
}

/** Somebody new of a store who has this role, built in or the store's own, signed in. */
export async function memberIn(
  { app, services }: Pick<TestServer, 'app' | 'services'>,
  { store }: Pick<TestStore, 'store'>,
  role: BuiltInRole | OwnRole,
): Promise<TestPerson> {
  const Role = typeof role === 'string' ? role : role.Name
  if (typeof role !== 'string') {
    const by = { actor: operator, userId: null }
    await saveRole(services, { storeId: store.id, id: null }, ownRoleInput.parse(role), by)
  }
  const account = { Email: `member-${++serial}@staff.example`, Password: 'correct horse battery' }
  const added = await app.inject({
    method: 'POST',
    url: `/admin/stores/${store.id}/users`,
    headers: { authorization: `Bearer ${operatorKey}` },
    payload: { ...account, Role },
  })
  const person = testPerson(app)
  const { statusCode, body } = await person.submit('/admin/sign-in', account)
  if (statusCode !== 303) throw new Error(`${Role} could not sign in: ${added.body} ${statusCode} ${body}`)
  return person
}

/** An account of a developer, new and without a session. */
export async function newDeveloper({ services }: TestServer) {
  const account = { Email: `developer-${++serial}@tools.example`, Password: 'correct horse battery' }
  await createDeveloper(services, account, operator)
  return account
}

export interface TestDeveloper extends TestPerson {
  readonly account: { readonly Email: string; readonly Password: string }
  /** Signs in anew; after a day has passed, the session has ended. */
  readonly signIn: () => Promise<void>
}

/** A developer with an account of its own, signed in. */
export async function developerIn(server: TestServer): Promise<TestDeveloper> {
  const account = await newDeveloper(server)
  const person = testPerson(server.app)
  const signIn = async () => {
    const { statusCode, body } = await person.submit('/developers/sign-in', account)
    if (statusCode !== 303) throw new Error(`The developer could not sign in: ${statusCode} ${body}`)
  }
  await signIn()
  return { ...person, account, signIn }
}

/** A person who runs the installation, who has just chosen a password and signed in. */
export async function operatorIn(
  server: TestServer,
): Promise<TestPerson & { readonly account: { Email: string; Password: string } }> {
  const account = { Email: `operator-${++serial}@server.example`, Password: 'correct horse battery' }
  const { link } = await inviteOperator(server.services, account.Email, operator)
  const person = testPerson(server.app)
  const { pathname, search } = new URL(link)
  const chosen = { Password: account.Password }
  const set = await person.submit(pathname + search, chosen, { action: '/operator/reset/password' })
  if (set.statusCode !== 303) throw new Error(`The operator could not choose a password: ${set.statusCode} ${set.body}`)
  const { statusCode, body } = await person.submit('/operator/sign-in', account)
  if (statusCode !== 303) throw new Error(`The operator could not sign in: ${statusCode} ${body}`)
  return { ...person, account }
}

/** A new customer of a store, who has followed a link that signs in. */
export async function customerIn({ app, services }: TestServer, shop: TestStore): Promise<TestPerson> {
  const Email = `customer-${++serial}@customers.example`
  const added = await shop.call('POST', '/Customers', { body: { Email, Password: 'secret' } })
  const [{ Value }] = added.json()
  const { url } = await issueCustomerToken({ ...services, publicUrl: services.config.publicUrl }, shop.caller, {
    customerId: Number(Value),
    minutes: 5,
  })
  const person = testPerson(app)
  const { pathname, search } = new URL(url)
  const { statusCode, body } = await person.submit(pathname + search, {}, { action: '/account/sign-in' })
  if (statusCode !== 303) throw new Error(`The customer could not sign in: ${statusCode} ${body}`)
  return person
}
