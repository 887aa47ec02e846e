import { afterEach, describe, expect, test } from 'vitest'
import { sharedServer } from '../../../support/store.ts'
import { productBody, refusalOf } from './fixture.ts'

const server = await sharedServer()
const shop = await server.openStore()
await shop.call('POST', '/Products', { body: productBody('A-1') })

afterEach(async () => {
  expect(server.log.filter((line) => line.includes('"level":"error"'))).toEqual([])
  expect((await shop.call('GET', '/Products?countonly=1')).body).toBe('{"TotalCount":1}')
})

describe('a wrong value in a body is a 400 that names the field', () => {
  test('names that JavaScript gives a meaning are unknown fields like others', async () => {
    const body = '{"__proto__":{"SKUInfo":{"SKU":"P","Name":"P"}},"constructor":1,"toString":2}'
    expect(refusalOf(await shop.call('POST', '/Products', { body }))).toMatchObject({
      statusCode: 400,
      field: 'SKUInfo.SKU',
    })
    expect(
      refusalOf(await shop.call('PUT', '/Products/1', { body: '{"__proto__":{"x":1},"hasOwnProperty":1}' })),
    ).toMatchObject({ statusCode: 400, field: '__proto__' })
    expect(
      (await shop.call('PUT', '/Products/1', { body: '{"__proto__":{"x":1},"Description":"d"}' })).statusCode,
    ).toBe(200)
  })
})

describe('a body that cannot be read is a 400 that says why', () => {
  test.each([
    ['broken JSON', '{"SKUInfo": {"SKU": "A",}}', 'position 24 (line 1 column 25)'],
    ['a word', '{"SKUInfo": nope}', 'SKUInfo'],
    ['half a body', '{"SKUInfo": {"SKU": "A"', 'position 23'],
    ['something behind the body', '{} {}', 'position 3'],
    ['blanks', ' \n ', 'Unexpected end'],
    ['a bare word', 'true', 'must be an object'],
    ['deep nesting', `${'['.repeat(33)}${']'.repeat(33)}`, 'nested deeper than 32 levels'],
    ['very deep nesting', '{"a":'.repeat(1_000_000), 'nested deeper than 32 levels'],
    ['what is not UTF-8', Buffer.from([0x22, 0xff, 0x22]), 'not valid UTF-8'],
    ['UTF-16', Buffer.from('\ufeff{}', 'utf16le'), 'not valid UTF-8'],
  ])('%s', async (_name, body, reason) => {
    const { statusCode, message } = refusalOf(await shop.call('POST', '/Products', { body }))
    expect(statusCode).toBe(400)
    expect(message).toContain(reason)
  })

  test('brackets in a text are no nesting', async () => {
    const answer = await shop.call('PUT', '/Products/1', { body: { MFGID: '\\"[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[' } })
    expect(answer.statusCode).toBe(200)
  })
})

describe('an XML body that cannot be read is a 400 that says why', () => {
  const named = (content: string) => `<Product><SKUInfo><SKU>X</SKU><Name>${content}</Name></SKUInfo></Product>`
  test.each([
    ['a document type', `<!DOCTYPE Product>${named('x')}`, '', '<!DOCTYPE'],
    ['a document type in lower case', `<!doctype Product>${named('x')}`, '', '<!DOCTYPE'],
    ['an external entity', `<!DOCTYPE p [<!ENTITY e SYSTEM "file:///etc/passwd">]>${named('&e;')}`, '', '<!DOCTYPE'],
    ['a document type behind a comment', `<!-- x --><?p <!-- ?><!DOCTYPE p>${named('<!-- -->')}`, '', '<!DOCTYPE'],
    ['a document type inside', named('<!DOCTYPE x>'), '', '<!DOCTYPE'],
    ['an entity without declaration', named('&e;'), 'SKUInfo.Name', '&e;'],
    ['an HTML entity', named('&nbsp;'), 'SKUInfo.Name', '&nbsp;'],
    ['a reference to no character', named('&#0;'), 'SKUInfo.Name', '&#0;'],
    ['a reference beyond Unicode', named('&#x110000;'), 'SKUInfo.Name', '&#x110000;'],
    ['a bare ampersand', named('a & b'), '', "char '&'"],
    ['a control character', named('a\u0001'), '', 'control character'],
    ['an element where text belongs', named('<b>x</b>'), 'SKUInfo.Name', 'must be text'],
    [
      'an item of another name',
      '<Product><FeatureList><Item /></FeatureList></Product>',
      'FeatureList',
      'named Feature',
    ],
    ['an element that is not closed', '<Product><SKUInfo>', '', 'not every element is closed'],
    ['a wrong end tag', '<Product></product>', '', 'Expected closing tag'],
    ['two roots', '<Product /><Product />', '', 'one root element'],
    ['text behind the root', '<Product></Product>x', '', 'Extra text'],
    ['another root', '<Customer />', '', 'Product or ArrayOfProduct'],
    ['no element', '<?xml version="1.0"?>', '', 'Start tag expected'],
    ['JSON', '{}', '', 'Text is not expected before the root element'],
    ['deep nesting', `<Product>${'<x>'.repeat(32)}${'</x>'.repeat(32)}</Product>`, '', 'deeper than 32 levels'],
    ['very deep nesting', '<x>'.repeat(900_000), '', 'deeper than 32 levels'],
    ['too many elements', `<Product>${'<x/>'.repeat(1_100_000)}</Product>`, '', 'more than 1000000 tags'],
    ['a tag without end', `<Product ${'a '.repeat(1_000_000)}`, '', 'longer than 2000 characters'],
    ['a comment without end', '<Product><!-- ', '', 'has no -->'],
    [
      'names that JavaScript gives a meaning, which are unknown fields like others',
      '<Product><__proto__>1</__proto__><constructor/><toString a="b"/></Product>',
      'SKUInfo.SKU',
      'is required',
    ],
  ])('%s', async (_name, body, field, reason) => {
    const answer = await shop.call('POST', '/Products', { body, contentType: 'application/xml' })
    const refusal = refusalOf(answer)
    expect(refusal).toMatchObject({ statusCode: 400, field })
    expect(refusal.message).toContain(reason)
    expect(refusal.message?.length).toBeLessThan(300)
  })

  test('UTF-16', async () => {
    const body = Buffer.from('\ufeff<Product />', 'utf16le')
    const answer = await shop.call('POST', '/Products', { body, contentType: 'application/xml' })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, message: 'The body is not valid UTF-8' })
  })
})

describe('a large body with more than there can be sense in is refused before it is read, with what is too many', () => {
  const names = (count: number) => Array.from({ length: count }, (_, index) => `"n${index}":1`).join(',')
  const record = '<Product><MFGID>x</MFGID></Product>'
  const xmlItems = (count: number) => '<Feature><FeatureTitle>x</FeatureTitle></Feature>'.repeat(count)

  test.each<[string, string, () => string, string]>([
    ['names', 'json', () => `{${names(400_000)}}`, 'has an object with more than 1000 members, at position 8890'],
    ['names in each of 100 records', 'json', () => `[${`{${names(1_001)}},`.repeat(99)}{}]`, 'more than 1000 members'],
    ['numbers', 'json', () => `{"a":[${'1,'.repeat(4_000_000)}1]}`, 'has more than 40000 values, at position 80003'],
    ['objects', 'json', () => `[${'{},'.repeat(3_000_000)}{}]`, 'has more than 500000 values'],
    [
      'values in the second record',
      'json',
      () => `[{},{"a":[${'1,'.repeat(40_000)}1]}]`,
      'has a record with more than 40000',
    ],
    ['lists', 'json', () => `{"a":[${'[[[[]]]],'.repeat(900_000)}1]}`, 'has more than 40000 values'],
    [
      'references in a text',
      'xml',
      () => `<Product><MFGID>${'&amp;'.repeat(1_900_000)}</MFGID></Product>`,
      '100000 references',
    ],
    [
      'references',
      'xml',
      () => `<Product>${`<MFGID>${'&lt;'.repeat(90_000)}</MFGID>`.repeat(12)}</Product>`,
      'more than 1000000 references',
    ],
    [
      'elements',
      'xml',
      () => `<Product>${'<a>1</a>'.repeat(400_000)}</Product>`,
      'a record with more than 40000 elements',
    ],
    [
      'items',
      'xml',
      () =>
        `<ArrayOfProduct>${record}<Product><FeatureList>${xmlItems(20_001)}</FeatureList></Product></ArrayOfProduct>`,
      'a record with more than 40000 elements',
    ],
    ['comments', 'xml', () => `<Product>${'<!---->'.repeat(1_000_001)}</Product>`, 'more than 1000000 tags'],
  ])('%s', async (_name, format, bodyOf, problem) => {
    const answer = await shop.call('POST', '/Products', { body: bodyOf(), contentType: `application/${format}` })
    expect(refusalOf(answer)).toMatchObject({ statusCode: 400, field: '', message: expect.stringContaining(problem) })
  })
})

describe('a large body is read', () => {
  const update = (body: string, format: string) =>
    shop.call('PUT', '/Products/1', { body, contentType: `application/${format}` })
  const shown = async () => (await shop.call('GET', '/Products/1')).json()[0]

  test.each([
    [
      'json',
      (items: number) =>
        JSON.stringify({ FeatureList: Array.from({ length: items }, (_, n) => ({ FeatureTitle: `é${n}` })) }),
    ],
    [
      'xml',
      (items: number) =>
        `<Product><FeatureList>${Array.from({ length: items }, (_, n) => `<Feature><FeatureTitle>&#233;${n}</FeatureTitle></Feature>`).join('')}</FeatureList></Product>`,
    ],
  ])('with a list of 10,000 items, and not of one more: %s', async (format, bodyOf) => {
    expect((await update(bodyOf(10_000), format)).statusCode).toBe(200)
    const { FeatureList } = await shown()
    expect(FeatureList).toHaveLength(10_000)
    expect(FeatureList[9_999].FeatureTitle).toBe('é9999')
    expect(refusalOf(await update(bodyOf(10_001), format))).toMatchObject({
      statusCode: 400,
      field: 'FeatureList',
      message: 'FeatureList has 10001 items; at most 10000 are allowed',
    })
    expect((await update('{"FeatureList":[]}', 'json')).statusCode).toBe(200)
  })

  test.each([
    ['json', (text: string) => JSON.stringify({ MFGID: 'a', Unknown: text, ShortDescription: 'é"\\' })],
    [
      'xml',
      (text: string) =>
        `<Product><MFGID>a</MFGID><Unknown>${text}</Unknown><ShortDescription>é"\\</ShortDescription></Product>`,
    ],
  ])('with 8 MB in a field that the service does not know: %s', async (format, bodyOf) => {
    expect((await update(bodyOf('xxx\n'.repeat(1_900_000)), format)).statusCode).toBe(200)
    expect(await shown()).toMatchObject({ MFGID: 'a', ShortDescription: 'é"\\' })
  })

  test('with 100 records of 60 kB in XML, the last of which counts', async () => {
    const records = Array.from({ length: 100 }, (_, n) => {
      const description = `&lt;p&gt;${n}&lt;/p&gt;&#13;\r\n`.repeat(1_800)
      return `<Product><SKUInfo><CatalogID>1</CatalogID></SKUInfo><Description>${description}</Description></Product>`
    })
    const body = `<ArrayOfProduct>\n${records.join('\n')}\n</ArrayOfProduct>`
    const answer = await shop.call('PUT', '/Products', { body, contentType: 'application/xml' })
    expect([answer.statusCode, answer.json().length]).toEqual([200, 100])
    expect((await shown()).Description).toBe('<p>99</p>\r\n'.repeat(1_800))
  })

  test('to its end, whose error has its place in the whole', async () => {
    const lines = '{"MFGID":"abcdefghijklmnopqrstuvwxyz"},\n'.repeat(99)
    const json = `[${lines.replaceAll('a', 'a'.repeat(1_000))}{"MFGID" "x"}]`
    const { message } = refusalOf(await shop.call('PUT', '/Products', { body: json }))
    expect(message).toBe(
      `Invalid JSON: "Expected ':' after property name in JSON at position ${json.length - 5} (line 100 column 10)"`,
    )
    const xml = `<Product>${'\r\n<MFGID>x</MFGID>'.repeat(20_000)}\r\n<MFGID>x</MFGIX></Product>`
    const broken = refusalOf(await shop.call('PUT', '/Products/1', { body: xml, contentType: 'text/xml' }))
    expect(broken.message).toBe("Invalid XML: line 20002, column 16: Expected closing tag 'MFGID'.")
  })
})
