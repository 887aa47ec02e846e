import { expect, test } from 'vitest'
import { sharedFolder } from '../../support/folders.ts'
import { testPerson } from '../../support/person.ts'
import { startCommand } from '../../support/run-command.ts'
import { sharedServer } from '../../support/store.ts'
import { withApp } from '../access/people/factors/fixture.ts'

const server = await sharedServer({ SANDBOX: 'no' })
const baseUrl = await server.app.listen({ host: '127.0.0.1', port: 0 })
const folder = sharedFolder()

function run(...args: string[]) {
  const settings = { PUBLIC_URL: baseUrl, OPERATOR_KEY: server.services.operatorKey, DATA_DIR: folder }
  return startCommand('new-operator', args, { settings, cwd: folder }).ends()
}

/** Opens a link and chooses a password by it. */
async function choose(link: string): Promise<number> {
  const { pathname, search } = new URL(link)
  const person = testPerson(server.app)
  if ((await person.open(pathname + search)).statusCode !== 200) return 404
  const chosen = { Password: 'correct horse battery' }
  return (await person.submit(pathname + search, chosen, { action: '/operator/reset/password' })).statusCode
}

test('an operator gets a link, and a newer one in place of it', async () => {
  const first = await run('--email', 'ann@server.example')
  expect(first.code).toBe(0)
  const [link = ''] = /http:\S+/.exec(first.output) ?? []
  const again = JSON.parse((await run('--email', 'Ann@Server.example', '--json')).output)
  expect(again).toMatchObject({ Email: 'ann@server.example', Link: expect.stringContaining('/operator/reset?token=') })

  expect(await choose(link)).toBe(404)
  expect(await choose(again.Link)).toBe(303)
  expect(await choose(again.Link)).toBe(404)
  const person = testPerson(server.app)
  const account = { Email: 'ann@server.example', Password: 'correct horse battery' }
  await person.submit('/operator/sign-in', account)
  await withApp(server, person, { area: '/operator', account })
  expect((await person.open('/operator')).statusCode).toBe(200)
  expect(await server.services.db.operator.count()).toBe(1)
})

test.each([
  { args: [], says: '--email is missing' },
  { args: ['--email', 'nobody'], says: 'Email must be an e-mail address' },
])('$args are refused, with what is wrong', async ({ args, says }) => {
  const { code, errors } = await run(...args)
  expect(code).not.toBe(0)
  expect(errors).toContain(says)
})
