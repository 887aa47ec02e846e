import { describe, expect, it, test } from 'vitest'
import { labelOf, plural } from '../../../../src/foundation/texts/label.ts'
import { english, languageOf } from '../../../../src/foundation/texts/language.ts'
import type { Text } from '../../../../src/foundation/texts/text.ts'
import { lettersOf } from '../../../../src/foundation/values/nearest.ts'
import { itemLabel, services, slugOf, type Value } from '../../../../src/http/pages/records/services.ts'

test.each([
  ['BillingFirstName', '', 'Billing first name'],
  ['BillingFirstName', 'Customer', 'Billing first name'],
  ['ManufacturerName', 'Manufacturer', 'Name'],
  ['CategoryID', 'Category', 'ID'],
  ['Category', 'Category', 'Category'],
  ['Categories', 'Category', 'Categories'],
  ['MFGID', 'Product', 'MFGID'],
  ['SKU', '', 'SKU'],
  ['RMAMaxPeriod', '', 'RMA max period'],
  ['SalesTax2', '', 'Sales tax 2'],
  ['ExtraField13', '', 'Extra field 13'],
])('%s of %j is called %j', (name, typeName, label) => {
  expect(labelOf(name, typeName)).toBe(label)
})

test.each([
  ['ImageGalleryList', 'Product', 'Image gallery', 'Image galleries'],
  ['OrderItemList', 'Order', 'Item', 'Items'],
  ['ExternalIdsList', 'Product', 'External id', 'External ids'],
])('an item of %s of a %s is called %j, and all of them %j', (name, typeName, one, all) => {
  expect([itemLabel(name, typeName), plural(one)]).toEqual([one, all])
})

test('a title is a part of an address', () => {
  expect(slugOf('Returns and search engines')).toBe('returns-and-search-engines')
})

describe.each(services.map((service) => [service.resource.service, service] as const))(
  'the words of %s',
  (_, service) => {
    const lists = service.sections.flatMap(({ list }) => (list === null ? [] : [list, ...list.lists]))
    const sets = [service.values, ...lists.map(({ values }) => values)]
    const titles = [...service.sections.map(({ title }) => title), ...lists.flatMap(({ label, one }) => [label, one])]
    const all = [...titles, ...sets.flat().map(({ label }) => label)].map(english)

    it('are a sentence’s, without the ID of a wire name', () => {
      const isPlain = (text: string) =>
        /^\p{Lu}[^\s,]*(?:,? (?:[\p{Ll}\d][^\s,]*|\p{Lu}{2,}))*$/u.test(text) && !/\bID\b/i.test(text)
      expect(all.filter((text) => !isPlain(text))).toEqual([])
    })

    it.each(['en-US', 'de-DE'] as const)('tell values and parts of a record from one another in %s', (locale) => {
      const { say } = languageOf(locale)
      for (const words of [...sets.map(labelsOf), service.sections.map(({ title }) => title)]) {
        const said = words.map(say)
        expect(said.filter((text, at) => said.indexOf(text) !== at)).toEqual([])
      }
    })

    // A heading of a CSV file is read as a label or as the last part of a name.
    it('are no other value’s name', () => {
      const owners = service.values.map(({ path, label }) => [lettersOf(english(label)), lettersOf(path.at(-1) ?? '')])
      for (const [label, own] of owners) expect(owners.filter(([, name]) => name === label && name !== own)).toEqual([])
    })
  },
)

function labelsOf(values: readonly Value[]): Text[] {
  return values.map(({ label }) => label)
}
