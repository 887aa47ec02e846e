import { describe, expect, it } from 'vitest'
import { languageOf } from '../../../../src/foundation/texts/language.ts'
import { refusalsOf } from '../../../../src/foundation/texts/refusals.ts'
import { languages, readCatalogues } from '../../../../tools/texts/catalogues.ts'

describe.each(languages)('the refusals of %s', (language) => {
  const { 'refusals.json': catalogue = {} } = readCatalogues(language)
  const say = refusalsOf(new Map(Object.entries(catalogue)), 'de-DE')
  const filled = (text: string) => text.replace(/\{(\d)(, number)?\}/g, (_, place) => `Zq${place}`)

  it('are each found by their own message, whatever its values', () => {
    // Words that are joined are only values of messages.
    const sentences = Object.entries(catalogue).filter(([message]) => !/^\{1\};? (and|or) /.test(message))
    const others = sentences.filter(([message, said]) => say(filled(message)) !== filled(said))
    expect(others.map(([message]) => [message, say(filled(message))])).toEqual([])
  })
})

describe('what says refusals', () => {
  const { sayProblem: say } = languageOf('de-DE')

  it('says values that are messages or lists of words themselves', () => {
    expect(say('is missing and must be a text')).toBe('fehlt und muss ein Text sein')
    expect(say('must be csv or ndjson')).toBe('muss csv oder ndjson sein')
    expect(say('There is no Order 12')).toBe('Bestellung 12 gibt es nicht')
  })

  it('writes numbers as the reader does, with the decimals that they have, and identifiers as they are', () => {
    expect(say('must be lowered: goods, shipping and taxes come to 5 EUR, and the discounts to 7.5 EUR')).toContain(
      '5,00',
    )
    expect(say('would be outside of -2.5 to 1012.50')).toBe('läge außerhalb von -2,5 bis 1.012,50')
    expect(languageOf('de-CH').sayProblem('must be a text of 1 to 4000 characters')).toContain("4'000")
    expect(say('No customer has the id 12345')).toBe('Kein Kunde hat die Nummer 12345')
  })

  it('writes amounts as pages do in every language, as fine as they are', () => {
    const refund = 'must be at most 1012.5 USD for a refund: 1012.5 USD were paid, and 0.0125 USD were refunded already'
    expect(languageOf('en-US').sayProblem(refund)).toBe(
      'must be at most $1,012.50 for a refund: $1,012.50 were paid, and $0.0125 were refunded already',
    )
    expect(say(refund).replaceAll('\u00a0', ' ')).toBe(
      'darf bei einer Erstattung höchstens 1.012,50 $ sein: 1.012,50 $ wurden bezahlt und 0,0125 $ schon erstattet',
    )
    expect(say('would make the stock 5; it may be from 1 to 2')).toContain('Bestand von 5')
  })

  it('takes the message that leaves the least of it unsaid', () => {
    const problem = 'must be at most 3: the order has 5 of LAMP, of which 2 went back to stock already'
    expect(say(problem)).toBe('darf höchstens 3 sein: Die Bestellung hat 5 von LAMP, davon 2 schon wieder im Bestand')
  })

  it('says the problems of fields in one message', () => {
    expect(say('Price must be a number; SKU is already used by another Product')).toBe(
      'Price muss eine Zahl sein; SKU ist schon vergeben (Produkt)',
    )
  })

  it('leaves what no message fits', () => {
    expect(say('The moon must be full or new')).toBe('The moon must be full or new')
  })

  it('leaves what is much longer than any message, because looking for values in it could take long', () => {
    const typed = 'from 1 to '.repeat(60)
    expect(say(`is already used by another ${typed}`)).toBe(`is already used by another ${typed}`)
    expect(say('is already used by another Product')).toContain('vergeben')
  })
})
