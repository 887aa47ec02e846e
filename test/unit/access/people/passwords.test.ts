import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { newPasswordInput, refuseNamesAsPassword } from '../../../../src/access/people/passwords.ts'

const isTaken = (password: string) => newPasswordInput.safeParse(password).success

const letter = fc.constantFrom(...'abcdefghijklmnopqrstuvwxyzäéж0123456789')
/** What people put behind a word to satisfy a rule. */
const ending = fc.constantFrom('', '1', '!', '2024', '123!')
const inAnyCase = (text: fc.Arbitrary<string>) =>
  fc
    .tuple(text, fc.nat())
    .map(([word, mask]) => word.replace(/./gu, (each, at) => ((mask >> (at % 16)) & 1 ? each.toUpperCase() : each)))

describe('a new password is refused', () => {
  test('that is one to four characters over and over, wherever it ends', () => {
    const repeated = fc
      .tuple(fc.string({ unit: letter, minLength: 1, maxLength: 4 }), fc.integer({ min: 12, max: 60 }))
      .map(([unit, length]) => unit.repeat(length).slice(0, length))
    fc.assert(fc.property(inAnyCase(repeated), (password) => !isTaken(password)))
  })

  test('that is so but for what stands behind its letters', () => {
    const repeated = fc
      .tuple(fc.string({ unit: fc.constantFrom(...'abcdefgxyz'), minLength: 1, maxLength: 4 }), ending)
      .map(([unit, end]) => unit.repeat(12).slice(0, 12) + end)
    fc.assert(fc.property(inAnyCase(repeated), (password) => !isTaken(password)))
  })

  test('that is up to four letters, each of them repeated', () => {
    const runs = fc
      .tuple(
        fc.array(fc.tuple(fc.constantFrom(...'abcxyzäж'), fc.integer({ min: 4, max: 9 })), {
          minLength: 3,
          maxLength: 4,
        }),
        ending,
      )
      .map(([parts, end]) => parts.map(([each, count]) => each.repeat(count)).join('') + end)
    fc.assert(fc.property(runs, (password) => !isTaken(password)))
  })

  test.each([
    'storeplatform1',
    'Store-Platform-2024!',
    'STORE PLATFORM',
    'store_platform',
    'StorePlatformStorePlatform',
    '**storeplatform**',
  ])('that is the name of the product: %s', (password) => expect(isTaken(password)).toBe(false))

  test.each([
    'passwordpassword',
    'aaaa1111aaaa',
    'hahahahahaha',
    'lalalalalala!!',
    'aabbaabbaabb',
    '!!!!!!!!!!!!',
    '474747474747',
  ])('%s', (password) => expect(isTaken(password)).toBe(false))
})

describe('a new password is taken', () => {
  test.each([
    'correct horse battery',
    'x7-fjw.q93bd',
    'my storeplatform keeps apples',
    'wibble-wobble-9',
    '8392-kx-4471',
    'Mississippi-Tennessee',
    'anna anna anna',
  ])('%s', (password) => expect(isTaken(password)).toBe(true))

  test('that the server or the command makes', () => {
    const made = fc
      .uint8Array({ minLength: 15, maxLength: 15 })
      .map((bytes) => Buffer.from(bytes).toString('base64url'))
    const random = made.filter((text) => new Set(text.toLowerCase()).size > 10)
    fc.assert(fc.property(random, (password) => isTaken(password)))
  })
})

describe('the names of the account are no password', () => {
  const refusal = (password: string, names: { email: string; storeName?: string }) => {
    try {
      refuseNamesAsPassword(password, names)
    } catch (error) {
      return (error as Error).message
    }
    return null
  }
  const names = { email: 'Anna.Smith-Jones@shop.example', storeName: 'Ada’s Tool Shop' }

  test.each([
    ['anna.smith-jones@SHOP.example', 'Password must differ from the e-mail address'],
    ['annasmithjones', 'Password must not be the beginning of the e-mail address'],
    ['Anna.Smith-Jones1990!', 'Password must not be the beginning of the e-mail address'],
    ['adas tool shop', 'Password must not be the name of the store'],
    ['Ada’s Tool Shop', 'Password must not be the name of the store'],
    ['ada’stoolshop2024', 'Password must not be the name of the store'],
    ['**ADA’S-TOOL-SHOP**', 'Password must not be the name of the store'],
    ['anna smith jones 1990 x', null],
  ])('%s', (password, message) => {
    if (message === null) expect(refusal(password, names)).toBeNull()
    else expect(refusal(password, names)).toContain(message)
  })

  test('where they have letters', () => {
    expect(refusal('123456-999-77', { email: '1@shop.example', storeName: '24/7' })).toBeNull()
    expect(refusal('correct horse battery', { email: '1@shop.example', storeName: '' })).toBeNull()
  })
})
