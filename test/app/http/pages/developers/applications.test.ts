import { describe, expect, test } from 'vitest'
import { refused } from '../../../../support/refused.ts'
import { developerIn } from '../../../../support/signed-in.ts'
import { sharedServer } from '../../../../support/store.ts'
import { logged, read, registered, usedBy } from './fixture.ts'

const list = '/developers/applications'

const server = await sharedServer()
const developer = await developerIn(server)

describe('JSON', () => {
  test('POST answers 201 with a key pair; without Privileges everything is asked for, and nobody is called', async () => {
    const answer = await developer.call('POST', list, { Name: ' Order sync ' })
    expect(answer.statusCode).toBe(201)
    const application = answer.json()
    expect(application).toEqual({
      Id: expect.any(Number),
      Name: 'Order sync',
      Kind: 'existing',
      PublicKey: expect.stringMatching(/^[0-9a-f]{32}$/),
      PrivateKey: expect.stringMatching(/^[0-9a-f]{32}$/),
      FormerPrivateKeyUntil: null,
      CallBackURL: null,
      Erasures: false,
      CallBackSecret: expect.stringMatching(/^whsec_[A-Za-z0-9+/]{43}=$/),
      RedirectURIs: [],
      Privileges: null,
      DateCreated: '2026-03-10T16:00:00.000Z',
    })
    expect(application.PrivateKey).not.toBe(application.PublicKey)
    expect(await logged(server, application)).toEqual([
      { action: 'application.created', actorKind: 'developer', target: 'Order sync', details: {}, storeId: null },
    ])
  })

  test('GET, of one and of all, answers what POST and PUT answered', async () => {
    const own = await developerIn(server)
    expect((await own.call('GET', list)).json()).toEqual([])
    const first = await registered(own, { Name: 'First', RedirectURIs: ['https://a.example/cb'] })
    const second = await registered(own, { Name: 'Second', Privileges: { products: ['write', 'read'] } })
    const changed = (await own.call('PUT', `${list}/${first.Id}`, { Name: 'Renamed' })).json()
    expect(changed).toEqual({ ...first, Name: 'Renamed' })
    expect(second.Privileges).toEqual({ Products: ['read', 'write'] })
    expect((await own.call('GET', list)).json()).toEqual([changed, second])
    expect(await read(own, first)).toEqual(changed)
  })

  test('PUT changes what is named and leaves the rest; null takes it back to the default; the log has what changed', async () => {
    const before = await registered(developer, {
      CallBackURL: 'https://app.example/callback?key=secret',
      RedirectURIs: ['https://app.example/cb'],
      Privileges: { Products: ['read'] },
    })
    const put = async (body: object) => (await developer.call('PUT', `${list}/${before.Id}`, body)).json()
    expect(await put({})).toEqual(before)
    const { CallBackURL } = before
    expect(await put({ CallBackURL, Privileges: { Products: ['read'], Orders: [] } })).toMatchObject({ CallBackURL })
    const [Privileges, uncalled] = [{ Orders: ['write'] }, { ...before, CallBackURL: null }]
    expect(await put({ CallBackURL: '', Privileges })).toEqual({ ...uncalled, Privileges })
    const bare = { ...uncalled, Erasures: true, RedirectURIs: [], Privileges: null }
    expect(await put({ Erasures: true, RedirectURIs: null, Privileges: null })).toEqual(bare)
    const entries = await logged(server, before)
    expect(entries.map(({ action, details }) => [action, details])).toEqual([
      ['application.created', {}],
      ['application.changed', { changed: ['callbackUrl', 'privileges'] }],
      ['application.changed', { changed: ['wantsErasures', 'redirectUris', 'privileges'] }],
    ])
    expect(JSON.stringify(entries)).not.toContain('secret')
  })

  const long = `https://app.example/${'x'.repeat(2_000)}`
  test.each([
    ['no name', { Name: undefined }, 'Name', 'Name is missing and must be a text of 1 to 200 characters'],
    ['an empty name', { Name: ' ' }, 'Name', 'must be a text of 1 to 200'],
    ['a name of 201 characters', { Name: 'x'.repeat(201) }, 'Name', 'must be a text of 1 to 200'],
    ['a name of two lines', { Name: 'a\nb' }, 'Name', 'on one line'],
    [
      'a member that there is not',
      { Throttle: null },
      'Throttle',
      'allowed are Name, CallBackURL, Erasures, RedirectURIs',
    ],
    ['a text as Erasures', { Erasures: 'true' }, 'Erasures', 'must be true or false'],
    ['a number as CallBackURL', { CallBackURL: 5 }, 'CallBackURL', 'must be an http or https address'],
    ['a CallBackURL by ftp', { CallBackURL: 'ftp://app.example/' }, 'CallBackURL', 'must begin with http:// or https'],
    ['no address as CallBackURL', { CallBackURL: 'app.example' }, 'CallBackURL', 'is not a web address'],
    ['a CallBackURL inside', { CallBackURL: 'https://10.0.0.5/' }, 'CallBackURL', 'not a public address'],
    ['a CallBackURL inside, disguised', { CallBackURL: 'https://[::ffff:10.0.0.5]/' }, 'CallBackURL', 'not a public'],
    ['a CallBackURL on port 25', { CallBackURL: 'http://app.example:25/' }, 'CallBackURL', 'must not use port 25'],
    ['a CallBackURL with a password', { CallBackURL: 'https://a:b@app.example/' }, 'CallBackURL', 'user name'],
    ['a CallBackURL with a line break', { CallBackURL: 'https://app.example/\nx' }, 'CallBackURL', 'http or https'],
    ['a CallBackURL of 2,001 characters', { CallBackURL: long.slice(0, 2_001) }, 'CallBackURL', 'at most 2000'],
    ['a text as RedirectURIs', { RedirectURIs: 'https://a.example' }, 'RedirectURIs', 'list of at most 20'],
    ['21 RedirectURIs', { RedirectURIs: Array(21).fill('https://a.example') }, 'RedirectURIs', 'list of at most 20'],
    [
      'a redirect address of 2,001 characters',
      { RedirectURIs: [long.slice(0, 2_001)] },
      'RedirectURIs.0',
      '2000 ASCII',
    ],
    ['a service that there is not', { Privileges: { Product: ['read'] } }, 'Privileges.Product', 'has no property'],
    ['a right that there is not', { Privileges: { Products: ['delete'] } }, 'Privileges.Products.0', 'read and write'],
    [
      'a thousand rights',
      { Privileges: { Products: Array(1_000).fill('x') } },
      'Privileges.Products',
      'read and write',
    ],
  ])('%s is refused with a 400 that names the field, and nothing is stored', async (_what, body, field, message) => {
    const before = (await developer.call('GET', list)).json()
    const answer = await developer.call('POST', list, { Name: 'App', ...body })
    expect(refused(answer)).toMatchObject({ statusCode: 400, field, message: expect.stringContaining(message) })
    expect(answer.body.length).toBeLessThan(1_000)
    expect((await developer.call('GET', list)).json()).toEqual(before)
  })

  test.each([
    'app.example/cb',
    '/cb',
    '//app.example/cb',
    'ftp://app.example/cb',
    'myapp://cb',
    'javascript:alert(1)',
    'https:app.example',
    'https://',
    'https://[',
    'https://app.example/cb#',
    'https://app.example/cb#part',
    'https://app.example@evil.example/cb',
    'https://:x@app.example/cb',
    'https://app.example\\@evil.example/',
    'https://app.example/a b',
    ' https://app.example/cb',
    'https://app.example/cb\n',
    'https://bücher.example/cb',
    'https://app.example/<script>',
    5,
    null,
  ])('a redirect address %j is refused', async (uri) => {
    const answer = await developer.call('POST', list, { Name: 'App', RedirectURIs: ['https://fine.example/', uri] })
    expect(refused(answer)).toMatchObject({ statusCode: 400, field: 'RedirectURIs.1' })
  })

  test('redirect addresses are kept as they were given, once each', async () => {
    const uris = [
      'HTTPS://App.Example:443/cb/../x?next=%2f&a=[1]',
      'https://app.example',
      'https://app.example/',
      'http://127.0.0.1:8080/cb?mail=a@b.example',
      long.slice(0, 2_000),
    ]
    const application = await registered(developer, { RedirectURIs: [...uris, uris[0]] })
    expect(application.RedirectURIs).toEqual(uris)
    expect((await read(developer, application)).RedirectURIs).toEqual(uris)
  })

  test('20 redirect addresses and a CallBackURL of 2,000 characters are taken', async () => {
    const RedirectURIs = Array.from({ length: 20 }, (_, index) => `https://app.example/${index}`)
    const application = await registered(developer, { RedirectURIs, CallBackURL: long.slice(0, 2_000) })
    expect(application).toMatchObject({ RedirectURIs, CallBackURL: long.slice(0, 2_000) })
  })

  test('DELETE answers a result item; afterwards it is gone, and deleting it again answers 404', async () => {
    const application = await registered(developer)
    const answer = await developer.call('DELETE', `${list}/${application.Id}`)
    expect([answer.statusCode, answer.json()]).toEqual([
      200,
      [{ Key: 'Id', Value: String(application.Id), Status: '200', Message: 'Deleted successfully' }],
    ])
    expect((await developer.call('GET', `${list}/${application.Id}`)).statusCode).toBe(404)
    expect((await developer.call('DELETE', `${list}/${application.Id}`)).statusCode).toBe(404)
  })

  test('a developer has at most 100 applications, however many are registered at once', async () => {
    const own = await developerIn(server)
    for (let count = 0; count < 98; count++) await registered(own)
    const answers = await Promise.all(Array.from({ length: 6 }, () => own.call('POST', list, { Name: 'One more' })))
    expect(answers.map(({ statusCode }) => statusCode).toSorted()).toEqual([201, 201, 409, 409, 409, 409])
    const applications = (await own.call('GET', list)).json()
    expect(applications).toHaveLength(100)
    await own.call('DELETE', `${list}/${applications[0].Id}`)
    expect((await own.call('POST', list, { Name: 'In its place' })).statusCode).toBe(201)
  })
})

describe('of others', () => {
  test('an application of the operator is no developer’s', async () => {
    const { application } = await server.openStore()
    expect((await developer.call('GET', `${list}/${application.id}`)).statusCode).toBe(404)
    expect((await developer.call('GET', list)).body).not.toContain(application.publicKey)
  })
})

describe('pages', () => {
  test('/developers leads to the applications; without any, they say what to do', async () => {
    const own = await developerIn(server)
    const first = await own.open('/developers')
    expect([first.statusCode, first.headers.location]).toEqual([303, list])
    const page = await own.open(list)
    expect(page.body).toContain('You have no applications yet.')
    expect(page.body).toContain('href="/developers/applications/new"')
  })

  test('the form registers what a program would, and leads to the page of the application, which shows its keys', async () => {
    const answer = await developer.submit(
      `${list}/new`,
      {
        Name: 'Order sync',
        CallBackURL: 'https://app.example/callback',
        Erasures: 'true',
        RedirectURIs: 'https://app.example/cb\r\n\r\n  https://app.example/cb2 ',
        Kind: 'new',
        Privileges: 'these',
        'Privileges.Products': ['read', 'write'],
        'Privileges.Orders': 'read',
      },
      { action: list },
    )
    expect(answer.statusCode).toBe(303)
    const [, id] = /^\/developers\/applications\/(\d+)\?notice=application-created$/.exec(
      String(answer.headers.location),
    ) as string[]
    const application = await read(developer, { Id: Number(id) })
    expect(application).toMatchObject({
      Name: 'Order sync',
      Kind: 'new',
      CallBackURL: 'https://app.example/callback',
      Erasures: true,
      RedirectURIs: ['https://app.example/cb', 'https://app.example/cb2'],
      Privileges: { Products: ['read', 'write'], Orders: ['read'] },
    })
    const page = await developer.open(String(answer.headers.location))
    expect(page.statusCode).toBe(200)
    expect(page.body).toContain('The application is registered.')
    for (const value of [application.PublicKey, application.PrivateKey, application.CallBackSecret]) {
      expect(page.body).toContain(`${value}</code>`)
    }
    expect(page.body).toContain('data-copy="PrivateKey"')
    expect(checked(page.body)).toEqual([
      'Erasures=true',
      'Kind=new',
      'Privileges.Orders=read',
      'Privileges.Products=read',
      'Privileges.Products=write',
      'Privileges=these',
    ])
  })

  test('everything is what is asked for when that is chosen, whatever is ticked', async () => {
    const { headers } = await developer.submit(
      `${list}/new`,
      { Name: 'All', Privileges: 'everything', 'Privileges.Products': 'read' },
      { action: list },
    )
    const page = await developer.open(String(headers.location))
    expect(checked(page.body)).toEqual(['Kind=existing', 'Privileges=everything'])
  })

  test('a form that is refused comes again with what was typed, and the faults beside its fields', async () => {
    const typed = {
      Name: '',
      CallBackURL: 'https://10.0.0.5/"><script>',
      RedirectURIs: 'https://fine.example/\nhttps://app.example/#part',
      Privileges: 'these',
      'Privileges.RMA': 'write',
    }
    const before = (await developer.call('GET', list)).json()
    const answer = await developer.submit(`${list}/new`, typed, { action: list })
    expect(answer.statusCode).toBe(400)
    expect((await developer.call('GET', list)).json()).toEqual(before)
    const page = answer.body
    expect(page).toContain('id="Name-problem"')
    expect(page).toContain('Name must be a text of 1 to 200 characters')
    expect(page).toMatch(/id="CallBackURL-problem"[^>]*>CallBackURL leads to 10\.0\.0\.5/)
    expect(page).toMatch(
      /id="RedirectURIs-problem"[^>]*>Redirect addresses hold “https:\/\/app\.example\/#part”, which must/,
    )
    expect(page).toContain('value="https://10.0.0.5/&quot;&gt;&lt;script&gt;"')
    expect(page).toContain('https://fine.example/\nhttps://app.example/#part</textarea>')
    expect(checked(page)).toEqual(['Privileges.RMA=write', 'Privileges=these'])
  })

  test.each([
    ['none is ticked', { Privileges: 'these' }],
    ['nothing is chosen', {}],
    ['what is chosen is not offered', { Privileges: 'all' }],
    ['what is ticked is not offered', { Privileges: 'these', 'Privileges.Users': 'read' }],
  ])('a form is refused beside its privileges when %s', async (_when, fields) => {
    const answer = await developer.submit(`${list}/new`, { Name: 'App', ...fields }, { action: list })
    expect(answer.statusCode).toBe(400)
    expect(answer.body).toMatch(/id="Privileges-problem"[^>]*>Privileges must be everything, or at least one/)
  })

  test('the settings are changed by the form of the page; refused, it has what was typed and the keys still', async () => {
    const asked = { Erasures: true, Privileges: { Products: ['read'] } }
    const application = await registered(developer, { Name: 'Before', ...asked })
    const address = `${list}/${application.Id}`
    const settings = { Name: 'After', Kind: 'new', Privileges: 'these', 'Privileges.Orders': 'write' }
    const answer = await developer.submit(address, settings)
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${address}?notice=application-changed`])
    const changed = { ...application, Name: 'After', Kind: 'new', Erasures: false, Privileges: { Orders: ['write'] } }
    expect(await read(developer, application)).toEqual(changed)

    const refusal = await developer.submit(address, { ...settings, Name: 'Again', CallBackURL: 'nowhere' })
    expect(refusal.statusCode).toBe(400)
    expect(refusal.body).toContain('value="Again"')
    expect(refusal.body).toContain('value="nowhere"')
    expect(refusal.body).toContain('<h1>After</h1>')
    expect(refusal.body).toContain(application.PublicKey)
    expect(await read(developer, application)).toEqual(changed)
  })

  test('of two tabs that change the same application, the one that is sent last has its way', async () => {
    const application = await registered(developer)
    const address = `${list}/${application.Id}`
    const settings = { Privileges: 'everything' }
    await Promise.all([
      developer.submit(address, { ...settings, Name: 'One', CallBackURL: 'https://one.example/' }),
      developer.submit(address, { ...settings, Name: 'Two', CallBackURL: 'https://two.example/' }),
    ])
    const { Name, CallBackURL } = await read(developer, application)
    expect([
      ['One', 'https://one.example/'],
      ['Two', 'https://two.example/'],
    ]).toContainEqual([Name, CallBackURL])
  })

  test('names are shown as texts on every page', async () => {
    const own = await developerIn(server)
    const Name = `"><script>alert('x')</script><img src=x onerror=alert(1)>{{7*7}}<%= 7 %>`
    const application = await registered(own, { Name, CallBackURL: 'https://app.example/"><script>' })
    await usedBy(server, await registered(own, { Name }), Name)
    const [, other] = (await own.call('GET', list)).json()
    for (const path of [
      '',
      `/${application.Id}`,
      `/${application.Id}/delete`,
      `/${application.Id}/stores`,
      `/${other.Id}/stores`,
    ]) {
      const { statusCode, body } = await own.open(list + path)
      expect([path, statusCode]).toEqual([path, 200])
      expect(body).toContain('&quot;&gt;&lt;script&gt;alert(&#39;x&#39;)')
      expect(body).not.toMatch(/<script>|<img src=x/)
    }
  })

  test('the page of deletion says how many stores use it; deleted, their calls are refused, and their logs say why', async () => {
    const application = await registered(developer, { Name: 'To be deleted' })
    const [first, second] = [await usedBy(server, application), await usedBy(server, application)]
    expect(await first.status(application.PrivateKey)).not.toBe(401)
    const address = `${list}/${application.Id}/delete`
    expect((await developer.open(address)).body).toContain('2 stores use this application.')

    const answer = await developer.submit(address, {})
    expect([answer.statusCode, answer.headers.location]).toEqual([303, `${list}?notice=application-deleted`])
    expect(await first.status(application.PrivateKey)).toBe(401)
    expect(await second.status(application.PrivateKey)).toBe(401)
    expect((await developer.open(`${list}/${application.Id}`)).statusCode).toBe(404)
    expect((await logged(server, application)).slice(-3)).toEqual([
      ...[first, second].map(({ store }) => ({
        action: 'subscription.removed',
        actorKind: 'developer',
        target: 'To be deleted',
        details: { applicationDeleted: true },
        storeId: store.id,
      })),
      { action: 'application.deleted', actorKind: 'developer', target: 'To be deleted', details: {}, storeId: null },
    ])
  })
})

describe('privileges', () => {
  test('taken away they end at once in every store; added, they wait for the merchant', async () => {
    const application = await registered(developer, { Privileges: { Products: ['read'], Orders: ['read'] } })
    const shop = await usedBy(server, application)
    const statuses = async () => [
      await shop.status(application.PrivateKey, 'GET', 'Products'),
      await shop.status(application.PrivateKey, 'GET', 'Orders'),
      await shop.status(application.PrivateKey, 'GET', 'Customers'),
    ]
    expect(await statuses()).toEqual([404, 404, 401])
    await developer.call('PUT', `${list}/${application.Id}`, {
      Privileges: { Products: ['read'], Customers: ['read'] },
    })
    expect(await statuses()).toEqual([404, 401, 401])
  })
})

/** The boxes and buttons that are ticked in a page, as `name=value`. */
function checked(page: string): string[] {
  const inputs = page.match(/<input\b[^>]*\schecked>/g) ?? []
  const attribute = (input: string, name: string) => new RegExp(`\\s${name}="([^"]*)"`).exec(input)?.[1]
  return inputs.map((input) => `${attribute(input, 'name')}=${attribute(input, 'value')}`).toSorted()
}

test('no page of a JSON route was sent twice: the log has no defect', () => {
  expect(server.log.filter((line) => line.includes('"err"'))).toEqual([])
})
