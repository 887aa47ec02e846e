import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { colouredHtml, coloursFile } from '../../../../src/http/reference/colours.ts'
import { readGuides } from '../../../../src/http/reference/guides.ts'
import { codeOfGuides, coloursText } from '../../../../tools/colours/colours.ts'

const textOf = (html: string) => html.replace(/<[^>]*>/g, '')

test('docs/guides/colours.json has the colours of all code of the guides (`npm run colours` writes it)', () => {
  expect(readFileSync(coloursFile, 'utf8')).toBe(coloursText())
})

test('each example of a guide is coloured, and says what its file does', () => {
  const all = codeOfGuides()
  expect(new Set(all.map(({ language }) => language))).toEqual(new Set(['cs', 'php', 'py', 'sh', 'ts']))
  const pages = readGuides((text) => text).map(({ html }) => html)
  for (const { code } of all) {
    const html = colouredHtml(code)
    expect(textOf(html)).toBe(textOf(colouredHtml(`${code} `)).slice(0, -1))
  }
  // One line of a shell may have nothing to colour.
  const coloured = all.filter(({ code }) => /<span class="code-[cskfn]">/.test(colouredHtml(code)))
  expect(coloured.length).toBeGreaterThan(all.length * 0.9)
  const shown = all
    .filter(({ language }) => language === 'sh')
    .filter(({ code }) => pages.join().includes(colouredHtml(code)))
  expect(shown.length).toBeGreaterThan(8)
})

test('code that the file does not have is shown as it is, JSON and calls with texts and numbers in colours', () => {
  expect(colouredHtml('{"N": 1.5}')).toBe('{&quot;N&quot;: <span class="code-n">1.5</span>}')
  expect(colouredHtml('a < b')).toBe('a &lt; b')
})
