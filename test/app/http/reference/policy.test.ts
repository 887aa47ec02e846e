import { XMLParser, XMLValidator } from 'fast-xml-parser'
import { beforeEach, describe, expect, test } from 'vitest'
import { deprecations } from '../../../../src/access/applications/deprecations.ts'
import type { TestPerson } from '../../../support/person.ts'
import { developerIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'

const publicUrl = 'http://api.shop.example'
const mail = { SMTP_URL: 'smtp://127.0.0.1:9', MAIL_FROM: 'Shop <mail@shop.example>' }
const server = await sharedServer({ PUBLIC_URL: publicUrl, ...mail })
const get = (url: string) => server.app.inject({ url, headers: { accept: 'text/html' } })

describe('what is deprecated', () => {
  beforeEach(() => server.services.db.mail.deleteMany())

  const mails = () => server.services.db.mail.findMany({ where: { kind: 'deprecation' } })
  const register = (developer: TestPerson, more: object = {}) =>
    developer.call('POST', '/developers/applications', { Name: 'App', ...more })

  test('works for twelve months at least, and has its line in the changelog and in the policy', async () => {
    const [changelog, policy] = [(await get('/docs/changelog')).body, (await get('/docs/policy')).body]
    for (const { id, since, sunset } of Object.values(deprecations)) {
      expect(new Date(since).setUTCFullYear(since.getUTCFullYear() + 1)).toBeLessThanOrEqual(sunset.getTime())
      expect([id, changelog.includes(`<li id="${id}"`)]).toEqual([id, true])
      expect([id, policy.includes(`href="/docs/changelog#${id}"`)]).toEqual([id, true])
    }
  })

  test('an application without a Kind is an existing one, and its answer says until when', async () => {
    const developer = await developerIn(server)
    const without = await register(developer)
    expect([without.statusCode, without.json().Kind]).toEqual([201, 'existing'])
    expect(without.headers).toMatchObject({
      deprecation: '@1796083200',
      sunset: 'Sat, 01 Jan 2028 00:00:00 GMT',
      link: `<${publicUrl}/docs/changelog#an-application-without-a-kind>; rel="deprecation"`,
    })
    for (const Kind of ['existing', 'new']) {
      const { statusCode, headers } = await register(developer, { Kind })
      expect(statusCode).toBe(201)
      for (const name of ['deprecation', 'sunset', 'link']) expect(headers).not.toHaveProperty(name)
    }
  })

  test('is told to a developer by one mail, whoever calls how often and at once', async () => {
    const [one, other] = [await developerIn(server), await developerIn(server)]
    await register(one, { Kind: 'existing' })
    expect(await mails()).toEqual([])
    const answers = await Promise.all([one, one, one, other].map((developer) => register(developer)))
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([201, 201, 201, 201])
    await register(one)
    const written = await mails()
    expect(new Set(written.map(({ recipient }) => recipient)).size).toBe(2)
    expect(written).toHaveLength(2)
    const { text } = JSON.parse(server.services.secrets.open(written[0]?.contentSealed ?? ''))
    expect(text).toContain(`${publicUrl}/docs/changelog#an-application-without-a-kind`)
    expect(text.replace(/\s+/g, ' ')).toMatch(/2028.*without Kind makes an existing application/)
  })

  test('is told later where too many mails went to the address, and stops no call', async () => {
    const developer = await developerIn(server)
    const { db, now } = server.services
    const { email } = await db.developer.findFirstOrThrow({ orderBy: { id: 'desc' } })
    const full = { kind: 'alert', recipient: email, subject: '', state: 'sent', nextAttemptAt: now(), createdAt: now() }
    for (let count = 0; count < 5; count++) await db.mail.create({ data: { ...full, messageId: `<${count}@a>` } })
    expect([(await register(developer)).statusCode, await mails()]).toEqual([201, []])
    await db.mail.deleteMany()
    expect([(await register(developer)).statusCode, (await mails()).length]).toEqual([201, 1])
  })
})

describe('the changelog', () => {
  test('says of each line for programs what it is and whom it concerns, and leads to the reference', async () => {
    const { body } = await get('/docs/changelog')
    const lines = body.match(/<li id="[^"]+">\s*<small class="badge (?:ok|info|bad)">(?:new|changed|breaking)</g) ?? []
    expect(lines.length).toBeGreaterThan(20)
    expect(lines.length).toBe(body.match(/<li id="/g)?.length)
    expect(body).toContain('<a href="/docs/reference/Webhooks">Webhooks</a>')
    expect(body).toContain('<a href="/docs/reference/Webhooks/readEvents"><code>GET /Events</code></a>')
    expect(body).toContain('<time datetime="2026-11-29">')
    expect(body).not.toContain('SMTP_URL')
    expect(body).toContain('<link rel="alternate" type="application/atom+xml" href="/docs/changelog.atom">')
    expect((await get('/docs/changelog/operators')).body).toContain('SMTP_URL')
  })

  test('is an Atom feed of the released versions, with ids and dates', async () => {
    const { headers, body } = await get('/docs/changelog.atom')
    expect(headers['content-type']).toBe('application/atom+xml; charset=utf-8')
    expect(XMLValidator.validate(body)).toBe(true)
    const { feed } = new XMLParser({ ignoreAttributes: false }).parse(body)
    expect(feed).toMatchObject({
      '@_xmlns': 'http://www.w3.org/2005/Atom',
      id: `${publicUrl}/docs/changelog`,
      title: expect.any(String),
      author: { name: expect.any(String) },
    })
    expect(feed.link).toContainEqual({ '@_rel': 'self', '@_href': `${publicUrl}/docs/changelog.atom` })
    const dates: string[] = [feed, ...feed.entry].map(({ updated }) => updated)
    expect(dates.map((date) => new Date(date).toISOString().replace('.000', ''))).toEqual(dates)
    expect(dates[0]).toBe(dates[1])
    expect(dates.slice(1)).toEqual(dates.slice(1).toSorted().toReversed())
    const page = (await get('/docs/changelog')).body
    for (const { id, title, content } of feed.entry) {
      expect(page).toContain(`<h2 id="${String(id).split('#')[1]}"`)
      expect([content['@_type'], title]).toEqual(['html', expect.stringMatching(/^Version \d/)])
      expect(content['#text']).toMatch(/^<ul><li><b>/)
    }
    expect(new Set(feed.entry.map(({ id }: { id: string }) => id)).size).toBe(feed.entry.length)
  })
})

describe('for programs that read', () => {
  test('/llms.txt leads to guides as Markdown, with their examples, and to all services', async () => {
    const { headers, body } = await get('/llms.txt')
    expect([headers['content-type'], body.split('\n')[0]]).toEqual(['text/plain; charset=utf-8', '# store-platform'])
    const addresses = [...body.matchAll(/\]\((http[^)]+)\)/g)].map(([, address = '']) => address)
    expect(addresses.length).toBeGreaterThan(20)
    for (const address of addresses) {
      expect(address.startsWith(publicUrl)).toBe(true)
      const answer = await get(address.slice(publicUrl.length))
      expect([address, answer.statusCode]).toEqual([address, 200])
      if (address.endsWith('.md')) expect(answer.headers['content-type']).toBe('text/markdown; charset=utf-8')
    }
    const guide = (await get('/docs/guides/order-export.md')).body
    expect(guide).toMatch(/^# Export orders[\s\S]*```ts\n[\s\S]*```py\n/)
    expect(guide).not.toMatch(/\]\(examples|localhost:3000/)
  })

  test('security.txt names the sender of mails for less than a year, and is absent without one', async () => {
    const { headers, body } = await get('/.well-known/security.txt')
    expect(headers['content-type']).toBe('text/plain; charset=utf-8')
    expect(body).toMatch(/^Contact: mailto:mail@shop\.example\nExpires: \S+T00:00:00Z\n/)
    const days = (Date.parse(/Expires: (\S+)/.exec(body)?.[1] ?? '') - Date.now()) / 86_400_000
    expect(days > 30 && days < 365).toBe(true)
    const silent = await sharedServer({ PUBLIC_URL: publicUrl })
    expect((await silent.app.inject('/.well-known/security.txt')).statusCode).toBe(404)
  })
})
