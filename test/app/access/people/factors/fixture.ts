import { generateSync } from 'otplib'
import { expect } from 'vitest'
import { type TestPerson, testPerson } from '../../../../support/person.ts'
import { merchantAccount } from '../../../../support/signed-in.ts'
import type { TestServer, TestStore } from '../../../../support/store.ts'

export const PERIOD_MS = 30_000

/** A person with an authenticator app. */
export interface AppOwner {
  readonly person: TestPerson
  readonly account: { readonly Email: string; readonly Password: string }
  readonly recoveryCodes: readonly string[]
  /** The code of the app, so many periods from now. */
  readonly code: (periods?: number) => string
  /** The code of the app, by the clock of another process. */
  readonly codeAt: (other: TestServer) => string
}

/** The code that an app shows now, or so many periods from now. */
export function codeOf({ clock }: TestServer, key: string, periods = 0): string {
  return generateSync({ secret: key, epoch: Math.floor((clock.ms + periods * PERIOD_MS) / 1_000) })
}

/** Sets up an authenticator app for somebody who is signed in, and lets a period pass, so that the next code is unused. */
export async function withApp(
  server: TestServer,
  person: TestPerson,
  { area = '/admin', account = merchantAccount as AppOwner['account'] } = {},
): Promise<AppOwner> {
  const setUp = `${area}/account/factors/authenticator`
  const started = await person.call('POST', setUp)
  expect(started.statusCode, started.body).toBe(200)
  const { Key } = started.json()
  const confirmed = await person.call('POST', `${setUp}/confirm`, { Code: codeOf(server, Key).replace(/(...)/, '$1-') })
  expect(confirmed.statusCode, confirmed.body).toBe(200)
  server.clock.ms += PERIOD_MS
  const { RecoveryCodes: recoveryCodes } = confirmed.json()
  const code = (periods = 0) => codeOf(server, Key, periods)
  return { person, account, recoveryCodes, code, codeAt: (other) => codeOf(other, Key) }
}

let serial = 0

/** A store whose owner has an e-mail address of their own. */
export async function openStoreOf(server: TestServer) {
  const shop = await server.openStore()
  const account = { ...merchantAccount, Email: `owner-${++serial}@factors.example` }
  await server.services.db.identity.updateMany({
    where: { users: { some: { storeId: shop.store.id } } },
    data: { email: account.Email },
  })
  return { shop, account }
}

/** The owner of a new store, signed in. */
export async function newOwner(server: TestServer) {
  const { shop, account } = await openStoreOf(server)
  const person = testPerson(server.app)
  const answer = await person.submit('/admin/sign-in', account)
  expect(answer.statusCode, answer.body).toBe(303)
  return { shop, account, person }
}

/** The owner of a new store with an authenticator app, signed in. */
export async function newAppOwner(server: TestServer): Promise<AppOwner & { readonly shop: TestStore }> {
  const { shop, account, person } = await newOwner(server)
  return { shop, ...(await withApp(server, person, { account })) }
}

/** A browser that has shown the password, and is asked for the second factor. */
export async function halfway(server: TestServer, account: object, area = '/admin'): Promise<TestPerson> {
  const person = testPerson(server.app)
  const answer = await person.submit(`${area}/sign-in`, { ...account })
  expect([answer.statusCode, String(answer.headers.location).split('?')[0]]).toEqual([303, `${area}/sign-in/factor`])
  return person
}

/** Sends a code from a browser that is halfway; the answer's status. */
export async function sendCode(person: TestPerson, code: string, area = '/admin') {
  return person.submit(`${area}/sign-in/factor`, { Code: code })
}

/** Signs in as a program does. */
export function signInByProgram(server: TestServer, body: object, area = '/admin') {
  return testPerson(server.app).call('POST', `${area}/sign-in`, body)
}
