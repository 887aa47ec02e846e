import fc from 'fast-check'
import { expect, test } from 'vitest'
import { StoreFailure } from '../../../../src/foundation/values/failure.ts'
import { attributeText, readXmlDocument, textOf, type XmlElement } from '../../../../src/foundation/xml/read.ts'
import { readShortXml } from '../../../../src/foundation/xml/read-short.ts'

// Two readers, of two libraries, hold each other to XML: what one takes, the other takes as the same document.

const bounds = { tagsMax: 200 }

type Tree = readonly [name: string, attributes: readonly (readonly string[])[], content: readonly (string | Tree)[]]

/** Neighbouring texts are one; where a reference in it stands for no character, it is what reading it says. */
function treeOf(element: XmlElement): Tree {
  const content: (string | Tree)[] = []
  let texts: string[] = []
  const endText = () => {
    const text = said(() => textOf({ content: texts }, 'text'))
    if (text !== '') content.push(text)
    texts = []
  }
  for (const node of element.content) {
    if (typeof node === 'string') {
      texts.push(node)
      continue
    }
    endText()
    content.push(treeOf(node))
  }
  endText()
  const attributes = [...element.attributes.keys()].map((name) => [name, said(() => attributeText(element, name))])
  return [element.name, attributes, content]
}

function said(read: () => string): string {
  try {
    return read()
  } catch (error) {
    if (!(error instanceof StoreFailure)) throw error
    return error.message
  }
}

/** The tree, or that the document is refused. Throws whatever is no refusal. */
async function outcomeOf(read: () => XmlElement | Promise<XmlElement>): Promise<Tree | 'refused'> {
  try {
    return treeOf(await read())
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.code !== 'malformed-body') throw error
    return 'refused'
  }
}

const name = fc.constantFrom(
  'a',
  'b',
  'soap:Body',
  'x-1.é',
  ':',
  '_',
  '__proto__',
  'constructor',
  'toString',
  'xmlns:a',
)
const space = fc.constantFrom('', ' ', '\n', '\t\r\n', '\r')
const reference = fc.constantFrom(
  '&amp;',
  '&lt;',
  '&#65;',
  '&#x41;',
  '&#013;',
  '&#xD800;',
  '&#x110000;',
  '&foo;',
  '&#;',
)
const text = fc.oneof(
  fc.constantFrom('x', '', ' ', '\r\n', '\t', '>', '"', "'", ']]', ']', '-->', 'é𐀀', '__proto__', '1.0', 'true', '007'),
  reference,
)
const inQuotes = fc.array(fc.oneof(reference, fc.constantFrom('x', '\t', '\r\n', '>', ']]>', ' ')), { maxLength: 3 })
const attribute = fc
  .tuple(name, space, space, inQuotes, fc.constantFrom('"', "'"))
  .map(([key, before, after, value, quote]) => ` ${key}${before}=${after}${quote}${value.join('')}${quote}`)
const beside = fc.oneof(
  space,
  fc.constantFrom('<!-- a - b -->', '<!---->', '<?a?>', '<?a "b?>', "<?a b='>' ?>", '<?xml-a ?>', '<!--\n<a>-->'),
)
const cdata = fc.constantFrom('<![CDATA[]]>', '<![CDATA[<a>&amp;\r\n]]>', '<![CDATA[]]]]>', '<![CDATA[<!-- ]]>')

const element: fc.Arbitrary<string> = fc.letrec<{ element: string; content: string }>((tie) => ({
  element: fc
    .tuple(name, fc.uniqueArray(attribute, { maxLength: 2 }), space, fc.option(tie('content'), { depthSize: 'small' }))
    .map(([tag, attributes, end, content]) =>
      content === null
        ? `<${tag}${attributes.join('')}${end}/>`
        : `<${tag}${attributes.join('')}${end}>${content}</${tag}${end}>`,
    ),
  content: fc
    .array(fc.oneof({ maxDepth: 4 }, text, beside, cdata, tie('element')), { maxLength: 4 })
    .map((parts) => parts.join('')),
})).element

const declaration = fc.constantFrom(
  '',
  '<?xml version="1.0"?>',
  "<?xml version='1.1' encoding = 'utf-8' standalone=\"no\" ?>\n",
  '<?xml version="1.0"encoding="utf-8"?>',
  '<?xml encoding="utf-8"?>',
  '<?xml version="2.0"?>',
)
const document = fc.tuple(declaration, beside, element, beside).map((parts) => parts.join(''))

/** What is put somewhere into a document, in the place of some characters. */
const damage = fc.record({
  at: fc.nat(),
  length: fc.nat(4),
  piece: fc.constantFrom(
    ...['<', '>', '&', '"', "'", '/', '=', '-', '--', '-->', '<!--', ']]>', '<![CDATA[', '<?', '?>', '<?xml ?>'],
    ...['<a>', '</a>', '<a/>', '<b', ' ', '', '\r', '&#', '&x', ';', '&1;', ':', 'x', ' a="1"', '<!DOCTYPE a>', '\0'],
  ),
})

test('any document is the same to both readers, or refused by both', async () => {
  await fc.assert(
    fc.asyncProperty(document, fc.array(damage, { maxLength: 2 }), async (whole, damages) => {
      let damaged = whole
      for (const { at, length, piece } of damages) {
        const characters = Array.from(damaged)
        characters.splice(at % (characters.length + 1), length, piece)
        damaged = characters.join('')
      }
      const long = await outcomeOf(() => readXmlDocument(damaged, bounds))
      expect(await outcomeOf(() => readShortXml(damaged, bounds)), damaged).toEqual(long)
    }),
    { numRuns: 5_000 },
  )
})

test('most of the documents that are drawn are taken', async () => {
  const outcomes = await Promise.all(
    fc.sample(document, 200).map((each) => outcomeOf(() => readShortXml(each, bounds))),
  )
  expect(outcomes.filter((outcome) => outcome !== 'refused').length).toBeGreaterThan(60)
})
