import { expect, test } from 'vitest'
import type { FieldSet } from '../../../../src/engine/definition/fields.ts'
import { resources } from '../../../../src/shop/registry.ts'
import { fillShop } from '../../../load/browser/shop-fixture.ts'
import { linksAt, unescaped } from '../../../support/person.ts'
import { merchantIn } from '../../../support/signed-in.ts'
import { sharedServer } from '../../../support/store.ts'

// Whether the pages of a store are in the words of shopkeepers: what programs call things stands on pages for programs alone.

const server = await sharedServer()
const shop = await server.openStore()
const merchant = await merchantIn(server, shop.store)
const places = await fillShop({ ...server, origin: 'https://pictures.example' }, shop, merchant)
await shop.add('/Distributors', { CompanyName: 'Birch' })
await shop.add('/GiftRegistries', { Name: 'Wedding', GiftRegistryItemList: [{ CatalogID: 1, Listed: 2 }] })

/** What developers read, what is no page, and products that a file has made, which are like others. */
const leftOut = /^\/admin\/(modules|webhooks)\b|\/(export|template|search)\?|\/products\/[4-9]/

/** The names in a definition that are no words of any language, at every depth. */
function wireNames({ entries }: FieldSet): string[] {
  const inner = entries.flatMap(([, field]) => ('fields' in field ? wireNames(field.fields) : []))
  return [...entries.map(([name]) => name), ...inner].filter((name) => /[a-z\d][A-Z]|[a-z]\d|^[A-Z]{2,}ID$/.test(name))
}

const names = new Set(resources.flatMap(({ storedFields }) => wireNames(storedFields)))
const unspoken = new RegExp(
  `\\b(?:${[...names].join('|')}|Unicode|Cf|code points?|integer|string|boolean)\\b|\\b(?:True|False|Ja|Nein):|\``,
  'g',
)

/** What a page shows and reads out, but for the record as programs read it, and the headings of a file that an export wrote. */
function wordsIn(address: string, html: string): string {
  const read = [...html.matchAll(/\s(?:aria-label|title|placeholder|alt)="([^"]*)"/g)].map(([, text]) => text)
  const shown = html.replace(/<(script|style|pre)\b[\s\S]*?<\/\1>/g, '')
  const said = /\/csv\b/.test(address) ? shown.replace(/<code>[^<]*<\/code>/g, '') : shown
  return unescaped([said.replace(/<[^>]*>/g, ' '), ...read].join(' '))
}

test.each(['en', 'de'])('all pages in %s are in the words of shopkeepers', async (tag) => {
  const unlinked = ['products/2/history', 'orders/1/history', 'search?q=lamp', `csv/${places.bulkId}`]
  const open = ['/admin', ...unlinked.map((address) => `/admin/${address}`)]
  const wrong: string[] = []
  for (const address of open) {
    const { headers, body } = await merchant.open(address, { 'accept-language': tag })
    if (!String(headers['content-type']).startsWith('text/html')) continue
    const found = wordsIn(address, body).match(unspoken) ?? []
    if (found.length > 0) wrong.push(`${address}: ${[...new Set(found)].join(', ')}`)
    const isNew = (link: string) => link.startsWith('/admin') && !leftOut.test(link) && !open.includes(link)
    open.push(...linksAt(body).filter(isNew))
  }
  expect(open.length).toBeGreaterThan(300)
  expect(wrong).toEqual([])
})
