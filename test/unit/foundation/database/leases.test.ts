import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { CALLBACK_MS } from '../../../../src/access/applications/subscriptions/callback.ts'
import { SENDING_MS_MAX } from '../../../../src/access/mail/smtp.ts'
import { leases } from '../../../../src/foundation/database/leases.ts'

const schema = readFileSync('prisma/schema.prisma', 'utf8')
const columns = new Map(
  [...schema.matchAll(/^model (\w+) \{\n(.*?)^\}/gms)].map(([, table, body = '']) => [
    table,
    [...body.matchAll(/^ {2}(\w+) +\w/gm)].map(([, column]) => column),
  ]),
)

test('the columns of every lease are in the schema', () => {
  for (const { table, until, ...more } of Object.values(leases)) {
    const named = [until, ...('claim' in more ? [more.claim] : []), ...('hasProcess' in more ? ['process'] : [])]
    expect(columns.get(table)).toEqual(expect.arrayContaining(named))
  }
})

test('every table with a claim has a lease', () => {
  const tables = [...columns].filter(([, names]) => names.includes('claim') || names.includes('process'))
  const leased = new Set<string | undefined>(Object.values(leases).map(({ table }) => table))
  expect(tables.map(([table]) => table).filter((table) => !leased.has(table))).toEqual([])
  expect(tables).toHaveLength(7)
})

test('an attempt to send a mail ends within its lease', () => {
  expect(leases.mail.ms).toBeGreaterThan(SENDING_MS_MAX)
})

test('a handshake lasts longer than its callback', () => {
  expect(leases.handshake.ms).toBeGreaterThan(CALLBACK_MS)
})
