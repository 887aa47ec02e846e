import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Access, Privileges } from '../../../../src/engine/caller.ts'
import { memberIn, merchantIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'
import { decide, openClient, queryOf } from '../../http/oauth/fixture.ts'

const server = await sharedServer({ OUTBOUND_ALLOW: '127.0.0.0/8' })
const shop = await server.openStore()
const services = { Category: ['read'], Manufacturers: ['read', 'write'] } satisfies Record<string, Access[]>
const placing = { Checkout: ['read', 'write'] } satisfies Record<string, Access[]>
const people = {
  owner: await merchantIn(server, shop.store),
  manager: await memberIn(server, shop, 'manager'),
  keys: await keeper('Keys', services),
  lender: await keeper('Lender', { ...services, ...placing }),
}

/** Somebody who may let applications in, and has these privileges. */
function keeper(Name: string, privileges: Record<string, Access[]>) {
  return memberIn(server, shop, { Name, Privileges: { Keys: ['read', 'write'], ...privileges } })
}

const wishes = { everything: null, services, placing: { ...services, ...placing } } satisfies Record<string, Privileges>
/** The operator or the developer asks, somebody of the store agrees by a page or OAuth, or the operator subscribes it. */
const step = fc.record({
  kind: fc.constantFrom('ask', 'agree', 'subscribe'),
  wish: fc.constantFrom(...Object.values(wishes)),
  isOperator: fc.boolean(),
  by: fc.constantFrom(...(Object.keys(people) as (keyof typeof people)[])),
  isByOAuth: fc.boolean(),
})
const steps = fc.array(step, { minLength: 1, maxLength: 6 })

/** Whether the privileges name Checkout. */
const names = (privileges: Privileges) => privileges !== null && 'Checkout' in privileges
/** Whether somebody of the role may give what is asked: the manager has no keys. */
const mayGive: Record<keyof typeof people, (asked: Privileges) => boolean> = {
  owner: () => true,
  manager: () => false,
  keys: (asked) => asked !== null && !names(asked),
  lender: (asked) => asked !== null,
}

test('however privileges are asked for and agreed to, only two that name Checkout let an application place orders', async () => {
  await fc.assert(
    fc.asyncProperty(steps, fc.constantFrom('existing', 'new'), async (todo, kind) => {
      const client = await openClient(server, { Kind: kind, Privileges: services })
      let asked: Privileges = services
      let agreed: Privileges | undefined
      let token = ''
      for (const step of todo) {
        if (step.kind === 'ask') {
          asked = step.wish
          const change = { Privileges: asked }
          const answer = step.isOperator
            ? await server.operate('PUT', `/admin/applications/${client.Id}`, change)
            : await client.developer.call('PUT', `/developers/applications/${client.Id}`, change)
          expect(answer.statusCode, answer.body).toBe(200)
          // The operator's replaces what stores agreed to, but for what they have to name themselves.
          if (step.isOperator && agreed !== undefined) agreed = asked && { ...services, ...(names(agreed) && placing) }
        } else if (step.kind === 'subscribe') {
          const body = { PublicKey: client.PublicKey }
          token = (await server.operate('POST', `/admin/stores/${shop.store.id}/subscriptions`, body)).json().Token
          agreed = asked
        } else {
          const person = people[step.by]
          const agreement = { PublicKey: client.PublicKey, Privileges: JSON.stringify(asked) }
          const answer =
            step.isByOAuth && step.by !== 'manager'
              ? await decide(person, queryOf(client, shop.store))
              : await person.call('POST', '/admin/modules/rest-api/subscribe', agreement)
          const isLetIn = answer.statusCode < 400
          expect([step, isLetIn]).toEqual([step, mayGive[step.by](asked)])
          if (isLetIn) agreed = asked
        }
      }
      const found = await server.database.db.subscription.findFirst({ where: { applicationId: client.Id } })
      expect(found !== null).toBe(agreed !== undefined)
      if (found === null || agreed === undefined) return
      token ||= server.services.secrets.open(found.tokenSealed)
      const answer = await server.app.inject({
        method: 'POST',
        url: '/StoreWebAPI/v1/Checkout/Quote',
        headers: { secureurl: shop.store.secureUrl, privatekey: client.PrivateKey, token },
        payload: { OrderItemList: [] },
      })
      expect([answer.statusCode, todo]).toEqual([names(asked) && names(agreed) ? 400 : 401, todo])
    }),
    { numRuns: 60 },
  )
})
