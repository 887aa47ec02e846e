import fc from 'fast-check'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { validateXML } from 'xmllint-wasm'
import { readXmlDocument } from '../../../../src/foundation/xml/read.ts'
import { sharedServer } from '../../../support/store.ts'
import { defaultNamespace, envelope, faultOf, post, request, soapCall } from './support.ts'

// What nobody sends who means well.

const soap11 = 'http://schemas.xmlsoap.org/soap/envelope/'
const result = '<GetProductCountResponse xmlns=""><ProductQuantity>0</ProductQuantity></GetProductCountResponse>'

const server = await sharedServer()
const shop = await server.openStore()
beforeEach(() => {
  server.clock.ms += 60_000
})

/** Whatever came: nothing broke inside, no object of the program was touched, and calls are answered. */
afterEach(async () => {
  expect(server.log.filter((line) => line.includes('"level":"error"'))).toEqual([])
  expect(Object.keys(Object.prototype)).toEqual([])
  expect(await soapCall(server, shop, 'getProductCount')).toBe(result)
})

const inCall = (inside: string, attributes = '') => {
  const { secureUrl, userKey } = shop.store
  const credentials = `<storeUrl>${secureUrl}</storeUrl><userKey>${userKey}</userKey>`
  return envelope(`<getProductCount xmlns="${defaultNamespace}"${attributes}>${credentials}${inside}</getProductCount>`)
}

async function reasonOf(payload: string | Buffer): Promise<string> {
  const { status, code, reason } = faultOf(await post(server, payload))
  expect([status, code]).toEqual([500, 'Client'])
  expect(reason.length).toBeLessThan(300)
  return reason
}

describe('a document that is more than an envelope is refused, and says why', () => {
  const noDocumentType = 'Invalid XML: <!DOCTYPE and entity declarations are not allowed'
  const bomb = Array.from({ length: 9 }, (_, n) => `<!ENTITY l${n + 1} "${`&l${n};`.repeat(10)}">`).join('')
  const declared = (declaration: string, inside: string) => () => inCall(inside).replace('?>', `?>${declaration}`)
  const deep = 'Invalid XML: it is nested deeper than 32 levels'
  const longTag = 'Invalid XML: a tag is longer than 2000 characters'
  const manyTags = 'Invalid XML: it has more than 2000 tags'
  const control = 'Invalid XML: it holds a control character that XML does not allow'
  const attributes = Array.from({ length: 20_000 }, (_, index) => ` a${index}=""`).join('')

  test.each<[string, () => string, string]>([
    ['a document type', declared('<!DOCTYPE a>', ''), noDocumentType],
    ['an entity bomb', declared(`<!DOCTYPE a [<!ENTITY l0 "lol">${bomb}]>`, '<x>&l9;</x>'), noDocumentType],
    ['a document type behind comments', declared('<!-- x --><?x <!-- ?><!DOCTYPE a>', ''), noDocumentType],
    ['a document type behind a tag that quotes', () => inCall(`<a b='"'/><!DOCTYPE a><c d='"'/>`), noDocumentType],
    ['nesting', () => inCall(`${'<a>'.repeat(30)}${'</a>'.repeat(30)}`), deep],
    ['nesting beside the parameters', () => envelope('', '1.1', '<a>'.repeat(33) + '</a>'.repeat(33)), deep],
    ['20,000 attributes', () => inCall(`<a${attributes}/>`), longTag],
    ['20,000 attributes behind a > in quotes of the other kind', () => inCall(`<a x='">'${attributes}/>`), longTag],
    ['an attribute of 200 kB', () => inCall(`<a b="${'x'.repeat(200_000)}"/>`), longTag],
    ['100,000 quotes in a tag', () => inCall(`<a ${'""'.repeat(100_000)}/>`), longTag],
    ['a name of 3 kB', () => inCall(`<${'a'.repeat(3_000)}/>`), longTag],
    ['a tag without end', () => inCall(`<a ${'b '.repeat(100_000)}`).replaceAll('</', ''), longTag],
    ['2,000 elements', () => inCall('<a/>'.repeat(2_000)), manyTags],
    ['60,000 elements in a Header', () => envelope('<a/>', '1.1', '<a/>'.repeat(60_000)), manyTags],
    ['2,000 comments', () => inCall('<!---->'.repeat(2_000)), manyTags],
    ['2,000 sections of CDATA', () => inCall('<![CDATA[]]>'.repeat(2_000)), manyTags],
    ['2,000 instructions', () => inCall('<?a?>'.repeat(2_000)), manyTags],
    ['a < where none may be', () => inCall('<a>1 < 2</a>'), 'Invalid XML: < has no >'],
    ['200,000 of them', () => inCall('<'.repeat(200_000)), 'Invalid XML: < has no >'],
    ['a < in an attribute in quotes of the other kind', () => inCall("<a b='<'/>"), 'Invalid XML: < has no >'],
    ['a quote without end', () => inCall('<a b="/>'), 'Invalid XML: < has no >'],
    ['CDATA without end', () => inCall('<![CDATA[ ]] >'), 'Invalid XML: <![CDATA[ has no ]]>'],
    ['NUL', () => inCall('<a>\0</a>'), control],
    ['a control character in CDATA', () => inCall('<a><![CDATA[\u0008]]></a>'), control],
    ['what is no character', () => inCall('<a>\uffff</a>'), control],
    [
      'a reference by the name of a method',
      () => inCall('<callBackURL>&valueOf;</callBackURL>'),
      'callBackURL holds &valueOf;, which stands for no character in XML',
    ],
    [
      'another envelope behind it',
      () => `${inCall('')}${inCall('').replace(/^<\?.*?\?>/, '')}`,
      'there must be one root element',
    ],
    ['a second declaration', () => `<?xml version="1.0"?>${inCall('')}`, 'XML is not declared at the start'],
    ['text behind it', () => `${inCall('')}x`, 'Extra text'],
    ['JSON', () => '{"Envelope":{}}', 'Text is not expected before the root element'],
    ['a form', () => 'storeUrl=a&userKey=b', 'is not expected'],
    ['an element that is not closed', () => inCall('<a>'), "Expected closing tag 'a'"],
    ['an end without beginning', () => inCall('</a>'), "Expected closing tag 'getProductCount'"],
    ['nothing that is closed', () => '<a><b><c>', 'not every element is closed'],
    ['an attribute twice', () => inCall('<a b="1" b="2"/>'), "Attribute 'b' is repeated"],
    ['an attribute without quotes', () => inCall('<a b=1/>'), 'a tag is malformed: <a b=1/>'],
    ['a name that is none', () => inCall('<1a/>'), 'a tag is malformed: <1a/>'],
    ['a bare ampersand', () => inCall('<a>b & c</a>'), "char '&' is not expected"],
  ])('%s', async (_name, payload, reason) => {
    expect(await reasonOf(payload())).toContain(reason)
  })

  test('and is taken with 2,000 tags, and not with one more', async () => {
    const tags = inCall('').split('<').length - 1
    const { body } = await post(server, inCall('<a/>'.repeat(2_000 - tags)))
    expect(body).toContain(result)
    expect(await reasonOf(inCall('<a/>'.repeat(2_001 - tags)))).toBe('Invalid XML: it has more than 2000 tags')
  })

  test('nor does a tag of 10 MB break the reader, which REST gives as much', () => {
    for (const inside of ['""', '" "a', "''", 'a ', 'a="" ']) {
      const text = `<a ${inside.repeat(10_000_000 / inside.length)}`
      expect(() => readXmlDocument(text)).toThrow(longTag)
    }
  })

  test('none of which takes its time: a body of 256 kB is read in no time to speak of, whatever it is', async () => {
    const length = 250_000
    const pieces = [
      ...`< <a> <a/> & &amp; &a &#1; " ' > ]]> <![CDATA[ <![CDATA[]]> <!-- <!----> <?a <?a?> </a> = /`.split(' '),
      ...['<a ', '<a x=">', "<a x='", '<a b="" ', ' ', '\n', '\r'],
      `${'<'.repeat(1_990)}>`,
      `<a b='${'&'.repeat(1_990)}'/>`,
      `<a b=">${'&'.repeat(1_980)}"/>`,
      `<a${' b=""'.repeat(390)}/>`,
    ]
    for (const piece of pieces) {
      const flood = piece.repeat(Math.ceil(length / piece.length)).slice(0, length)
      for (const payload of [
        inCall(flood),
        inCall(`<callBackURL>${flood}</callBackURL>`),
        flood,
        `<a b=">${flood}"/>`,
      ]) {
        const start = performance.now()
        const { statusCode } = await post(server, payload)
        expect([200, 500]).toContain(statusCode)
        expect({ piece, ms: performance.now() - start }).toEqual({
          piece,
          ms: expect.toSatisfy((ms: number) => ms < 5_000),
        })
        server.clock.ms += 1_000
      }
    }
  })
})

describe('names that JavaScript gives a meaning', () => {
  const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf', '#text', ':@']

  test.each(names.slice(0, 6))(
    '%s as a parameter, a header block, an attribute, a prefix and a value changes nothing',
    async (name) => {
      const payloads = [
        inCall(`<${name}>x</${name}>`),
        inCall(`<${name}><polluted>x</polluted></${name}>`),
        inCall(`<n:${name} xmlns:n="urn:n">x</n:${name}>`),
        inCall('', ` ${name}="x"`),
        inCall('', ` id="${name}" href="#${name}"`),
        inCall(`<storeUrl2 id="${name}" ${name}="polluted">x</storeUrl2>`),
        inCall(`<${name}:a xmlns:${name}="urn:n">x</${name}:a>`),
        inCall(`<callBackURL>${name}</callBackURL>`),
        inCall('').replace('<soap:Body>', `<soap:Header><${name} id="x"/></soap:Header><soap:Body id="${name}">`),
        `<${name}:Envelope xmlns:${name}="${soap11}"><${name}:Body><${name}/></${name}:Body></${name}:Envelope>`,
      ]
      for (const payload of payloads) {
        const answer = await post(server, payload)
        if (answer.statusCode === 200) expect(answer.body).toMatch(/<ProductQuantity>0<|<Id>40</)
        else expect(faultOf(answer).code).toBe('Client')
        expect(({} as Record<string, unknown>).polluted).toBeUndefined()
      }
    },
  )
})

test('whatever becomes of an envelope on its way, the answer is well-formed, one of five, and says nothing from inside', async () => {
  const valid11 = inCall('<callBackURL> </callBackURL>')
  const valid12 = envelope(
    request(shop, 'getProductCount'),
    '1.2',
    '<w:a xmlns:w="urn:w" soap:mustUnderstand="0">x</w:a>',
  )
  const fragments = fc.constantFrom(
    ...`< > </ /> & ; " ' = : <!-- --> <![CDATA[ ]]> <? ?> <! &#0; &lt; &#x1F600; xmlns="" xmlns:a=""`.split(' '),
    ...'__proto__ constructor soap: <soap:Header> <a> </a> <a/> <userKey> </soap:Body> <soap:Body>'.split(' '),
    ...['\0', '\u0001', '\ud800', '\ufeff', '\uffff', '😀', 'ä', ' ', '\r\n', '<!DOCTYPE a>', ' xsi:nil="1"'],
    ...['mustUnderstand="1" ', ' soap:mustUnderstand="1"', '<callBackURL>string</callBackURL>', 'getOrder'],
  )
  const position = fc.double({ min: 0, max: 1, noNaN: true })
  const change = fc.oneof(
    { weight: 4, arbitrary: fc.record({ kind: fc.constant('insert' as const), at: position, text: fragments }) },
    fc.record({
      kind: fc.constant('insert' as const),
      at: position,
      text: fc.string({ unit: 'binary', maxLength: 8 }),
    }),
    fc.record({ kind: fc.constant('cut' as const), at: position, length: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ kind: fc.constant('repeat' as const), at: position, length: fc.integer({ min: 1, max: 200 }) }),
    fc.record({ kind: fc.constant('end' as const), at: position }),
  )
  type Change = typeof change extends fc.Arbitrary<infer Value> ? Value : never
  const changed = (given: string, each: Change): string => {
    const at = Math.floor(each.at * given.length)
    if (each.kind === 'insert') return given.slice(0, at) + each.text + given.slice(at)
    if (each.kind === 'cut') return given.slice(0, at) + given.slice(at + each.length)
    if (each.kind === 'repeat') return given.slice(0, at + each.length) + given.slice(at)
    return given.slice(0, at)
  }
  const headers = fc.record(
    {
      'content-type': fc.constantFrom(
        'text/xml',
        'application/soap+xml',
        'text/xml; charset=utf-16',
        'text/xml; charset=latin1',
        'x',
      ),
      'content-encoding': fc.constantFrom('identity', 'gzip', 'deflate'),
      soapaction: fc.oneof(fc.constant('"urn:a/getProductCount"'), fc.constant('getOrder')),
    },
    { requiredKeys: [] },
  )
  const answers = new Set<string>()
  const statuses = new Set<number>()
  const property = fc.asyncProperty(
    fc.constantFrom(valid11, valid12),
    fc.array(change, { minLength: 1, maxLength: 4 }),
    fc.option(fc.tuple(position, fc.integer({ min: 0, max: 255 })), { nil: null, freq: 5 }),
    fc.oneof({ weight: 5, arbitrary: fc.constant({}) }, headers),
    async (start, changes, byte, sent) => {
      const payload = Buffer.from(changes.reduce(changed, start))
      if (byte !== null && payload.length > 0) payload[Math.floor(byte[0] * (payload.length - 1))] = byte[1]
      const answer = await post(server, payload, { headers: sent as Record<string, string> })
      server.clock.ms += 1_000
      statuses.add(answer.statusCode)
      answers.add(answer.body)
      expect([200, 500, 415]).toContain(answer.statusCode)
      if (answer.statusCode !== 200) faultOf(answer)
      expect(answer.body).not.toMatch(/node_modules|\.ts\b|\n\s+at |TypeError|RangeError|\bundefined\b|\[object|Prisma/)
    },
  )
  // One that stays an envelope, because a run may happen to draw none.
  const unharmed: [string, Change[], null, object] = [valid11, [{ kind: 'insert', at: 1, text: '\n' }], null, {}]
  // One of SOAP 1.2 by its content type, whose fault quotes the namespace of SOAP 1.1.
  const quoted: [string, Change[], null, object] = [
    valid11.slice(valid11.indexOf('soap:Envelope')),
    [{ kind: 'insert', at: 0, text: '</' }],
    null,
    { 'content-type': 'application/soap+xml' },
  ]
  await fc.assert(property, { numRuns: 1_000, examples: [unharmed, quoted] })
  expect([...statuses].sort()).toEqual([200, 415, 500])

  const well = [...answers].map((contents, index) => ({ fileName: `${index}.xml`, contents }))
  expect(well.length).toBeGreaterThan(25)
  const { valid, errors } = await validateXML({ xml: well, normalization: 'c14n' })
  expect(errors).toEqual([])
  expect(valid).toBe(true)
})

test.each<[string, number, Record<string, string>]>([
  ['quotes in an action', 200, { soapaction: `a${'"'.repeat(15_000)}b` }],
  ['blanks in a content type', 415, { 'content-type': `text/xml; charset=${' '.repeat(15_000)}x y` }],
  ['parameters of a content type', 200, { 'content-type': `text/xml${'; a=b'.repeat(3_000)}` }],
])('a header of 15 kB is read: %s', async (_, status, headers) => {
  const answer = await post(server, envelope(request(shop, 'getProductCount')), { headers })
  expect(answer.statusCode, answer.body).toBe(status)
})
