import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { fieldSet, text } from '../../../../src/engine/definition/fields.ts'
import { runAtOnce } from '../../../../src/foundation/values/slices.ts'
import { isXmlCharacter } from '../../../../src/foundation/xml/text.ts'
import { readXml, recordsToXml } from '../../../../src/http/rest/xml.ts'
import { sharedServer } from '../../../support/store.ts'
import type { Result } from './fixture.ts'

const server = await sharedServer()
const shop = await server.openStore()

const declaration = '<?xml version="1.0" encoding="utf-8"?>'
const namespaces = 'xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" xmlns:xsd="http://www.w3.org/2001/XMLSchema"'
const inXml = (path: string) => shop.call('GET', path, { accept: 'application/xml' })
const post = (path: string, body: string) => shop.call('POST', path, { body, contentType: 'application/xml' })

test('any text is read from XML as it was written, without the characters that XML does not know', () => {
  const type = { typeName: 'Thing', fields: fieldSet({ Text: text() }) }
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 200 }), (written) => {
      const [read] = runAtOnce(readXml(recordsToXml([JSON.stringify({ Text: written })], type), type)) as {
        Text: string
      }[]
      const known = [...written].filter((character) => isXmlCharacter(character.codePointAt(0) ?? 0)).join('')
      expect(read?.Text).toBe(known)
    }),
  )
})

describe('an answer in XML', () => {
  test('has the form of the documentation, elements in the order of the fields', async () => {
    await shop.call('POST', '/CustomerGroups', { body: { Name: 'A & B', Description: '' } })
    const { body } = await inXml('/CustomerGroups/1')
    const members = Object.entries((await shop.call('GET', '/CustomerGroups/1')).json()[0]).map(([name, value]) =>
      value === '' ? `<${name} />` : `<${name}>${String(value).replace('&', '&amp;')}</${name}>`,
    )
    expect(body).toBe(
      `${declaration}<ArrayOfCustomerGroup ${namespaces}><CustomerGroup>${members.join('')}</CustomerGroup></ArrayOfCustomerGroup>`,
    )
  })

  test('to a change is a list of results', async () => {
    const answer = await shop.call('PUT', '/CustomerGroups/1', { body: {}, accept: 'text/xml' })
    expect(answer.body).toBe(
      `${declaration}<ArrayOfResponseInfo ${namespaces}><ResponseInfo><Key>CustomerGroupID</Key><Value>1</Value><Status>200</Status><Message>updated successfully</Message></ResponseInfo></ArrayOfResponseInfo>`,
    )
  })

  test('leaves out characters that XML does not know', async () => {
    await shop.call('PUT', '/CustomerGroups/1', { body: { Name: 'a\u0001\u000b\uffffb\r\nc' } })
    const { body } = await inXml('/CustomerGroups/1?$select=Name')
    expect(body).toContain('<Name>ab&#13;\nc</Name>')
    expect((await shop.call('GET', '/CustomerGroups/1')).json()[0].Name).toBe('a\u0001\u000b\uffffb\r\nc')
  })
})

describe('a body in XML', () => {
  const read = async (id: string | undefined) => (await shop.call('GET', `/Products/${id}`)).json()[0]

  test('creates the same record as in JSON', async () => {
    const answer = await post(
      '/Products',
      `<?xml version="1.0" encoding="utf-16"?>
      <!-- sent by a program -->
      <Product ${namespaces}>
        <SKUInfo><SKU>  x-1 </SKU><Name>A &amp; <![CDATA[<b>&amp;</b>]]> &#xE4;&#8364;</Name><Price>12.50</Price><OnSale>true</OnSale></SKUInfo>
        <hide>1</hide>
        <MFGID xsi:nil="true" />
        <GTIN>  x-1 </GTIN>
        <Unknown><Deep>1</Deep></Unknown>
        <Keywords />
        <FeatureList>
          <Feature><FeatureTitle>one</FeatureTitle></Feature>
          <feature><FeatureTitle>two</FeatureTitle></feature>
        </FeatureList>
        <OptionSetList><OptionSet><OptionSetName>Size</OptionSetName><OptionList><Options><OptionName>S</OptionName></Options></OptionList></OptionSet></OptionSetList>
      </Product>`,
    )
    expect(answer.statusCode).toBe(201)
    const record = await read(answer.json<Result[]>()[0]?.Value)
    expect(record).toMatchObject({
      SKUInfo: { SKU: 'x-1', Name: 'A & <b>&amp;</b> ä€', Price: 12.5, OnSale: true },
      Hide: true,
      MFGID: '',
      GTIN: '  x-1 ',
      FeatureList: [{ FeatureTitle: 'one' }, { FeatureTitle: 'two' }],
      OptionSetList: [{ OptionSetName: 'Size', OptionList: [{ OptionName: 'S' }] }],
    })
  })
})
