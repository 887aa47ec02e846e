import { expect, test } from 'vitest'
import { refused } from '../../../../support/refused.ts'
import { developerIn, proveAgain } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { registered, usedBy } from './fixture.ts'

const server = await sharedServer()
const developer = await developerIn(server)

test('each store that uses the application is listed with its token, and no other', async () => {
  const application = await registered(developer, { Privileges: { Products: ['read'] } })
  const address = `/developers/applications/${application.Id}/stores`
  expect((await developer.call('GET', address)).json()).toEqual([])
  expect((await developer.open(address)).body).toContain('No store uses this application yet.')

  const { store, token } = await usedBy(server, application, 'Tea & more')
  await usedBy(server, await registered(developer))
  const answer = await developer.call('GET', address)
  expect([answer.statusCode, answer.headers.link]).toEqual([200, undefined])
  expect(answer.json()).toEqual([
    {
      Id: expect.any(Number),
      Name: 'Tea & more',
      SecureURL: store.secureUrl,
      Token: token,
      Privileges: { Products: ['read'] },
      DateLastUsed: null,
      DateCreated: '2026-03-10T16:00:00.000Z',
    },
  ])
  const page = await developer.open(address)
  expect(page.body).toContain('Tea &amp; more')
  expect(page.body).toContain(`${token}</code>`)
  expect(page.body).not.toContain('Agreed to other privileges')
  expect((await developer.open(`/developers/applications/${application.Id}`)).body).toContain('1 store uses')
})

test('the last use is shown', async () => {
  const application = await registered(developer)
  const { status } = await usedBy(server, application)
  await status(application.PrivateKey)
  await server.services.callLog.flush()
  server.clock.ms += 3 * 60 * 60 * 1_000
  await proveAgain(developer, '/developers')
  const address = `/developers/applications/${application.Id}/stores`
  const [store] = (await developer.call('GET', address)).json()
  expect(store.DateLastUsed).toBe(new Date(server.clock.ms - 3 * 60 * 60 * 1_000).toISOString())
  expect((await developer.open(address)).body).toMatch(/<td [^>]*>3 hours ago<\/td>/)
})

test('what a merchant agreed to is shown where it is not what the application asks for by now', async () => {
  const application = await registered(developer, { Privileges: { Products: ['read'] } })
  await usedBy(server, application)
  const address = `/developers/applications/${application.Id}`
  await developer.call('PUT', address, { Privileges: { Products: ['read', 'write'] } })
  const [store] = (await developer.call('GET', `${address}/stores`)).json()
  expect(store.Privileges).toEqual({ Products: ['read'] })
  const page = (await developer.open(`${address}/stores`)).body
  expect(page).toMatch(/Agreed to other privileges[\s\S]*<strong>Read<\/strong> Products/)
})

test('a list goes on by Link, and by a link of the page, and has every store once', async () => {
  const application = await registered(developer)
  for (let count = 0; count < 5; count++) await usedBy(server, application)
  const address = `/developers/applications/${application.Id}/stores`
  const all: { Id: number }[] = (await developer.call('GET', address)).json()
  expect(all).toHaveLength(5)
  const seen: { Id: number }[] = []
  const pages: number[] = []
  for (let next: string | undefined = `${address}?limit=2`; next; ) {
    const answer = await developer.call('GET', next)
    const stores = answer.json()
    seen.push(...stores)
    pages.push(stores.length)
    const link: string | undefined = /^<([^>]+)>; rel="next"$/.exec(String(answer.headers.link ?? ''))?.[1]
    next = link && new URL(link).pathname + new URL(link).search
    if (link) {
      expect(link.startsWith(server.services.config.publicUrl)).toBe(true)
      const page = (await developer.open(`${address}?limit=2${seen.length > 2 ? `&cursor=${seen.at(-3)?.Id}` : ''}`))
        .body
      expect(page).toContain(`href="${next?.replace('&', '&amp;')}"`)
    }
  }
  expect(pages).toEqual([2, 2, 1])
  expect(seen).toEqual(all)
  const last = (await developer.open(`${address}?limit=2&cursor=${all[3]?.Id}`)).body
  expect(last).not.toContain('Next page')
  expect(last).toContain('First page')
})

test.each(['limit=0', 'limit=501', 'cursor=-1', 'cursor=x', 'cursor=2147483648', 'offset=1'])(
  '?%s is refused with 400',
  async (query) => {
    const { Id } = await registered(developer)
    const answer = await developer.call('GET', `/developers/applications/${Id}/stores?${query}`)
    expect(refused(answer)).toMatchObject({ statusCode: 400, field: query.split('=')[0] })
  },
)
