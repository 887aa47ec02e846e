import { readFileSync } from 'node:fs'
import { SaxesParser } from 'saxes'
import strongSoap, { type Descriptor, type WsdlOperation } from 'strong-soap'
import { describe, expect, test } from 'vitest'
import { SoapFault, type SoapVersion, soapVersions, writeFault } from '../../../src/soap/faults.ts'
import { createModel } from '../../../src/soap/model.ts'

// The frames of all answers and faults as strong-soap makes them from the WSDL are kept in frames.txt, a line each. The server's
// own may differ from them only in what docs/decisions/soap.md names.

const { NamespaceContext, WSDL, XMLHandler } = strongSoap.soap
const fixture = new URL('frames.txt', import.meta.url)
const namespace = 'urn:store-platform:cartAPI'
const model = createModel({ namespaces: [namespace], address: 'https://shop.example/cart.asmx' })
const names = model.operations.map(({ name }) => name)
const versions: readonly SoapVersion[] = ['1.1', '1.2']

/** The codes of SOAP 1.1 and 1.2. SOAP 1.1 §4.4 asks for a detail where the fault concerns the body. */
const faults = [
  ['Client', 'Sender', { detail: '' }],
  ['Server', 'Receiver', { detail: '' }],
  ['VersionMismatch', 'VersionMismatch', {}],
  ['MustUnderstand', 'MustUnderstand', {}],
] as const

test('frames.txt is what strong-soap makes from the WSDL; if not, run vitest with -u', async () => {
  const read = await readByStrongSoap()
  const lines = [...read].flatMap(([version, strong]) =>
    framesOf(strong, version).map(([name, frame]) => `${version} ${name} ${frame}`),
  )
  expect(lines).toHaveLength(versions.length * (names.length + faults.length))
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(fixture.pathname)
})

describe.each(versions)("the server's frames of SOAP %s are those of strong-soap", (version) => {
  test.each(names)('%s', (name) => {
    const own = model.operationsIn(namespace, version)?.get(name)?.answer('content')
    expect(meaningOf(String(own))).toEqual(meaningOf(kept(version, name)))
  })

  test.each(faults.map(([code]) => code))('%s', (code) => {
    const own = writeFault(version, new SoapFault(code, 'reason'))
    // The versions that there are: SOAP 1.2 wants them in a header, for which strong-soap has no place.
    const comparable = own.replace(/<soap:Header>.*<\/soap:Header>/, '')
    expect(meaningOf(comparable)).toEqual(meaningOf(kept(version, code)))
  })
})

interface StrongSoap {
  readonly operations: Readonly<Record<string, WsdlOperation>>
  readonly write: (descriptor: Descriptor, value: object) => string
  readonly describe: (operation: WsdlOperation) => { readonly answer: Descriptor; readonly fault: Descriptor }
}

async function readByStrongSoap(): Promise<ReadonlyMap<SoapVersion, StrongSoap>> {
  const wsdl = new WSDL(model.wsdl, 'cartAPI.wsdl', {})
  await new Promise<void>((resolve, reject) => wsdl.load((error) => (error ? reject(error) : resolve())))
  const ports = Object.values(wsdl.definitions.services.cartAPI?.ports ?? {})
  return new Map(
    ports.map(({ binding: { operations } }) => {
      const [{ soapVersion } = { soapVersion: '1.1' as const }] = Object.values(operations)
      const { namespace: envelope } = soapVersions[soapVersion]
      return [
        soapVersion,
        {
          operations,
          write: (descriptor, value) => {
            const namespaces = new NamespaceContext()
            namespaces.declareNamespace('soap', envelope)
            const { body, doc } = XMLHandler.createSOAPEnvelope('soap', envelope)
            new XMLHandler(wsdl.schemas, {}).jsonToXml(body, namespaces, descriptor, value)
            return doc.end({ pretty: false })
          },
          describe: (operation) => {
            const answer = operation.describe(wsdl.definitions).output.body
            const fault = operation.descriptor.faultEnvelope.elements[0]?.elements[1]?.elements[0]
            if (fault === undefined) throw new Error('strong-soap describes no fault')
            return { answer, fault }
          },
        },
      ]
    }),
  )
}

function framesOf({ operations, write, describe }: StrongSoap, version: SoapVersion): [string, string][] {
  const described = Object.entries(operations).map(([name, operation]) => [name, describe(operation)] as const)
  const answers = described.map(([name, { answer }]): [string, string] => [
    name,
    write(answer, { [`${name}Result`]: 'content' }),
  ])
  const [[, any] = []] = described
  if (any === undefined) throw new Error(`strong-soap finds no operation of SOAP ${version}`)
  const written = faults.map(([code, code12, detail]): [string, string] => {
    const value =
      version === '1.1'
        ? { faultcode: `soap:${code}`, faultstring: 'reason', ...detail }
        : { Code: { Value: `soap:${code12}` }, Reason: { Text: 'reason' } }
    return [code, write(any.fault, value)]
  })
  return [...answers, ...written]
}

function kept(version: SoapVersion, name: string): string {
  const start = `${version} ${name} `
  const line = readFileSync(fixture, 'utf8')
    .split('\n')
    .find((each) => each.startsWith(start))
  if (line === undefined) throw new Error(`frames.txt has no ${version} ${name}`)
  return line.slice(start.length)
}

/** Tags by namespace and name, and texts; without what may differ: prefixes, xml:lang, and a header with nothing in it. */
function meaningOf(xml: string): string[] {
  const parts: string[] = []
  const parser = new SaxesParser({ xmlns: true })
  parser.on('opentag', ({ uri, local, attributes }) => {
    const kept = Object.values(attributes).filter(
      ({ name, prefix }) => prefix !== 'xmlns' && name !== 'xmlns' && name !== 'xml:lang',
    )
    parts.push([`{${uri}}${local}`, ...kept.map(({ name, value }) => `${name}=${value}`)].join(' '))
  })
  parser.on('text', (text) => parts.push(text))
  parser.on('closetag', ({ uri, local }) => {
    const end = `{${uri}}${local}`
    if (local === 'Header' && parts.at(-1) === end) parts.pop()
    else parts.push(`/${end}`)
  })
  parser.write(xml).close()
  return parts
}
