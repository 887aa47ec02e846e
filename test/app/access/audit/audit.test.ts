import { expect, test } from 'vitest'
import {
  type Actor,
  type AuditInput,
  type AuditOf,
  listAudit,
  recordAudit,
} from '../../../../src/access/audit/audit.ts'
import { openAccess } from '../../../support/access.ts'
import { shared } from '../../../support/shared.ts'

const access = await shared(openAccess())
const { services } = access

const merchant: Actor = { kind: 'merchant', name: 'merchant@shop.example', address: '198.51.100.1' }
const developer: Actor = { kind: 'developer', name: 'dev@tools.example', address: '198.51.100.2' }
const operator: Actor = { kind: 'operator', name: '', address: '198.51.100.3' }
const application: Actor = { kind: 'application', name: 'Order sync', address: '198.51.100.4' }

function record(input: Partial<AuditInput> = {}): Promise<void> {
  return recordAudit(services.db, services.now, {
    actor: operator,
    action: 'store.changed',
    target: 'A shop',
    ...input,
  })
}

async function idsOf(of: AuditOf, limit: number, before?: number): Promise<number[]> {
  return (await listAudit(services, of, { limit, before })).map(({ id }) => id)
}

test('pages go from the newest to the oldest, and neither skip nor repeat while entries are added', async () => {
  for (let count = 0; count < 7; count++) await record({ storeId: 100 })
  const whole = await idsOf({ storeId: 100 }, 100)
  expect(whole).toHaveLength(7)
  expect(whole).toEqual(whole.toSorted((one, other) => other - one))

  const read: number[] = []
  for (let count = 0; count < 4; count++) {
    read.push(...(await idsOf({ storeId: 100 }, 3, read.at(-1))))
    await record({ storeId: 100 })
  }
  expect(read).toEqual(whole)
})

test('a store’s log and a developer’s have what concerns them alone; the operator’s has all', async () => {
  await record({ storeId: 1 })
  await record({ storeId: 2 })
  await record({ developerId: 1 })
  await record({ storeId: 1, developerId: 1 })
  const [joint = 0, ofDeveloper = 0, second = 0, first = 0] = await idsOf('all', 4)

  expect(await idsOf({ storeId: 1 }, 100)).toEqual([joint, first])
  expect(await idsOf({ storeId: 2 }, 100)).toEqual([second])
  expect(await idsOf({ developerId: 1 }, 100)).toEqual([joint, ofDeveloper])
  expect(await idsOf({ developerId: 2 }, 100)).toEqual([])
})

test('neither side learns who of the other acted, nor from where; the operator does', async () => {
  const both = { storeId: 3, developerId: 3, action: 'subscription.created' as const }
  for (const actor of [merchant, developer, operator, application]) await record({ ...both, actor })
  const shown = async (of: AuditOf) =>
    (await listAudit(services, of, { limit: 4 })).map(({ actorKind, actor, address }) => [actorKind, actor, address])

  expect(await shown({ storeId: 3 })).toEqual([
    ['application', 'Order sync', ''],
    ['operator', '', ''],
    ['developer', '', ''],
    ['merchant', 'merchant@shop.example', '198.51.100.1'],
  ])
  expect(await shown({ developerId: 3 })).toEqual([
    ['application', 'Order sync', ''],
    ['operator', '', ''],
    ['developer', 'dev@tools.example', '198.51.100.2'],
    ['merchant', '', ''],
  ])
  expect(await shown('all')).toEqual(
    [application, operator, developer, merchant].map(({ kind, name, address }) => [kind, name, address]),
  )
})

test('an entry tells when, what, to what, and what else', async () => {
  await record({ actor: merchant, storeId: 4, applicationId: 5, details: { sessions: 2 }, target: 'x'.repeat(301) })

  expect(await listAudit(services, { storeId: 4 }, { limit: 1 })).toEqual([
    {
      id: expect.any(Number),
      at: services.now(),
      actorKind: 'merchant',
      actor: merchant.name,
      action: 'store.changed',
      target: 'x'.repeat(300),
      storeId: 4,
      applicationId: 5,
      developerId: null,
      details: { sessions: 2 },
      address: merchant.address,
    },
  ])
})
