import { randomBytes } from 'node:crypto'
import { expect, test } from 'vitest'
import { isKeyStrong } from '../../../../src/foundation/values/key-strength.ts'

test('random keys in the form of this interface are strong', () => {
  for (let count = 0; count < 2_000; count++) {
    const key = randomBytes(16).toString('hex')
    expect(isKeyStrong(key), key).toBe(true)
    expect(isKeyStrong(key.toUpperCase()), key).toBe(true)
  }
})

test.each([
  ['40 hexadecimal characters', 'da39a3ee5e6b4b0d3255bfef95601890afd80709'],
  ['32 letters and digits', 'q7Zk2Lw9Xt4Rb8Nv3Hm6Yd1Fs5Gc0JpE'],
  ['43 characters of base64url', 'X3vJ9-QkT2mZpW7fLr_8sBnYc1uHdAo4gEiKxV6tM0w'],
])('%s are strong', (_name, key) => {
  expect(isKeyStrong(key)).toBe(true)
})

test.each([
  ['nothing', ''],
  ['one digit', '0'.repeat(32)],
  ['two digits', '01'.repeat(16)],
  ['digits in order', '0123456789abcdef0123456789abcdef'],
  ['digits in reverse', 'fedcba9876543210fedcba9876543210'],
  ['eight random digits, repeated', '3f9a07c2'.repeat(4)],
  ['16 random digits, repeated', '3f9a07c2b81e46d5'.repeat(2)],
  ['six different digits', 'abcdefbdfaecfbadcebfdacefdbacfeb'],
  ['31 random hexadecimal characters', '9f86d081884c7d659a2feaa0c55ad01'],
  ['a long repetition', 'correct horse battery'.replaceAll(' ', '').repeat(9)],
  ['words', 'correcthorsebatterystaple'],
  ['a blank inside', '9f86d081884c7d65 a2feaa0c55ad015 3f2e'],
  ['beyond ASCII', 'é9f86d081884c7d659a2feaa0c55ad0153f2e'],
  ['201 characters', randomBytes(101).toString('hex').slice(0, 201)],
])('%s is not strong', (_name, key) => {
  expect(isKeyStrong(key)).toBe(false)
})
