import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { jsonSteps, parseJson } from '../../../../src/foundation/values/json.ts'
import { roundNumbers } from '../../../../src/foundation/values/long-number.ts'
import { runAtOnce } from '../../../../src/foundation/values/slices.ts'

const wide = { recordValuesMax: 1_000_000, valuesMax: 1_000_000 }

function readLong(text: string, pieceLength?: number) {
  return runAtOnce(jsonSteps(text, 'The body', wide, pieceLength))
}

function read(text: string, pieceLength?: number) {
  try {
    return { value: roundNumbers(readLong(text, pieceLength)) }
  } catch (error) {
    return { message: (error as Error).message }
  }
}

function expected(text: string) {
  try {
    return { value: JSON.parse(text) }
  } catch (error) {
    return { message: `Invalid JSON: "${(error as Error).message}"` }
  }
}

/** Where V8's message has no position, it has characters around it, which begin where a piece begins. */
const positionOf = (message = '') => /position \d+ \(line \d+ column \d+\)/.exec(message)?.[0]

const junk = fc.constantFrom('', ',', ':', '[', ']', '{', '}', '"', '\\', '1', 'null', ' ', '\r\n', '\u00a0', '\ufeff')
const documents = fc
  .record({
    json: fc.json({ maxDepth: 6 }),
    isPretty: fc.boolean(),
    at: fc.double({ min: 0, max: 1, noNaN: true }),
    junk,
  })
  .map(({ json, isPretty, at, junk }) => {
    const text = isPretty ? JSON.stringify(JSON.parse(json), null, 1) : json
    const index = Math.floor(at * text.length)
    return text.slice(0, index) + junk + text.slice(index)
  })

describe('reads in pieces what JSON.parse reads at once', () => {
  test.each([1, 8, 60])('of %i characters and more, valid or not', (pieceLength) => {
    const property = fc.property(documents, (text) => {
      const given = read(text, pieceLength)
      const { value, message } = expected(text)
      expect(JSON.stringify(given.value)).toBe(JSON.stringify(value))
      expect(given).toStrictEqual(message === undefined ? { value } : { message: expect.any(String) })
      const position = positionOf(message)
      if (position !== undefined && positionOf(given.message) !== undefined) expect(given.message).toContain(position)
    })
    fc.assert(property, { numRuns: 3_000 })
  })

  test('a text of one piece has the very message of JSON.parse', () => {
    fc.assert(
      fc.property(documents, (text) => {
        expect(read(text)).toStrictEqual(expected(text))
      }),
      { numRuns: 1_000 },
    )
  })

  test.each([
    ['a name that JavaScript gives a meaning', '{"a":[1,2,3],"__proto__":{"b":[1,2]},"constructor":{"c":[3]}}'],
    ['a name that stands twice', '{"a":[1,2],"b":{"c":[1]},"a":[{"d":[3]}]}'],
    ['numbers as names', '{"b":[1],"2":[1],"1":[2]}'],
    ['an empty name', '{"":[1,[2]],"b":[1]}'],
  ])('%s', (_name, text) => {
    const { value } = read(text, 1)
    expect(JSON.stringify(value)).toBe(JSON.stringify(JSON.parse(text)))
    expect(Object.keys(Object.prototype)).toEqual([])
  })

  test.each([
    '[[1,2,3] [4]]',
    '[0,[1,2,3] [4,5,6]]',
    '{"a":1,"b":[1,2,3] "c":[4,5,6]}',
    '[[1,2,3] 4]',
    '[[1,2,3],,[4]]',
    '[[1,2,3],]',
    '[4 [1,2,3]]',
    '{"a":[1,2,3] "b":[1]}',
    '{"a":[1,2,3] {"b":1}}',
    '{"a":8.[1,2,3]}',
    '{"a" [1,2,3]}',
    '{[1,2,3]}',
    '{"a":[1,2,3]]',
    '{"a":{"b":1,"c":2]}',
    '[1,2,3][4]',
    '[1,2,3],',
    ':[1,2,3]',
    '[1,2,3',
  ])('what is not JSON is refused at its place: %s', (text) => {
    const { message } = expected(text)
    expect(read(text, 1)).toStrictEqual({ message: expect.stringContaining(positionOf(message) ?? 'Invalid JSON') })
  })

  test('the position of an error counts from the beginning of a long text', async () => {
    const lines = Array.from({ length: 20_000 }, (_, index) => `{"number": ${index}}`)
    const text = `[${lines.join(',\n')},\n{"number": nine, "x": 1}]`
    await expect(parseJson(text, 'The body')).rejects.toThrow(
      /Unexpected token 'i', .*"number": nine, "x": .* is not valid JSON/,
    )
    const cut = text.slice(0, text.indexOf('nine'))
    await expect(parseJson(cut, 'The body')).rejects.toThrow(/^Invalid JSON: "Unexpected end of JSON input"$/)
    const missing = text.replace('nine', '9').replace(', "x"', ' "x"')
    const message = `Invalid JSON: "Expected ',' or '}' after property value in JSON at position ${missing.indexOf('"x"')} (line 20001 column 14)"`
    await expect(parseJson(missing, 'The body')).rejects.toThrow(message)
    expect(expected(missing).message).toBe(message)
  })
})

describe('what is beyond the bounds is refused, whether or not it is JSON', () => {
  const many = (text: string, count: number) => Array.from({ length: count }, () => text).join(',')
  const names = (count: number, prefix = 'n') =>
    Array.from({ length: count }, (_, index) => `"${prefix}${index}":1`).join(',')
  const bounds = { recordValuesMax: 50, valuesMax: 120 }

  test.each([
    ['32 levels', `${'['.repeat(32)}${']'.repeat(32)}`, null],
    ['33 levels', `${'['.repeat(33)}${']'.repeat(33)}`, 'is nested deeper than 32 levels'],
    ['a million levels that never end', '{"a":'.repeat(1_000_000), 'is nested deeper than 32 levels'],
    ['a record of 50 values', `{"a":[${many('1', 49)}]}`, null],
    ['a record of 51 values', `{"a":[${many('1', 50)}]}`, 'has more than 50 values, at position 103'],
    ['records of 50 values', `[[${many('1', 50)}],[${many('1', 50)}]]`, null],
    [
      'a record of 51 values after another',
      `[[],[${many('1', 51)}]]`,
      'has a record with more than 50 values, at position 104',
    ],
    ['121 values', `[${many('[]', 61)}]`, 'has more than 120 values'],
    ['commas without values', ','.repeat(200), 'has more than 50 values, at position 50'],
    ['brackets and commas in strings', `["${'[{,'.repeat(200)}", "\\"[[[${',,'.repeat(200)}\\\\"]`, null],
  ])('%s', (_name, text, problem) => {
    const work = () => runAtOnce(jsonSteps(text, 'The body', bounds))
    if (problem === null) expect(work()).toStrictEqual(JSON.parse(text))
    else expect(work).toThrow(`The body ${problem}`)
  })

  test('an object of more than 1,000 members', async () => {
    expect(await parseJson(`[{${names(1_000)}},{${names(1_000)}}]`, 'The body')).toHaveLength(2)
    const refusal = 'The line has an object with more than 1000 members, at position'
    await expect(parseJson(`{"record":{${names(1_001)}}}`, 'The line')).rejects.toThrow(refusal)
    await expect(parseJson(`{${many('"a":1', 1_001)}}`, 'The line')).rejects.toThrow(refusal)
  })

  test('nothing of it is parsed', () => {
    const parse = JSON.parse
    JSON.parse = () => {
      throw new Error('parsed')
    }
    try {
      expect(() => runAtOnce(jsonSteps(`[${many('[]', 61)}]`, 'The body', bounds))).toThrow('has more than 120 values')
    } finally {
      JSON.parse = parse
    }
  })
})

test('pauses again and again, whatever the text is made of', () => {
  const length = 1_000_000
  const pieces = ['1,', '[],', '{"a":1},', '"a,b\\"",', '[[1],[2]],']
  for (const piece of pieces) {
    const text = `[${piece.repeat(length / piece.length)}1]`
    let pauses = 0
    for (const _pause of jsonSteps(text, 'The body', wide)) pauses++
    expect(pauses, piece).toBeGreaterThan(100)
  }
})

describe('a number keeps what JSON.parse would lose of it', () => {
  const digits = fc.oneof(fc.stringMatching(/^(0|[1-9][0-9]{0,9})$/), fc.stringMatching(/^[1-9][0-9]{13,20}$/))
  const fraction = fc.oneof(fc.constant(''), fc.stringMatching(/^\.[0-9]{1,30}$/))
  const exponent = fc.oneof(fc.constant(''), fc.stringMatching(/^[eE][+-]?[0-9]{1,3}$/))
  const sources = fc.tuple(fc.constantFrom('', '-'), digits, fraction, exponent).map((parts) => parts.join(''))
  const around = fc.constantFrom('[%]', '[[1,2],%,3]', '{"a":%}', '{"a":[{"b": %}],"c":"d"}', '[\n%\n]', '["1",%]')

  /** Of a decimal number, exactly. */
  function exactly(source: string) {
    const [, sign, whole = '', behind = '', power = '0'] =
      /^(-?)(\d+)(?:\.(\d+))?(?:[eE]([+-]?\d+))?$/.exec(source) ?? []
    const scale = Number(power) - behind.length + 1_100
    return BigInt(`${sign}${whole}${behind}`) * 10n ** BigInt(scale)
  }

  test('whatever stands around it, in a text of one piece and of many', () => {
    const property = fc.property(sources, around, fc.constantFrom(1, 8, 30_000), (source, where, pieceLength) => {
      const text = where.replace('%', source)
      const value = readLong(text, pieceLength)
      const number = Number(source)
      const isKept = /^-?\d+$/.test(source)
        ? String(number) === source || Object.is(number, -0)
        : Number.isFinite(number) && exactly(String(number)) === exactly(source)
      const found = ((JSON.stringify(value).match(/-?\d[\d.eE+-]*/g) ?? []) as string[]).includes(
        isKept ? JSON.stringify(number) : source,
      )
      expect(found).toBe(true)
    })
    fc.assert(property, { numRuns: 3_000 })
  })
})
