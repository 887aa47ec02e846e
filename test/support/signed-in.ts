import { createDeveloper } from '../../src/people/accounts.ts'
import { operator } from './actors.ts'
import { type TestPerson, testPerson } from './person.ts'
import type { TestServer } from './store.ts'

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
