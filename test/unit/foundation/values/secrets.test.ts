import fc from 'fast-check'
import { expect, test } from 'vitest'
import { bearerToken } from '../../../../src/access/applications/authenticate.ts'
import { hashPassword, verifyPassword } from '../../../../src/access/people/passwords.ts'
import { createSecrets, generateKey, sameSecret } from '../../../../src/foundation/values/secrets.ts'

const secrets = createSecrets('a secret key for tests alone, 32+')
const others = createSecrets('another secret key for tests, 32+')

test('a sealed text opens again, and is sealed otherwise each time', () => {
  fc.assert(fc.property(fc.string({ unit: 'grapheme' }), (text) => secrets.open(secrets.seal(text)) === text))
  expect(secrets.seal('text')).not.toBe(secrets.seal('text'))
})

test('a sealed text that was altered anywhere does not open', () => {
  const sealed = secrets.seal('0123456789abcdef')
  const [version, id, encoded = ''] = sealed.split('.')
  const bytes = Buffer.from(encoded, 'base64url')
  for (let index = 0; index < bytes.length; index++) {
    const altered = Buffer.from(bytes)
    altered[index] = (altered[index] ?? 0) ^ 1
    expect(() => secrets.open(`${version}.${id}.${altered.toString('base64url')}`)).toThrow('cannot be opened')
  }
  expect(() => secrets.open(`v2.${encoded}`)).toThrow('Not a sealed secret')
  expect(() => secrets.open(`v3.${id}.${encoded}`)).toThrow('Not a sealed secret')
  expect(() => secrets.open('')).toThrow('Not a sealed secret')
})

test('a text sealed under another secret key does not open, and the error does not show it', () => {
  expect(() => others.open(secrets.seal('hidden text'))).toThrow(/SECRET_KEY/)
  expect(() => others.open(secrets.seal('hidden text'))).not.toThrow(/hidden text/)
})

test('the look-up form is 64 hexadecimal characters, always the same under one key and another under another', () => {
  expect(secrets.lookup('token')).toMatch(/^[0-9a-f]{64}$/)
  expect(secrets.lookup('token')).toBe(createSecrets('a secret key for tests alone, 32+').lookup('token'))
  expect(secrets.lookup('token')).not.toBe(others.lookup('token'))
})

test('an empty secret key is refused', () => {
  expect(() => createSecrets('')).toThrow('empty')
})

test('keys are 32 lower-case hexadecimal characters, and never the same', () => {
  const keys = Array.from({ length: 1000 }, generateKey)
  for (const key of keys) expect(key).toMatch(/^[0-9a-f]{32}$/)
  expect(new Set(keys).size).toBe(1000)
})

test('secrets are the same only when every character is', () => {
  expect(sameSecret('abc', 'abc')).toBe(true)
  expect(sameSecret('abc', 'abd')).toBe(false)
  expect(sameSecret('abc', 'abcd')).toBe(false)
  expect(sameSecret('', 'a')).toBe(false)
})

test('a password is kept as argon2id with 19 MiB, two passes and one lane', async () => {
  const stored = await hashPassword('correct horse')
  expect(stored).toMatch(/^\$argon2id\$v=19\$m=19456,t=2,p=1\$/)
  expect(await hashPassword('correct horse')).not.toBe(stored)
  expect(await verifyPassword(stored, 'correct horse')).toBe(true)
  expect(await verifyPassword(stored, 'Correct horse')).toBe(false)
})

test('nobody’s password is wrong, whatever it is', async () => {
  for (const password of ['', 'A'.repeat(32), '\0'.repeat(32)]) expect(await verifyPassword(null, password)).toBe(false)
})

test('a password fits however its letters were composed', async () => {
  expect(await verifyPassword(await hashPassword('caf\u00e9'), 'cafe\u0301')).toBe(true)
})

test.each([
  ['Bearer abc', 'abc'],
  ['bearer   abc ', 'abc'],
  ['Basic abc', null],
  ['Bearer', null],
  ['Bearer ', null],
  ['abc', null],
  ['Bearer abc def', null],
  [undefined, null],
])('Authorization %j holds the token %j', (header, token) => {
  expect(bearerToken(header)).toBe(token)
})
