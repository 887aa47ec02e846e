import type { Actor } from '../../../../src/access/audit/audit.ts'
import { createDeveloper } from '../../../../src/access/people/accounts.ts'
import { findSession, type Session, type SessionKind } from '../../../../src/access/people/sessions.ts'
import { type SignIn, signIn } from '../../../../src/access/people/sign-in.ts'
import { StoreFailure } from '../../../../src/foundation/values/failure.ts'
import { newStore, type Services } from '../../../support/access.ts'

export const password = 'correct horse battery'
export const operator: Actor = { kind: 'operator', name: '', address: '192.0.2.1' }

let serial = 0

/** An e-mail address that nobody has yet. */
export function freshEmail(): string {
  return `person-${++serial}@people.example`
}

/** A network that nothing has come from yet. */
export function freshAddress(): string {
  const number = ++serial
  return `198.18.${number >> 8}.${number & 255}`
}

export function newDeveloper(services: Services) {
  return createDeveloper(services, { Email: freshEmail(), Password: password }, operator)
}

/** A store with its merchant, whose e-mail address is like no other unless `changes` say otherwise. */
export async function newMerchant(
  services: Services,
  changes: { Email?: string; Name?: string; Password?: string } = {},
) {
  const email = changes.Email ?? freshEmail()
  const store = await newStore(services, { Email: email, Password: password, ...changes })
  const { id } = await services.db.storeUser.findFirstOrThrow({ where: { storeId: store.id } })
  return { id, email, store }
}

export async function newCustomer(services: Services, storeId: number, changes: { email?: string | null } = {}) {
  const id = ++serial
  const at = services.now()
  const names = { firstName: 'Ada', lastName: 'Lovelace', city: '', state: '', country: '', phone: '' }
  const rest = { enabled: true, createdAt: at, updatedAt: at, updatedBy: '', storeCredit: 0, details: {} }
  await services.db.customer.create({
    data: { storeId, id, email: `ada-${id}@customers.example`, ...names, ...rest, ...changes },
  })
  return id
}

/** Signs in from a network of its own, unless `input` has another. */
export function enter(services: Services, input: Partial<SignIn> & Pick<SignIn, 'kind' | 'email'>) {
  return signIn(services, { password, address: freshAddress(), userAgent: 'a browser', ...input })
}

/** Signs in, and gives the session with its token. */
export async function entered(services: Services, input: Partial<SignIn> & Pick<SignIn, 'kind' | 'email'>) {
  const { token } = await enter(services, input)
  return { token, session: await sessionOf(services, input.kind, token) }
}

/** The session that must be there. */
export async function sessionOf(services: Services, kind: SessionKind, token: string): Promise<Session> {
  const session = await findSession(services, kind, token)
  if (!session) throw new Error('No session')
  return session
}

/** How a promise that must be refused was refused. */
export async function refusal(promise: Promise<unknown>): Promise<StoreFailure> {
  const failure = await promise.catch((error: unknown) => error)
  if (!(failure instanceof StoreFailure)) throw new Error('not refused', { cause: failure })
  return failure
}

/** Everything of a refusal that the caller sees. */
export function visible({ code, status, field, faults, message, retryAfterSeconds }: StoreFailure) {
  return { code, status, field, faults, message, retryAfterSeconds }
}
