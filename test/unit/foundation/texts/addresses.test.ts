import { expect, test } from 'vitest'
import { formatOf } from '../../../../src/foundation/texts/format.ts'

const at = (BillingCountry: string) => ({
  BillingFirstName: 'Ada',
  BillingLastName: 'Byron',
  BillingAddress: 'Main St 5',
  BillingCity: 'Town',
  BillingState: 'ST',
  BillingZipCode: '12345',
  BillingCountry,
})

test.each([
  { country: 'US', lines: ['Town, ST 12345', 'United States'], german: 'Vereinigte Staaten' },
  { country: 'DE', lines: ['12345 Town, ST', 'Germany'], german: 'Deutschland' },
  { country: 'de', lines: ['12345 Town, ST', 'de'], german: 'de' },
  { country: 'Atlantis', lines: ['Town, ST 12345', 'Atlantis'], german: 'Atlantis' },
  { country: '', lines: ['Town, ST 12345'], german: undefined },
])('an address in $country has the order of its country, and its name', ({ country, lines, german }) => {
  const address = (locale: string) => formatOf(locale).postalAddress(at(country), 'Billing')
  expect(address('en-US')).toEqual(['Ada Byron', 'Main St 5', ...lines])
  expect(address('de-DE')[3]).toBe(german)
})

test('countries are offered by their names in the reader’s order, and what else is stored behind them', () => {
  const names = (typed: string) => formatOf('de-DE').countries(typed)
  expect(names('')).toHaveLength(249)
  expect(
    names('')
      .slice(0, 3)
      .map(([, name]) => name),
  ).toEqual(['Afghanistan', 'Ägypten', 'Ålandinseln'])
  expect(names('US')).toHaveLength(249)
  expect(names('Atlantis').at(-1)).toEqual(['Atlantis', 'Atlantis'])
})
