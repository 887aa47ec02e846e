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
  keys: await memberIn(server, shop, { Name: 'Keys', Privileges: { Keys: ['read', 'write'], ...services } }),
  lender: await memberIn(server, shop, {
    Name: 'Lender',
    Privileges: { Keys: ['read', 'write'], ...services, ...placing },
  }),
}

const wishes = { everything: null, services, placing: { ...services, ...placing } } satisfies Record<string, Privileges>
const steps = fc.array(
  fc.oneof(
    fc.record({
      kind: fc.constant('ask' as const),
      wish: fc.constantFrom(...Object.values(wishes)),
      by: fc.constantFrom('operator' as const, 'developer' as const),
    }),
    fc.record({
      kind: fc.constant('agree' as const),
      by: fc.constantFrom(...(Object.keys(people) as (keyof typeof people)[])),
      way: fc.constantFrom('page' as const, 'oauth' as const),
    }),
    fc.record({ kind: fc.constant('subscribe' as const) }),
  ),
  { minLength: 1, maxLength: 6 },
)

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
          if (step.by === 'operator') {
            const answer = await server.operate('PUT', `/admin/applications/${client.Id}`, { Privileges: asked })
            expect(answer.statusCode, answer.body).toBe(200)
            // It replaces what stores agreed to, but for what they have to name themselves.
            if (agreed !== undefined) agreed = asked && { ...services, ...(names(agreed) && placing) }
          } else {
            const answer = await client.developer.call('PUT', `/developers/applications/${client.Id}`, {
              Privileges: asked,
            })
            expect(answer.statusCode, answer.body).toBe(200)
          }
        } else if (step.kind === 'subscribe') {
          const body = { PublicKey: client.PublicKey }
          token = (await server.operate('POST', `/admin/stores/${shop.store.id}/subscriptions`, body)).json().Token
          agreed = asked
        } else {
          const person = people[step.by]
          const answer =
            step.way === 'oauth' && step.by !== 'manager'
              ? await decide(person, queryOf(client, shop.store))
              : await person.call('POST', '/admin/modules/rest-api/subscribe', {
                  PublicKey: client.PublicKey,
                  Privileges: JSON.stringify(asked),
                })
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
