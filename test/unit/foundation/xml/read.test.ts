import { describe, expect, test } from 'vitest'
import { runAtOnce } from '../../../../src/foundation/values/slices.ts'
import {
  attributeText,
  readXmlDocument,
  textOf,
  type XmlElement,
  xmlSteps,
} from '../../../../src/foundation/xml/read.ts'

const PIECE = 16_384

/** Names, attributes and texts. */
function treeOf({ name, attributes, content }: XmlElement): unknown {
  const texts: unknown[] = []
  for (const node of content) {
    if (typeof node !== 'string') texts.push(treeOf(node))
    else if (typeof texts.at(-1) === 'string') texts.push(`${texts.pop()}${node}`)
    else texts.push(node)
  }
  return [name, Object.fromEntries(attributes), ...texts]
}

describe('a document is read alike, wherever a piece of it ends', () => {
  const body = [
    '<a:b  c="1 &amp; 2"\r\n d=\'&quot;"&#x20AC;\'>x &lt;&#8364;&#x1F600;😀 y\r\n\rz',
    '<![CDATA[ <b> ]] &amp; ]]><!-- - -- - --><?pi x?><e/>é</a:b>',
  ].join('')
  const expected = ['r', {}, ['a:b', { c: '1 & 2', d: '""€' }, 'x <€😀😀 y\n\nz <b> ]] &amp; ', ['e', {}], 'é']]
  const read = (before: number) => {
    const text = `<r><!--${' '.repeat(before)}-->${body.replace('<!-- - -- - -->', '<!-- - - -->')}</r>`
    return treeOf(readXmlDocument(text))
  }
  test('in the middle of a tag, a reference, a line end, a character of two halves', () => {
    for (let end = 0; end <= body.length + 20; end++) expect(read(PIECE - 10 - end)).toStrictEqual(expected)
  })
})

describe('references', () => {
  const references = (count: number, others = '') =>
    `<r>${'<a>x</a>'.repeat(10)}<t>${'&#65;'.repeat(count)}</t>${others}</r>`

  test('100,000 in one text are decoded, and one more is refused', () => {
    const [text] = readXmlDocument(references(100_000)).content.slice(-1) as [XmlElement]
    expect(textOf(text, 't')).toBe('A'.repeat(100_000))
    const refusal = 'Invalid XML: it has a text with more than 100000 references such as &amp;'
    expect(() => readXmlDocument(references(100_001))).toThrow(refusal)
  })

  test('a million in the document are decoded, and one more is refused', () => {
    const nine = `<u>${'&#65;'.repeat(100_000)}</u>`.repeat(9)
    expect(readXmlDocument(references(100_000, nine)).content).toHaveLength(20)
    const refusal = 'Invalid XML: it has more than 1000000 references such as &amp;'
    expect(() => readXmlDocument(references(100_000, `${nine}<u a="&lt;"/>`))).toThrow(refusal)
  })

  test('what is no reference is refused with its line', () => {
    expect(() => readXmlDocument(`<r>\n\n${'x\n'.repeat(20_000)}a & b</r>`)).toThrow(
      "line 20003: char '&' is not expected.",
    )
    expect(() => readXmlDocument('<r a="b&c"/>')).toThrow("line 1: char '&' is not expected.")
  })

  test('one that stands for no character matters only to who reads it', () => {
    const root = readXmlDocument('<r a="&x;" b="&amp;"><s>&amp;lt; &#0;</s><t>&amp;</t></r>')
    const [s, t] = root.content as [XmlElement, XmlElement]
    expect(textOf(t, 'T')).toBe('&')
    expect(attributeText(root, 'b')).toBe('&')
    expect(() => textOf(s, 'S')).toThrow('S holds &#0;, which stands for no character in XML')
    expect(() => attributeText(root, 'a')).toThrow('a holds &x;, which stands for no character in XML')
  })
})

describe('elements of one record', () => {
  const bounds = { recordElementsMax: 10, isList: (name: string) => name === 'List' }
  const read = (text: string) => treeOf(runAtOnce(xmlSteps(text, bounds)))
  const refusal = 'Invalid XML: it has a record with more than 10 elements'

  test('are bounded in the document, or in each record of a list', () => {
    expect(() => read(`<R>${'<a/>'.repeat(9)}</R>`)).not.toThrow()
    expect(() => read(`<R>${'<a/>'.repeat(10)}</R>`)).toThrow(refusal)
    expect(() => read(`<List>${`<R>${'<a/>'.repeat(9)}</R>`.repeat(5)}</List>`)).not.toThrow()
    expect(() => read(`<List><R/><R>${'<a/>'.repeat(10)}</R></List>`)).toThrow(refusal)
  })
})

test('pauses again and again, whatever the document is made of', () => {
  const length = 1_000_000
  for (const piece of [
    '<a/>',
    '<a b="1" c="2"/>',
    'x',
    '\r',
    '\n',
    '<!---->',
    '<![CDATA[]]>',
    '<?a?>',
    '<b>&amp;</b>',
  ]) {
    let pauses = 0
    for (const _pause of xmlSteps(`<r>${piece.repeat(length / piece.length)}</r>`)) pauses++
    expect(pauses, piece).toBeGreaterThan(100)
  }
})
