import { describe, expect, test } from 'vitest'
import { locales } from '../../../../src/foundation/texts/language.ts'
import { testPerson } from '../../../support/person.ts'
import { developerIn, merchantIn, operatorIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'
import { leadsTo } from './people/fixture.ts'

const server = await sharedServer()

const german = { 'accept-language': 'de-DE,de;q=0.9,en;q=0.5' }
const english = { 'accept-language': 'en-US,en;q=0.9' }

/** A merchant of a store of its own, whose address nobody else shares a setting with. */
async function newMerchant() {
  const { store } = await server.openStore({ timeZone: 'Europe/Berlin' })
  return merchantIn(server, store)
}

describe('without a session, the browser says the language', () => {
  test.each([
    ['de-DE,de;q=0.9,en;q=0.5', 'de', 'Anmelden'],
    ['de', 'de', 'Anmelden'],
    ['de-LU', 'de', 'Anmelden'],
    ['fr-FR, de-CH;q=0.8, en;q=0.3', 'de', 'Anmelden'],
    ['en-GB, de;q=0.5', 'en', 'Sign in'],
    ['en;q=0.2, de;q=0.9', 'de', 'Anmelden'],
    ['de;q=0, en', 'en', 'Sign in'],
    ['fr-FR, it;q=0.9', 'en', 'Sign in'],
    ['', 'en', 'Sign in'],
    ['*', 'en', 'Sign in'],
    ['q=;;,\u00e4,constructor', 'en', 'Sign in'],
  ])('Accept-Language %j: the sign-in page is in %j', async (accepted, tag, title) => {
    const { body, statusCode, headers } = await testPerson(server.app).open('/admin/sign-in', {
      'accept-language': accepted,
    })

    expect(statusCode).toBe(200)
    expect(body).toContain(`<html lang="${tag}">`)
    expect(body).toContain(`<h1>${title}</h1>`)
    // One address has a page in each language.
    expect(headers['cache-control']).toBe('no-store')
  })

  test('no header at all is English', async () => {
    expect((await testPerson(server.app).open('/admin/sign-in')).body).toContain('<html lang="en">')
  })

  test('the whole sign-in page is German: labels, hints, names for screen readers and the title', async () => {
    const { body } = await testPerson(server.app).open('/admin/sign-in', german)

    expect(body).toContain('<title>Anmelden · store-platform</title>')
    for (const text of ['E-Mail-Adresse', 'Passwort vergessen?', 'Konten in mehreren Shops?', 'Zum Inhalt springen']) {
      expect(body).toContain(text)
    }
    expect(body).not.toMatch(/>[^<]*(Sign in|Password|Skip to)/)
  })

  test('an address without a page says so in German', async () => {
    const { body, statusCode } = await testPerson(server.app).open('/operator/nothing-here', german)

    expect(statusCode).toBe(404)
    expect(body).toContain('<h1>Nicht gefunden</h1>')
  })

  test.each(['/docs', '/docs/guides', '/docs/search?q=order'])('%s is English for everybody', async (address) => {
    const { body, statusCode } = await testPerson(server.app).open(address, german)

    expect(statusCode).toBe(200)
    expect(body).toContain('<html lang="en">')
    expect(body).toContain('Skip to the content')
  })
})

const areas = [
  { area: 'admin', enter: newMerchant },
  { area: 'developers', enter: () => developerIn(server) },
  { area: 'operator', enter: () => operatorIn(server) },
]

describe.each(areas)('the setting of /$area/account', ({ area, enter }) => {
  const page = `/${area}/account`
  const action = `${page}/language`

  test('offers each language by its own name, and what the browser says', async () => {
    const person = await enter()
    const { body } = await person.open(page, german)
    const form = body.slice(body.indexOf(`action="${action}"`)).split('</form>')[0] ?? ''

    expect(form).toContain('<option value="" selected>Wie im Browser eingestellt</option>')
    expect([...form.matchAll(/<option value="([^"]+)">([^<]*)/g)].map(([, tag, name]) => [tag, name])).toEqual(
      Object.entries(locales),
    )
  })

  test('counts over the browser from the next page on, whose notice is in the new language', async () => {
    const person = await enter()
    const answer = await person.submit(page, { Locale: 'de-AT' }, { action, headers: english })
    const { body } = await person.open(`${page}?notice=language-chosen`, english)

    expect(leadsTo(answer)).toEqual([303, `${page}?notice=language-chosen`])
    expect(body).toContain('<html lang="de">')
    expect(body).toContain('<p class="notice" role="status">Die Seiten erscheinen jetzt in der gewählten Sprache.</p>')
    expect(body).toContain('<h1>Ihr Konto</h1>')
    expect(body).toContain('<option value="de-AT" selected>Deutsch (Österreich)</option>')
    expect((await person.open('/docs', english)).body).toContain('<html lang="en">')

    await person.submit(page, { Locale: 'en-GB' }, { action })
    expect((await person.open(page, german)).body).toContain('<h1>Your account</h1>')

    await person.submit(page, { Locale: '' }, { action })
    expect((await person.open(page, german)).body).toContain('<h1>Ihr Konto</h1>')
    expect((await person.open(page, english)).body).toContain('<h1>Your account</h1>')
  })

  test('is read and set by programs, and written to the audit log where it changes', async () => {
    const person = await enter()
    const since = await server.services.db.auditEntry.count()
    const set = (Locale: string) => person.call('POST', action, { Locale })

    expect((await person.call('GET', page)).json().Locale).toBe('')
    expect((await set('de-CH')).statusCode).toBe(204)
    expect((await set('de-CH')).statusCode).toBe(204)
    expect((await person.call('GET', page)).json().Locale).toBe('de-CH')
    expect((await set('')).statusCode).toBe(204)
    expect((await person.call('GET', page)).json().Locale).toBe('')

    const { Email } = (await person.call('GET', page)).json()
    const entries = await server.services.db.auditEntry.findMany({ orderBy: { id: 'asc' }, skip: since })
    expect(entries.map(({ action, target, actor, details }) => ({ action, target, actor, details }))).toEqual([
      {
        action: 'account.language-changed',
        target: Email,
        actor: Email,
        details: { language: { from: null, to: 'de-CH' } },
      },
      {
        action: 'account.language-changed',
        target: Email,
        actor: Email,
        details: { language: { from: 'de-CH', to: null } },
      },
    ])
  })

  test.each([{ Locale: 'fr-FR' }, { Locale: 'de' }, { Locale: 'de-de' }, { Locale: null }, { Locale: 7 }, {}])(
    '%j is refused, and the refusal says what is allowed',
    async (sent) => {
      const person = await enter()
      const answer = await person.call('POST', action, sent)

      expect(answer.statusCode).toBe(400)
      expect(answer.json()[0]).toMatchObject({
        Value: 'Locale',
        Message: expect.stringContaining('en-US, en-GB, de-DE, de-AT, de-CH, or empty'),
      })
      expect((await person.call('GET', page)).json().Locale).toBe('')
    },
  )

  test('a value that the form does not offer is refused beside the field', async () => {
    const person = await enter()
    const { body, statusCode } = await person.submit(page, { Locale: 'xx' }, { action })

    expect(statusCode).toBe(400)
    expect(body).toMatch(/id="Locale-problem"[^<]*>Language and region must be one of en-US/)
  })
})

test('the setting is of one person: nobody else’s pages change', async () => {
  const [person, other] = [await developerIn(server), await developerIn(server)]
  await person.call('POST', '/developers/account/language', { Locale: 'de-DE' })

  expect((await other.open('/developers/account', english)).body).toContain('<html lang="en">')
})

test('the sign-in page is as the browser says again once somebody with a setting is signed out', async () => {
  const person = await newMerchant()
  await person.call('POST', '/admin/account/language', { Locale: 'de-DE' })
  await person.submit('/admin/account', {}, { action: '/admin/sign-out' })

  expect((await person.open('/admin/sign-in', english)).body).toContain('<h1>Sign in</h1>')
})

test('roles that every store has stand on English pages with a capital, whatever programs call them', async () => {
  const person = await newMerchant()
  expect((await person.open('/admin/account')).body).toContain('<dd>Owner</dd>')
  const { body } = await person.open('/admin/people')
  const roles = [...body.matchAll(/name="Role" value="(\w+)"[^>]*> <strong>(\w+)/g)].map(([, ...role]) => role.join())
  expect(roles).toEqual(['owner,Owner', 'manager,Manager', 'orders,Orders', 'catalogue,Catalogue', 'reader,Reader'])
})

test('numbers, dates, event names, roles and the log are as the locale writes them', async () => {
  const person = await newMerchant()
  await person.call('POST', '/admin/account/language', { Locale: 'de-DE' })
  const words = async (address: string) => (await person.open(address)).body.replaceAll('\u00a0', ' ')

  expect(await words('/admin/account')).toContain('<dd>Inhaber</dd>')
  expect(await words('/admin/account')).toContain('Seit 10.')
  expect(await words('/admin/audit')).toContain('Sprache: wie im Browser eingestellt → Deutsch (Deutschland)')
  expect(await words('/admin/webhooks/new')).toContain('>Bestellstatus geändert</option>')
  expect(await words('/admin/people')).toMatch(/<strong>Sortiment<\/strong> <small>Produkte mit Preisen und Bestand/)
  expect(await words('/admin/settings/order-statuses')).toContain('aria-label="Text von ')
})
