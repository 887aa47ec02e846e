import { describe, expect, test } from 'vitest'
import { columnPath } from '../../../src/engine/definition/fields.ts'
import type { Filter } from '../../../src/engine/definition/filters.ts'
import type { Resource } from '../../../src/engine/definition/resource.ts'
import type { CallOptions } from '../../support/store.ts'
import { countOf, expectNothing, expectRefusal, idsIn } from './answers.ts'
import { type FilterExample, type FilterKind, givenBy } from './fixtures.ts'
import { at } from './paths.ts'
import { readRecord } from './records.ts'
import { fixtureOf, type Stage } from './stage.ts'

/** What parses as no value of any kind, and must neither reach the database as code nor harm it. */
const fragments = [
  "' OR '1'='1",
  '1) OR (1=1',
  '\'; DROP TABLE "Product"; --',
  '1;2',
  '{{7*7}}',
  `\${7*7}`,
  '$1',
  '?',
  '\\',
  '<%= 7*7 %>',
  '../../etc/passwd',
]

const wrongValues: Readonly<Record<FilterKind, readonly string[]>> = {
  text: ['\0', 'a\0b'],
  part: ['\0', 'a\0b'],
  number: ['\0', 'abc', '1.5', '2147483648', '99999999999999999999', '--1', ...fragments],
  bound: ['\0', 'abc', '1,5', '1e400', '99999999999999999999', '--1', 'NaN', 'Infinity', ...fragments],
  flag: ['\0', 'maybe', '2', '-2', ...fragments],
  date: ['\0', 'yesterday', '02/30/2026', '13/01/2026', '2026-02-30', '20260101', ...fragments],
}

/** The query parameters that narrow a list (rest-resources §0.5), each by the fixture's example. */
export function filtering(resource: Resource, stage: () => Stage): void {
  const { service } = resource
  const examples = Object.entries(fixtureOf(resource).filters as Record<string, FilterExample>)

  /** Which of the fixture's two records a list has. */
  async function found(query: string, options: CallOptions = {}): Promise<string> {
    const { shelf, a, b } = stage()
    const answer = await shelf.call('GET', `/${service}?limit=500&${query}`, options)
    if (answer.statusCode === 404) return ''
    const ids = idsIn({ resource }, answer)
    expect(await countOf({ resource }, shelf, `&${query}`, options)).toBe(ids.length)
    return `${ids.includes(a) ? 'a' : ''}${ids.includes(b) ? 'b' : ''}`
  }

  describe.each(examples)('the filter %s', (name, example) => {
    const [wanted, other] = 'a' in example ? (['a', 'b'] as const) : (['b', 'a'] as const)
    const value = givenBy(example)
    const query = (given: string) => `${name}=${encodeURIComponent(given)}`
    const filter = resource.filters[name] as Filter

    test('lists and counts what matches, and nothing else', async () => {
      expect(await found(query(value))).toBe(wanted)
      expect(await found(query(value).replace(name, name.toUpperCase()))).toBe(wanted)
    })

    if (filter.readAny) {
      test('given several times, and for numbers as a comma list, is the union of its values', async () => {
        const isNumber = example.kind === 'number'
        const others = filter.column === undefined ? ['4711'] : [await storedValue(filter.column, other)]
        const expected = filter.column === undefined ? wanted : 'ab'
        const all = [value, ...others, value]

        expect(await found(all.map(query).join('&'))).toBe(expected)
        expect(await found(all.toReversed().map(query).join('&'))).toBe(expected)
        expect(await found(query(all.join(',')), { tolerated: true })).toBe(isNumber ? expected : '')
        expect(await found(`${query(value)}&${query(value)}`)).toBe(wanted)
      })

      test('takes at most 100 values', async () => {
        const many = Array.from({ length: 100 }, (_, number) => String(70_000 + number))

        expect(await found([...many.slice(1), value].map(query).join('&'))).toBe(wanted)
        const tooMany = [...many, value].map(query).join('&')
        expectRefusal(await stage().shelf.call('GET', `/${service}?${tooMany}`), 400, name)
      })
    } else {
      test('given several times takes the same value, and refuses another', async () => {
        const unlike = { flag: value === '1' ? '0' : '1', date: '2020-02-02', bound: `${value}1`, part: `${value}x` }
        const another = unlike[example.kind as keyof typeof unlike]

        expect(await found(`${query(value)}&${query(value)}`)).toBe(wanted)
        for (const given of [
          [value, another],
          [another, value],
        ]) {
          const refused = await stage().shelf.call('GET', `/${service}?${given.map(query).join('&')}`)
          expectRefusal(refused, 400, name)
        }
      })
    }

    test('without a value filters nothing', async () => {
      expect(await found(`${name}=`)).toBe('ab')
    })

    test('with a value that it cannot read is 400 and named', async () => {
      for (const wrong of wrongValues[example.kind]) {
        expectRefusal(await stage().shelf.call('GET', `/${service}?${query(wrong)}`), 400, name)
        expectRefusal(await stage().shelf.call('GET', `/${service}?countonly=1&${query(wrong)}`), 400, name)
      }
    })

    if (example.kind === 'text') {
      test('takes the whole text alone, in any case', async () => {
        expect(await found(query(value.toUpperCase()))).toBe(wanted)
        expect(await found(query(value.toLowerCase()))).toBe(wanted)
        expect(await found(query(value.slice(0, -1)))).toBe('')
        expect(await found(query(`${value}x`))).toBe('')
        expect(await found(query('%'))).toBe('')
      })
    }

    if (example.kind === 'part') {
      test('takes any part of the text, in any case', async () => {
        expect(await found(query(value.toUpperCase()))).toBe(wanted)
        expect(await found(query(value.slice(1, -1)))).toBe(wanted)
        expect(await found(query(`${value}x`))).toBe('')
      })

      test('takes % and _ for themselves', async () => {
        expect(await found(query(`%${value}%`))).toBe('')
        expect(await found(query(value.replace(/.$/, '_')))).toBe('')
        expect(await found(query('_'))).toBe('')
      })
    }

    if (example.kind === 'text' || example.kind === 'part') {
      test('takes fragments of SQL and of templates for text', async () => {
        for (const fragment of fragments)
          expectNothing(await stage().shelf.call('GET', `/${service}?${query(fragment)}`))
      })
    }

    if (example.kind === 'number' || example.kind === 'bound') {
      test('takes a number with blanks and a sign', async () => {
        expect(await found(query(` ${value} `))).toBe(wanted)
        if (!value.startsWith('-')) expect(await found(query(`+${value}`))).toBe(wanted)
      })
    }

    if (example.kind === 'bound') {
      test('has its bound inside', async () => {
        const isLower = name.endsWith('from')
        const [inside, outside] = [
          Number(value) + (isLower ? -0.0001 : 0.0001),
          Number(value) + (isLower ? 0.0001 : -0.0001),
        ]

        expect(await found(query(inside.toFixed(4)))).toBe(wanted)
        expect(await found(query(outside.toFixed(4)))).toBe('')
      })
    }

    if (example.kind === 'flag') {
      test('takes 1, 0, true and false; -1 filters nothing', async () => {
        expect(await found(query('true'), { tolerated: true })).toBe(wanted)
        expect(await found(query('True'), { tolerated: true })).toBe(wanted)
        expect(await found(query('0'))).toBe(other)
        expect(await found(query('false'), { tolerated: true })).toBe(other)
        expect(await found(query('-1'))).toBe('ab')
      })
    }

    if (example.kind === 'date') {
      test('takes every form of a date', async () => {
        const day = wanted === 'b' ? '3/11/2026 12:00:00 AM' : '3/10/2026 11:59:59 PM'
        const forms =
          wanted === 'b'
            ? ['03/11/2026', '3/11/2026', '2026-03-11', '2026-03-11T00:00:00', '2026-03-11 00:00', day]
            : ['03/10/2026', '3/10/2026', '2026-03-10', '2026-03-10T23:59:59', '2026-03-10 23:59', day]
        for (const form of forms) expect({ form, found: await found(query(form)) }).toEqual({ form, found: wanted })
      })

      test('has the second of its bound inside', async () => {
        const second = await momentOf(wanted, 0)
        const beyond = await momentOf(wanted, wanted === 'b' ? 1 : -1)

        expect(await found(query(second))).toBe(wanted)
        expect(await found(query(beyond))).toBe('')
      })

      test('takes the bounds that programs send for no bound', async () => {
        const open = wanted === 'b' ? ['01/01/1753', '1900-01-01T00:00:00'] : ['12/31/9999', '12/31/9999 11:59:59 PM']
        for (const bound of [...open, '01/01/0001', '1/1/0001 12:00:00 AM', '0001-01-01T00:00:00'])
          expect(await found(query(bound))).toBe('ab')
      })
    }
  })

  /** What record `a` or `b` has in a column. */
  async function storedValue(column: string, which: 'a' | 'b'): Promise<string> {
    const { shelf } = stage()
    const record = await readRecord({ resource }, shelf, stage()[which])
    return String(at(record, columnPath(resource.fields, column)?.join('.') ?? ''))
  }

  /** When record `a` or `b` was last changed, and `seconds` later, in local time as clients write it. */
  async function momentOf(which: 'a' | 'b', seconds: number): Promise<string> {
    const { server, shelf } = stage()
    const [row] = await server.database.db.$queryRawUnsafe<{ at: string }[]>(
      `SELECT to_char((t."updatedAt" + make_interval(secs => $3::int)) AT TIME ZONE 'America/New_York', 'MM/DD/YYYY HH24:MI:SS') AS "at"
       FROM "${resource.table}" t WHERE t."storeId" = $1::int AND t."id" = $2::int`,
      shelf.store.id,
      stage()[which],
      seconds,
    )
    return row?.at ?? ''
  }

  if (examples.length > 1) {
    test('filters together list what all of them match', async () => {
      const queryOf = (which: 'a' | 'b') =>
        examples
          .flatMap(([name, example]) => (which in example ? [`${name}=${encodeURIComponent(givenBy(example))}`] : []))
          .join('&')
      const [forA, forB] = [queryOf('a'), queryOf('b')]

      if (forA !== '') expect(await found(forA)).toBe('a')
      if (forB !== '') expect(await found(forB)).toBe('b')
      if (forA === '' || forB === '') return
      expect(await found(`${forA}&${forB}`)).toBe('')
      expect(await countOf({ resource }, stage().shelf, `&${forA}&${forB}`)).toBe(0)
    })
  }
}
