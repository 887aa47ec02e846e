import { readFileSync } from 'node:fs'
import { SaxesParser } from 'saxes'
import { describe, expect, test } from 'vitest'
import {
  type FaultCode,
  faultCodes,
  SoapFault,
  type SoapVersion,
  writeFault,
} from '../../../../src/http/soap/faults.ts'
import { readModel, writeWsdl } from '../../../../src/http/soap/model.ts'
import { readPorts } from '../../../../src/http/soap/wsdl.ts'

// The frames of all answers and faults as strong-soap makes them from the WSDL are kept in frames.txt, a line each. The server's
// own may differ from them only in what docs/decisions/soap.md names.

const fixture = new URL('frames.txt', import.meta.url)
const namespace = 'urn:store-platform:cartAPI'
const described = { namespaces: [namespace], address: 'https://shop.example/cart.asmx' }
const model = await readModel(described)
const names = model.operations.map(({ name }) => name)
const versions: readonly SoapVersion[] = ['1.1', '1.2']
const codes = Object.keys(faultCodes) as FaultCode[]

test('frames.txt is what strong-soap makes from the WSDL; if not, run vitest with -u', async () => {
  const ports = await readPorts(writeWsdl(described))
  const lines = versions.flatMap((version) =>
    Object.entries({ ...ports[version].answers, ...ports[version].faults }).map(
      ([name, frame]) => `${version} ${name} ${frame}`,
    ),
  )
  expect(lines).toHaveLength(versions.length * (names.length + codes.length))
  await expect(`${lines.join('\n')}\n`).toMatchFileSnapshot(fixture.pathname)
})

describe.each(versions)("the server's frames of SOAP %s are those of strong-soap", (version) => {
  test.each(names)('%s', (name) => {
    const own = model.operationsIn(namespace, version)?.get(name)?.answer('content')
    expect(meaningOf(String(own))).toEqual(meaningOf(kept(version, name)))
  })

  test.each(codes)('%s', (code) => {
    const own = writeFault(model, version, new SoapFault(code, 'reason'))
    // The versions that there are: SOAP 1.2 wants them in a header, for which strong-soap has no place.
    const comparable = own.replace(/<soap:Header>.*<\/soap:Header>/, '')
    expect(meaningOf(comparable)).toEqual(meaningOf(kept(version, code)))
  })

  test('the fault without a model', () => {
    const fault = new SoapFault('Server', 'reason')
    expect(writeFault(null, version, fault)).toBe(writeFault(model, version, fault))
  })
})

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
