import type { FastifyRequest } from 'fastify'
import type { Actor } from '../audit/audit.ts'
import type { Db } from '../database/client.ts'
import type { Caller } from '../engine/caller.ts'
import type { Person, Session } from '../people/sessions.ts'
import { operatorCaller } from '../stores/stores.ts'

type PersonOf<Kind extends Person['kind']> = Extract<Person, { kind: Kind }>

const ACTOR_LENGTH_MAX = 50

export interface CallerServices {
  db: Db
  now: () => Date
}

/** Returns the merchant that the guard admitted. */
export function merchantOf(request: FastifyRequest): PersonOf<'merchant'> {
  return personOf(request, 'merchant')
}

/** Returns the developer that the guard admitted. */
export function developerOf(request: FastifyRequest): PersonOf<'developer'> {
  return personOf(request, 'developer')
}

/** Returns the customer that the guard admitted. */
export function customerOf(request: FastifyRequest): PersonOf<'customer'> {
  return personOf(request, 'customer')
}

function personOf<Kind extends Person['kind']>(request: FastifyRequest, kind: Kind): PersonOf<Kind> {
  const { person } = sessionOf(request)
  if (person.kind !== kind) throw new Error(`${request.routeOptions.url} is not for a ${person.kind}`)
  return person as PersonOf<Kind>
}

/** Returns the session that the guard admitted. Only for routes that require a session. */
export function sessionOf({ session, routeOptions }: FastifyRequest): Session {
  if (session === null) throw new Error(`${routeOptions.url} is open to others than persons with a session`)
  return session
}

/** Returns the principal of the request. Only for routes that require one. */
export function actorOf({ actor, routeOptions }: FastifyRequest): Actor {
  if (actor === null) throw new Error(`${routeOptions.url} is open to anyone`)
  return actor
}

/** Returns the caller for a store: the operator or the signed-in merchant. Throws for an unknown id (404). */
export async function storeCaller(request: FastifyRequest, services: CallerServices, storeId: number): Promise<Caller> {
  return request.session === null ? operatorCaller(services, storeId) : merchantCaller(request, services)
}

/** Returns the caller for the signed-in merchant in the store of the session, with all privileges. */
export function merchantCaller(request: FastifyRequest, { db, now }: CallerServices): Caller {
  const { store, email } = merchantOf(request)
  const actor = email.slice(0, ACTOR_LENGTH_MAX).toWellFormed()
  return { store, application: null, channel: 'administration', privileges: null, actor, db, now }
}
