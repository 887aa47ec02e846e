import { describe, expect, test } from 'vitest'
import { isLocale, languageOf, locales } from '../../../../src/foundation/texts/language.ts'
import { lettersOf } from '../../../../src/foundation/values/nearest.ts'
import { canImport, services } from '../../../../src/http/pages/records/services.ts'
import { columnsOf, isTaken } from '../../../../src/shop/csv/lines/columns.ts'
import { suggest } from '../../../../src/shop/csv/take-in/mapping.ts'

describe.each(Object.keys(locales).filter(isLocale))('headings in the words of %s', (locale) => {
  const { say } = languageOf(locale)

  test.each(services.filter(canImport))('of $path are known as an export writes them', ({ resource, values }) => {
    const columns = columnsOf(resource).filter((column) => isTaken(column) && column.field.access !== 'wo')
    const labelled = columns.flatMap(({ name }) => {
      const value = values.find(({ path }) => path.join('.') === name)
      return value === undefined ? [] : [{ name, words: say(value.label) }]
    })
    const { suggestions } = suggest(
      { privileges: null },
      resource,
      labelled.map(({ words }) => words),
    )
    // A file with a heading twice is refused.
    const twice = Map.groupBy(labelled, ({ words }) => words.toLowerCase())
    expect([...twice.values()].filter(({ length }) => length > 1)).toEqual([])
    // Words that several columns share may mean any of them.
    const wrong = labelled.filter(({ name, words }, at) => {
      const { column = '' } = suggestions[at] ?? {}
      const isShared = labelled.some((other) => other.name !== name && lettersOf(other.words) === lettersOf(words))
      return column !== '' && column !== name && !isShared
    })
    expect(wrong).toEqual([])
    // What is left asks.
    const known = labelled.filter(({ name }, at) => suggestions[at]?.column === name)
    expect(known.length).toBeGreaterThan(labelled.length * 0.8)
  })
})
