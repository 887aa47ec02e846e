import { describe, expect, test } from 'vitest'
import { english } from '../../../../src/foundation/texts/language.ts'
import { mergePlain, plainOf as plainFor, withBreaksOf } from '../../../../src/http/pages/records/plain-html.ts'
import { otherTexts, plainTexts } from '../../../support/odd-html.ts'

const plainOf = (source: string) => plainFor(source, english)
const canonicalOf = (source: string) => plainOf(source).canonical ?? ''

describe('the plain editor', () => {
  test('gives back each of a hundred odd texts byte for byte where nothing is changed', () => {
    expect(plainTexts.length).toBeGreaterThanOrEqual(100)
    for (const source of plainTexts) {
      expect(plainOf(source)).toMatchObject({ problem: null })
      expect(mergePlain(source, canonicalOf(source))).toBe(source)
    }
  })

  test('writes what is typed at the beginning, in the middle and at the end, and the rest stays byte for byte', () => {
    for (const source of plainTexts) {
      const canonical = canonicalOf(source)
      const typed = 'Zq&amp;&lt;é'
      expect(mergePlain(source, typed + canonical)).toBe(typed + source)
      expect(mergePlain(source, canonical + typed)).toBe(source + typed)
    }
    const source = '<P ID=x>Fish &amp; chips &mdash; caf&eacute;</P >\r\n<UL>\r\n<LI>One<BR/></LI></UL>'
    const edited = canonicalOf(source).replace('chips', 'peas').replace('One', 'Two<b>!</b>')
    expect(mergePlain(source, edited)).toBe(source.replace('chips', 'peas').replace('One', 'Two<b>!</b>'))
    expect(mergePlain(source, canonicalOf(source).replace(' id', ''))).toBe(source)
  })

  test('a long text in which much is replaced keeps what is before, between and behind', () => {
    const lines = Array.from({ length: 200 }, (_, n) => `<P>Line ${n} &mdash; caf&eacute;</P>`)
    const source = lines.join('\n')
    const edited = canonicalOf(source).split('\n')
    edited[50] = `<p>${'Another text. '.repeat(300)}</p>`
    edited.splice(120, 20)
    const expected = [...lines]
    expected[50] = (edited[50] ?? '').replace('<p>', '<P>').replace('</p>', '</P>')
    expected.splice(120, 20)
    expect(mergePlain(source, edited.join('\n'))).toBe(expected.join('\n'))
  })

  test('a blank that a browser wrote as one that does not break is a blank between words', () => {
    expect(mergePlain('<p>ab</p>', '<p>a&nbsp;b</p>')).toBe('<p>a b</p>')
    expect(mergePlain('<p>a</p>', '<p>a&nbsp;</p>')).toBe('<p>a&nbsp;</p>')
  })

  test.each(otherTexts)('has nothing for %s, and says why', (source) => {
    const { html, problem } = plainOf(source)
    expect(html).toBeNull()
    expect(english(problem ?? '')).toMatch(/\.$/)
  })

  test('has no attribute, address or script of the text in its own content', () => {
    for (const source of plainTexts) {
      const outside = (plainOf(source).html ?? '').replaceAll(/ data-(?:attributes|kept)="[^"]*"/g, '')
      expect(outside).not.toMatch(/<(?!\/?[a-z][a-z0-9]*>|span class="kept" contenteditable="false">)/)
    }
  })

  test('is done soon with texts that are made to take long', () => {
    const began = performance.now()
    for (const part of ['<a "', "<a '", '<a', '&', '<p>', '</p', '<b a="<b a="', 'ab']) {
      const source = part.repeat(Math.floor(30_000 / part.length))
      plainOf(source)
      mergePlain(source, `${[...source].reverse().join('')}`)
    }
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})

describe('line breaks that a form changes', () => {
  test.each([
    ['one\r\ntwo\r\nthree', 'one\n2\nthree', 'one\r\n2\r\nthree'],
    ['one\r\ntwo\nthree\rfour', 'zero\none\ntwo\nthree\nfour', 'zero\r\none\r\ntwo\nthree\rfour'],
    ['one\ntwo', 'one\n2', 'one\n2'],
    ['one\r\n', 'one\n', 'one\r\n'],
    ['one\r\ntwo', '', ''],
    ['one\rtwo', 'one', 'one'],
    ['\r\n\r\na', '\n\nb', '\r\n\r\nb'],
  ])('of %j, typed as %j, are those that are stored', (stored, typed, expected) => {
    expect(withBreaksOf(stored, typed)).toBe(expected)
  })
})
