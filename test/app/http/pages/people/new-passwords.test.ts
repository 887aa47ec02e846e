import { describe, expect, test } from 'vitest'
import { testPerson } from '../../../../support/person.ts'
import { developerIn, merchantAccount, merchantIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'

let serial = 0

const server = await sharedServer({ DEVELOPER_SIGNUP: 'open' })
const shop = await server.openStore()

function byOperator(method: 'POST' | 'PUT', url: string, body: object) {
  return server.operate(method, url, body)
}

const owner = 'Owner.Of.It@shop.example'
const second = 'Second.Owner@shop.example'

const signUp = (Password: string) =>
  testPerson(server.app).call('POST', '/developers/sign-up', { Email: owner, Password })

/** Everywhere that a merchant's or developer's password is set, with an account whose address is `owner` or that of the test's person. */
const doors = [
  {
    door: 'sign-up',
    address: owner,
    set: signUp,
  },
  {
    door: 'POST /admin/developers',
    address: second,
    set: (Password: string) => byOperator('POST', '/admin/developers', { Email: second, Password }),
  },
  {
    door: 'PUT /admin/developers/{id}',
    address: 'set.anew@tools.example',
    set: async (Password: string) => {
      const account = { Email: 'set.anew@tools.example', Password: 'correct horse battery' }
      await byOperator('POST', '/admin/developers', account)
      const [{ id = 0 } = {}] = await server.services.db.developer.findMany({ where: { email: account.Email } })
      return byOperator('PUT', `/admin/developers/${id}`, { Password })
    },
  },
  {
    door: 'POST /admin/stores',
    address: owner,
    set: (Password: string) => {
      const SecureURL = `https://new-${++serial}.example`
      return byOperator('POST', '/admin/stores', { Name: 'New', SecureURL, Email: owner, Password })
    },
  },
  {
    door: 'POST /admin/stores/{id}/users',
    address: owner,
    set: (Password: string) => byOperator('POST', `/admin/stores/${shop.store.id}/users`, { Email: owner, Password }),
  },
  {
    door: 'PUT /admin/stores/{id}/users/{userId}',
    address: merchantAccount.Email,
    set: async (Password: string) => {
      const store = await server.openStore()
      const { id } = await server.services.db.storeUser.findFirstOrThrow({ where: { storeId: store.store.id } })
      return byOperator('PUT', `/admin/stores/${store.store.id}/users/${id}`, { Password })
    },
  },
  {
    door: '/admin/account/password',
    address: merchantAccount.Email,
    set: async (NewPassword: string) => {
      const store = await server.openStore()
      const person = await merchantIn(server, store.store)
      const CurrentPassword = merchantAccount.Password
      return person.call('POST', '/admin/account/password', { CurrentPassword, NewPassword })
    },
  },
]

const common = /must not be one of the 10,000 most common passwords/

/** What is refused, and the rule that it breaks. */
function expectRefused(answer: { statusCode: number; json: () => [{ Value: string; Message: string }] }, rule: RegExp) {
  expect(answer.statusCode).toBe(400)
  const [{ Value: field, Message: message }] = answer.json()
  expect(field).toMatch(/^(New)?Password$/)
  expect(message).toMatch(rule)
  return message
}

test.each([
  ['of eleven characters', 'x7-fjw.q93b', /must be a text of 12 to 1000 characters/],
  ['of 1001 characters', `x7-${'x'.repeat(998)}`, /must be a text of 12 to 1000 characters/],
  ['that is common', '1q2w3e4r5t6y', common],
  ['that is common in another case', '1Q2W3E4R5T6Y', common],
  ['that is common in full-width letters', '１ｑ２ｗ３ｅ４ｒ５ｔ６ｙ', common],
  ['that is common but for digits and signs at its ends', '**Password2024!', common],
  ['that is common and repeated', 'LetMeInLetMeIn', common],
  ['that is common digits with further ones', '123456789012', common],
  ['of one digit', '111111111111', common],
  ['of blanks', '            ', common],
  ['of one letter', 'aaaaaaaaaaaa', common],
  ['of one syllable', 'abcabcabcabc', common],
  ['that is the name of the product', 'Store-Platform1', common],
])('a new password is refused, saying the rule: one %s', async (_what, password, rule) => {
  expect(expectRefused(await signUp(password), rule)).not.toContain(password)
})

describe.each(doors)('a new password at $door', ({ address, set }) => {
  test('is refused, saying the rule: one that is common', async () => {
    expectRefused(await set('1q2w3e4r5t6y'), common)
  })

  test('is refused, saying the rule: the e-mail address in another case', async () => {
    expectRefused(await set(address.toUpperCase()), /Password must differ from the e-mail address/)
  })

  test('is refused, saying the rule: the beginning of the e-mail address with digits behind it', async () => {
    const [beginning = ''] = address.split('@')
    const password = `${beginning.replaceAll('.', '-').toUpperCase()}123456`
    expectRefused(await set(password), /Password must not be the beginning of the e-mail address/)
  })

  test('is taken when it has twelve characters', async () => {
    const answer = await set('x7-fjw.q93bd')

    expect([200, 201, 204]).toContain(answer.statusCode)
  })
})

test('the rule holds for a developer’s change of password too', async () => {
  const person = await developerIn(server)
  const { Email, Password: CurrentPassword } = person.account
  for (const NewPassword of ['qwertyuiop12', Email.toUpperCase()]) {
    const answer = await person.call('POST', '/developers/account/password', { CurrentPassword, NewPassword })
    expect([NewPassword, answer.statusCode]).toEqual([NewPassword, 400])
  }
})

test('customers’ passwords are not under the rule, and a stored one that would break it still signs in', async () => {
  const customer = await shop.call('POST', '/Customers', { body: { Email: 'c@mail.example', Password: 'password' } })
  expect(customer.statusCode).toBe(201)

  const { db } = server.services
  const { passwordHash } = await db.customer.findFirstOrThrow({ where: { email: 'c@mail.example' } })
  const { store } = await server.openStore()
  await db.identity.updateMany({
    where: { users: { some: { storeId: store.id } } },
    data: { passwordHash: passwordHash ?? '' },
  })
  const account = { Email: merchantAccount.Email, Password: 'password', Store: store.secureUrl }
  expect((await testPerson(server.app).call('POST', '/admin/sign-in', account)).statusCode).toBe(200)
})
