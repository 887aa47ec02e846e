import type { LightMyRequestResponse } from 'fastify'
import { createDeveloper } from '../../../src/access/people.ts'
import { type TestPerson, testPerson } from '../../support/person.ts'
import type { TestServer } from '../../support/store.ts'

/** Of every store that `openStore` opens. */
export const merchantAccount = { Email: 'merchant@shop.example', Password: 'correct horse battery' }

let serial = 0

/** A merchant who has just signed in, to the store of this address or to all that the password opens. */
export async function merchantIn(server: TestServer, store?: { secureUrl: string }): Promise<TestPerson> {
  const person = testPerson(server.app)
  const query = store ? `?store=${encodeURIComponent(store.secureUrl)}` : ''
  const answer = await person.submit(`/admin/sign-in${query}`, merchantAccount, { action: '/admin/sign-in' })
  if (answer.statusCode !== 303) throw new Error(answer.body)
  return person
}

/** An account of a developer, new and without a session. */
export async function newDeveloper({ services }: TestServer) {
  const account = { Email: `developer-${++serial}@tools.example`, Password: 'correct horse battery' }
  await createDeveloper(services, account, { kind: 'operator', name: '', address: '' })
  return account
}

export async function developerIn(server: TestServer) {
  const account = await newDeveloper(server)
  const person = testPerson(server.app)
  const answer = await person.submit('/developers/sign-in', account)
  if (answer.statusCode !== 303) throw new Error(answer.body)
  return { person, account }
}

/** Where an answer leads. */
export function leadsTo({ statusCode, headers }: LightMyRequestResponse) {
  return [statusCode, headers.location]
}

/** What is said in the page's alert, without its markup. */
export function alertOf({ body }: LightMyRequestResponse): string {
  const alert = /<div class="failure"[\s\S]*?<\/div>/.exec(body)?.[0] ?? ''
  return alert
    .replace(/<[^>]*>/g, ' ')
    .replace(/\s+/g, ' ')
    .trim()
}

/** The session's cookie as it was set, if it was. */
export function cookieSet({ cookies }: LightMyRequestResponse, name: string) {
  return cookies.find((cookie) => cookie.name === name)
}

/** A page without what changes from one time to the next. */
export function steady({ body }: LightMyRequestResponse): string {
  return body.replace(/name="_csrf" value="[^"]*"/g, '').replace(/Request <code>[^<]*/g, '')
}
