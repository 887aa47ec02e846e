import { parse, TYPE } from '@formatjs/icu-messageformat-parser'
import { describe, expect, it } from 'vitest'
import { languages, readCatalogues, tidyCatalogues } from '../../../../tools/texts/catalogues.ts'

describe.each(languages)('the catalogues of %s', (language) => {
  const found = readCatalogues(language)
  const entries = Object.values(found).flatMap((each) => Object.entries(each))

  it('say everything that pages say and nothing else; npm run texts brings them up to it', () => {
    const tidy = tidyCatalogues(language)
    expect(Object.keys(found)).toEqual(Object.keys(tidy))
    for (const [file, each] of Object.entries(tidy))
      expect(Object.keys(found[file] ?? {}), file).toEqual(Object.keys(each))
    expect(entries.filter(([, said]) => said === '').map(([message]) => message)).toEqual([])
    // The compiler reads all sources, which takes its time on a busy machine.
  })

  it('have the values and the elements of each message', () => {
    const differing = entries.filter(
      ([message, said]) => said !== '' && String(marksOf(message)) !== String(marksOf(said)),
    )
    expect(differing).toEqual([])
  })

  it('end as the message does', () => {
    const ending = (text: string) => /[.:?!…]$/.exec(text)?.[0] ?? ''
    expect(entries.filter(([message, said]) => said !== '' && ending(message) !== ending(said))).toEqual([])
  })
})

/** The names of the values and the tags of a message. */
function marksOf(message: string): string[] {
  const tags = message.match(/<\/?[a-z]+\d*>/g) ?? []
  return [...new Set([...tags, ...argumentsOf(parse(message, { ignoreTag: true }))])].sort()
}

function argumentsOf(elements: ReturnType<typeof parse>): string[] {
  return elements.flatMap((element) => {
    if (element.type === TYPE.literal || element.type === TYPE.pound || element.type === TYPE.tag) return []
    if (element.type !== TYPE.plural && element.type !== TYPE.select) return [element.value]
    return [element.value, ...Object.values(element.options).flatMap(({ value }) => argumentsOf(value))]
  })
}
