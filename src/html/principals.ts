import type { FastifyRequest } from 'fastify'
import type { Actor } from '../audit/audit.ts'
import type { Db } from '../database/client.ts'
import type { Caller } from '../engine/caller.ts'
import type { Person, Session } from '../people/sessions.ts'
import { operatorCaller } from '../stores/stores.ts'

type PersonOf<Kind extends Person['kind']> = Extract<Person, { kind: Kind }>

const ACTOR_LENGTH_MAX = 50

/** What a caller is made of. */
export interface CallerServices {
  db: Db
  now: () => Date
}

/** The merchant whom the guard let in. */
export function merchantOf(request: FastifyRequest): PersonOf<'merchant'> {
  return personOf(request, 'merchant')
}

/** The developer whom the guard let in. */
export function developerOf(request: FastifyRequest): PersonOf<'developer'> {
  return personOf(request, 'developer')
}

/** The customer whom the guard let in. */
export function customerOf(request: FastifyRequest): PersonOf<'customer'> {
  return personOf(request, 'customer')
}

function personOf<Kind extends Person['kind']>(request: FastifyRequest, kind: Kind): PersonOf<Kind> {
  const { person } = sessionOf(request)
  if (person.kind !== kind) throw new Error(`${request.routeOptions.url} is not for a ${person.kind}`)
  return person as PersonOf<Kind>
}

/** The session of whom the guard let in; for routes that are of a person alone. */
export function sessionOf({ session, routeOptions }: FastifyRequest): Session {
  if (session === null) throw new Error(`${routeOptions.url} is open to others than persons with a session`)
  return session
}

/** Who does what the request does; for routes that are not for anyone. */
export function actorOf({ actor, routeOptions }: FastifyRequest): Actor {
  if (actor === null) throw new Error(`${routeOptions.url} is open to anyone`)
  return actor
}

/** The operator, or the merchant who is signed in, at work in a store. Refuses an id that no store has (404). */
export async function storeCaller(request: FastifyRequest, services: CallerServices, storeId: number): Promise<Caller> {
  return request.session === null ? operatorCaller(services, storeId) : merchantCaller(request, services)
}

/** The merchant who is signed in, at work in the store of the session: everything is allowed. */
export function merchantCaller(request: FastifyRequest, { db, now }: CallerServices): Caller {
  const { store, email } = merchantOf(request)
  const actor = email.slice(0, ACTOR_LENGTH_MAX).toWellFormed()
  return { store, application: null, channel: 'administration', privileges: null, actor, db, now }
}
