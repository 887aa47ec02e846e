import { expect, test } from 'vitest'
import { fieldSet, integer, list, object, text } from '../../../../src/engine/definition/fields.ts'
import { parseExactly } from '../../../../src/foundation/values/long-number.ts'
import { refusedBody } from '../../../../src/http/rest/refused-body.ts'

const fields = fieldSet({
  Name: text(50),
  Count: integer(),
  Password: text(50, { access: 'wo' }),
  CardType: text(20),
  Inner: object('Inner', { Note: text(), Secret: text(20, { access: 'wo' }) }),
  Items: list('Item', { ItemID: integer({ access: 'key' }), Note: text() }),
})

const bodyOf = (records: unknown[], secrets: string[] = []) => refusedBody(records, { fields }, secrets)
const readBack = (record: unknown, secrets: string[] = []) => JSON.parse(bodyOf([record], secrets))

test('one record stands alone, several in a list, as they were sent', () => {
  const record = { name: 'A', Count: 'x', Inner: { Note: null }, Items: [{ ItemID: 1, Note: true }, {}] }
  expect(bodyOf([record])).toBe(JSON.stringify(record))
  expect(bodyOf([record, {}])).toBe(JSON.stringify([record, {}]))
  expect(bodyOf([parseExactly('{"Count":12345678901234567890}')])).toBe('{"Count":12345678901234567890}')
})

test.each([
  ['a write-only member in any case', { PASSWORD: 's' }, { PASSWORD: '(not kept)' }],
  ['one inside', { Inner: { Secret: 's', Note: 'n' } }, { Inner: { Secret: '(not kept)', Note: 'n' } }],
  ['a member of a card', { CardType: 'Visa' }, { CardType: '(not kept)' }],
  ['an unknown member', { Authorization: 'Bearer x', A: { b: 1 } }, { Authorization: '(not kept)', A: '(not kept)' }],
  ['an unknown one in an item', { Items: [{ Pin: 1 }] }, { Items: [{ Pin: '(not kept)' }] }],
  ['an object where a value belongs', { Name: { token: 't' } }, { Name: '(not kept)' }],
  ['a value where an object belongs', { Inner: 's' }, { Inner: '(not kept)' }],
  ['a value where a list belongs', { Items: 's' }, { Items: '(not kept)' }],
  ['an item that is no object', { Items: ['s', 1] }, { Items: ['(not kept)', '(not kept)'] }],
  [
    'a member of every object',
    { constructor: 's', __proto__x: 1 },
    { constructor: '(not kept)', __proto__x: '(not kept)' },
  ],
])('%s has no value', (_what, given, kept) => {
  expect(readBack(given)).toEqual(kept)
})

test('a record that is no object is left out', () => {
  expect(['text', 7, null, ['x']].map((record) => readBack(record))).toEqual(Array(4).fill('(not kept)'))
})

test.each([
  ['4111111111111111', '(not kept)'],
  ['pay 4111 1111-1111 1111 now', 'pay (not kept) now'],
  ['378282246310005', '(not kept)'],
  ['12/27 4111111111111111', '12/27 (not kept)'],
  ['4111111111111111 12/27', '(not kept) 12/27'],
  ['qty 2 4111-1111-1111-1111', 'qty 2 (not kept)'],
  ['4111 1111 1111 1111 123', '(not kept) 123'],
  ['4111111111111112', '4111111111111112'],
  ['+1 212 555 0100', '+1 212 555 0100'],
])('of the text %s stays %s: no card number', (given, kept) => {
  expect(readBack({ Name: given })).toEqual({ Name: kept })
  expect(readBack({ Count: Number(given) || 1 })).toEqual({ Count: kept === '(not kept)' ? kept : Number(given) || 1 })
  expect(Object.keys(readBack({ [`x ${given}`]: 1 }))).toEqual([`x ${kept}`])
})

test('of an address the user and the password are left out', () => {
  expect(readBack({ Name: 'https://ann:pw-1@host/x?a=b@c and ann@host' })).toEqual({
    Name: 'https://(not kept)@host/x?a=b@c and ann@host',
  })
})

test('the keys of the request are left out wherever they stand', () => {
  const record = { Name: 'key-1 and key-2', Inner: { Note: 'key-1' }, 'key-2': 1 }
  expect(readBack(record, ['key-1', 'key-2'])).toEqual({
    Name: '(not kept) and (not kept)',
    Inner: { Note: '(not kept)' },
    '(not kept)': '(not kept)',
  })
})

test('it is cut at 16 kB after a whole character, however long the body is', () => {
  const long = bodyOf([{ Name: '€'.repeat(1_000_000) }])
  expect(Buffer.byteLength(long)).toBeGreaterThan(16_380)
  expect(Buffer.byteLength(long)).toBeLessThanOrEqual(16_384)
  expect(long).toMatch(/^\{"Name":"€+…$/)
  const many = bodyOf(Array.from({ length: 100_000 }, () => ({ Name: 'A' })))
  expect([Buffer.byteLength(many), many.endsWith('…')]).toEqual([16_384, true])
  const exact = bodyOf([{ Name: 'x'.repeat(16_384 - '{"Name":""}'.length) }])
  expect([exact.length, exact.at(-1)]).toEqual([16_384, '}'])
})

test('a card number is recognised where the body is cut', () => {
  for (let before = 16_330; before < 16_384; before++) {
    expect(bodyOf([{ Name: `${'x'.repeat(before)} 4111111111111111` }])).not.toContain('411111')
  }
})
