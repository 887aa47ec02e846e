import fc from 'fast-check'
import type { Draw } from './draw.ts'

/** Numbers at which columns, JavaScript and parsers end, as JSON writes them. */
const numbers = [
  '0', '-0', '-1', '1', '2', '100', '101', '255', '256', '32767', '32768', '65535', '65536', '2147483647', '2147483648', '-2147483648',
  '-2147483649', '4294967296', '9007199254740991', '9007199254740993', '9223372036854775807', '9223372036854775808', '99999999999.9999',
  '99999999999.99999', '100000000000', '0.1', '0.00001', '-0.00005', '1e5', '1E+2', '1e-7', '1e308', '1e309', '-1e400', '1e-400',
  '5e-324', '123456789012345678901234567890', '00', '1.', '.5', '+1', '0x10', '1_000', '1,5', 'NaN', 'Infinity', '-Infinity', '١٢٣',
] // biome-ignore format: a table

const texts = [
  '', ' ', '\t', '\n', '\r\n', '\u0000', 'a\u0000b', '\u0001', '\u001f', '\u007f', '\u0085', '\u00a0', '\u2028', '\ufeff', '\ufffe', '\uffff',
  '\ud800', '\udfff', 'x\ud83dy', '\u{1d11e}', '👩‍👩‍👧‍👦', '\u202eabc\u202c', 'é', 'e\u0301', 'ﬀ', 'ß', 'İ', 'ı', 'Ａ', '𝟙',
  "'", "''", "' OR '1'='1", "1'; SELECT 1; --", '"', '\\', '\\u0000', '\\\\', '$1', '$$', '{{7*7}}', '%', '%%', '_', '%s%n', '*', '?',
  '(', '[', '^(a+)+$', 'a|b', ',', ';', ':', '=', '===', '|||', 'a===b|||a===c', '&', '&amp;', '&#0;', '&#x110000;', '&unknown;', '<', '>', ']]>',
  '<!--', '<script>alert(1)</script>', '<a b="c">', '../../etc/passwd', '..\\', '/', '//', 'C:\\', 'file:///etc/passwd', 'http://127.0.0.1:1/',
  'http://[::1]:1/', 'http://0x7f000001:1/', 'https://user:pass@127.0.0.1:1/', 'javascript:alert(1)', 'null', 'undefined', 'true', 'false', 'yes',
  '[]', '{}', '[object Object]', '__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'length', 'then', 'toJSON',
  '2026-02-30', '02/30/2026', '2026-13-01T25:61:61', '0000-00-00', '99999-01-01', '1970-01-01T00:00:00Z', '03/29/2026 02:30:00', '12/31/9999',
  '-1', '1,2', '1 asc', 'Name desc,Name asc', 'a/b/c/d', '*', 'count=exact', 'a@b', '@', 'a@b@c', 'XX', 'en-US',
] // biome-ignore format: a table

/** A number that may be none, as it stands in JSON, in a query or in XML. */
export function nastyNumber(draw: Draw): string {
  return draw.oneOf(numbers)
}

export function nastyText(draw: Draw): string {
  const kind = draw.int(0, 9)
  if (kind < 6) return draw.oneOf(texts)
  if (kind === 6) return draw.oneOf(texts).repeat(draw.oneOf([2, 17, 256, 4_001]))
  if (kind === 7)
    return draw
      .oneOf(['x', 'é', '\u{1d11e}', '%', '<', '&amp;', "'"])
      .repeat(draw.oneOf([255, 256, 257, 1_000, 65_537]))
  return draw.from(kind === 8 ? binary : graphemes)
}

const binary = fc.string({ unit: 'binary', maxLength: 40 })
const graphemes = fc.string({ unit: 'grapheme', maxLength: 40 })

/** Anything JSON can say. */
export function nastyJson(draw: Draw): unknown {
  const kind = draw.int(0, 9)
  if (kind < 3) return nastyText(draw)
  if (kind < 5) return new RawJson(nastyNumber(draw))
  if (kind < 8) return draw.oneOf([null, true, false, [], {}, [[]], [{}], [null], { a: null }, '', 0, [1, 'a', null]])
  if (kind === 8) return draw.from(fc.jsonValue({ maxDepth: 3 }))
  return nested(draw.oneOf([20, 90, 400, 3_000]), draw.happens(50))
}

/** A text that stands in JSON without quotes. */
export class RawJson {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

function nested(depth: number, isList: boolean): RawJson {
  const [open, close] = isList ? ['[', ']'] : ['{"a":', '}']
  return new RawJson(`${open.repeat(depth)}1${close.repeat(depth)}`)
}

/** As JSON.stringify, with the texts of `RawJson` as they are. */
export function jsonText(value: unknown): string {
  const raws: string[] = []
  const text = JSON.stringify(value, (_name, member) => {
    if (!(member instanceof RawJson)) return member
    raws.push(member.text)
    return `\u0007${raws.length - 1}\u0007`
  })
  return raws.length === 0 ? (text ?? '') : text.replace(/"\\u0007(\d+)\\u0007"/g, (_, index) => raws[index] ?? '')
}
