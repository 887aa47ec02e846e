import { parse } from 'csv-parse/sync'
import type { FastifyInstance } from 'fastify'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createStore } from '../../../../../src/access/people/create-store.ts'
import { buildApp } from '../../../../../src/app.ts'
import { defineResource } from '../../../../../src/engine/definition/define.ts'
import { type Fields, text } from '../../../../../src/engine/definition/fields.ts'
import { openPages } from '../../../../../src/http/html/page-routes.ts'
import { servicePagesOf } from '../../../../../src/http/pages/records/routes.ts'
import { serviceOf } from '../../../../../src/http/pages/records/services.ts'
import { manufacturers } from '../../../../../src/shop/resources/manufacturers/manufacturers.ts'
import { workerDatabase } from '../../../../support/database.ts'
import { servicesOn } from '../../../../support/services.ts'
import { merchantAccount, merchantIn } from '../../../../support/signed-in.ts'

const fields: Fields = {
  ...Object.fromEntries(manufacturers.fields.entries),
  FavouriteColor: text(20, { description: 'The colour of its `Logo`.' }),
}
const makers = defineResource({
  service: 'Makers',
  typeName: 'Manufacturer',
  description: 'A company that makes products.',
  maxRecords: 500,
  fields,
  filters: manufacturers.filters,
  pages: { explains: { FavouriteColor: 'What it likes best.' } },
})

let app: FastifyInstance

const database = await workerDatabase()

beforeAll(async () => {
  const services = servicesOn(database.db)
  app = buildApp(services)
  app.register(async (scope) => {
    await openPages(scope, services)
    servicePagesOf(scope, services, serviceOf(makers))
  })
  await app.ready()
  await createStore(services, { Name: 'Makers', SecureURL: 'https://makers.example', ...merchantAccount })
})
afterAll(async () => {
  await app?.close()
  await database?.drop()
})

test('a field that one line adds to a definition is in the forms, the page, the list, the files and the history', async () => {
  const merchant = await merchantIn({ app }, { secureUrl: 'https://makers.example' })
  const added = await merchant.submit(
    '/admin/makers/new',
    { ManufacturerName: 'Alder', FavouriteColor: 'green' },
    { action: '/admin/makers' },
  )
  expect([added.statusCode, added.headers.location]).toEqual([303, '/admin/makers/1?notice=record-created'])

  const { body } = await merchant.open('/admin/makers/1')
  expect(body).toMatch(/<dt>Favourite color<\/dt>\s*<dd class="text">\s*green/)
  expect(body).toContain('&quot;FavouriteColor&quot;: &quot;green&quot;')

  const list = (await merchant.open('/admin/makers?columns=ManufacturerName&columns=FavouriteColor')).body
  expect(list).toMatch(/<td role="cell" data-label="Favourite color">\s*green/)

  const edit = '/admin/makers/1/edit?section=general'
  const meaning = /<dl>\s*<dt>Favourite color<\/dt>\s*<dd>What it likes best\.<\/dd>\s*<\/dl>/
  expect((await merchant.open(edit)).body).toMatch(meaning)
  expect((await merchant.open('/admin/makers/new')).body).toMatch(meaning)
  const tooLong = await merchant.submit(edit, { ...(await merchant.formOf(edit)), FavouriteColor: 'x'.repeat(21) })
  expect([tooLong.statusCode, tooLong.body.includes('at most 20 are allowed')]).toEqual([400, true])
  await merchant.submit(edit, { ...(await merchant.formOf(edit)), FavouriteColor: 'blue' })

  const history = (await merchant.open('/admin/makers/1/history')).body
    .replaceAll(/<[^>]*>/g, '')
    .replaceAll(/\s+/g, ' ')
  expect(history).toContain('Favourite color: green → blue')

  const [row] = parse((await merchant.open('/admin/makers/export?format=csv')).body, { bom: true, columns: true })
  expect(row).toMatchObject({ ManufacturerName: 'Alder', FavouriteColor: 'blue' })
  const record = JSON.parse((await merchant.open('/admin/makers/export?format=ndjson')).body)
  expect(record).toMatchObject({ ManufacturerName: 'Alder', FavouriteColor: 'blue' })
})
