import { escapeXml } from '../../src/foundation/xml/text.ts'
import { readModel } from '../../src/http/soap/model.ts'
import type { Draw } from './draw.ts'
import type { FuzzRequest } from './requests.ts'
import { envelope, SOAP_NAMESPACE } from './soap-envelope.ts'
import type { FuzzOperation, Ground } from './surface-openapi.ts'
import { nastyNumber, nastyText } from './values.ts'

/** All operations of the WSDL, in both versions of SOAP. */
export async function soapOperations(): Promise<FuzzOperation[]> {
  const model = await readModel({ namespaces: [SOAP_NAMESPACE], address: 'http://server/cart.asmx' })
  return [...(model.operationsIn(SOAP_NAMESPACE, '1.1')?.values() ?? [])].map(({ name, parameters }) => ({
    name: `cartAPI ${name}`,
    kind: 'soap',
    make: (draw, ground) => makeCall(draw, ground, name, parameters),
  }))
}

type Parameters = readonly { readonly name: string; readonly type: string }[]

function makeCall(draw: Draw, ground: Ground, operation: string, parameters: Parameters): FuzzRequest {
  const mutations: string[] = []
  const given = parameters.flatMap((parameter): [string, string][] => {
    if (draw.happens(3)) {
      mutations.push(`without ${parameter.name}`)
      return []
    }
    const isAltered = draw.happens(6)
    if (isAltered) mutations.push(`parameter ${parameter.name}`)
    const value = isAltered ? markup(draw, nastyValue(draw, ground)) : escapeXml(plainValue(draw, ground, parameter))
    return [[parameter.name, value]]
  })
  const { headers, body } = envelope(operation, given, draw.oneOf(['1.1', '1.1', '1.2']))
  return { operation: `cartAPI ${operation}`, method: 'POST', path: '/cart.asmx', headers, body, mutations }
}

function plainValue(
  draw: Draw,
  { installation: { home, receiver }, survey }: Ground,
  { name, type }: Parameters[number],
): string {
  if (name === 'storeUrl') return home.secureUrl
  if (name === 'userKey') return home.userKey
  if (name === 'callBackURL') return draw.happens(10) ? `${receiver}/callback` : ''
  if (type === 'int') return String(draw.oneOf([1, 1, 2, 5, 100, draw.int(1, 60)]))
  if (type === 'boolean') return draw.oneOf(['true', 'false', '1', '0'])
  if (name === 'customerData') return customerData(draw, survey.texts)
  if (name === 'action') return draw.oneOf(['insert', 'update', 'delete'])
  return draw.happens(30)
    ? ''
    : draw.oneOf([...survey.texts, '1', '1000', 'Shipped', 'New', '03/01/2026', 'email=a@b.example'])
}

function customerData(draw: Draw, texts: readonly string[]): string {
  const fields = [
    'contactid',
    'alt_contactid',
    'billing_firstname',
    'billing_city',
    'email',
    'pass',
    'comments',
    'custenabled',
    'nonsense',
  ]
  const chosen = fields.filter(() => draw.happens(40))
  return chosen.map((name) => `${name}===${draw.happens(50) ? draw.int(1, 700) : draw.oneOf(texts)}`).join('|||')
}

function nastyValue(draw: Draw, { installation: { other }, survey }: Ground): string {
  const kind = draw.int(0, 9)
  if (kind === 0) return other.secureUrl
  if (kind === 1) return other.userKey
  if (kind === 2) return String(draw.oneOf(survey.foreign))
  return kind < 5 ? nastyNumber(draw) : nastyText(draw)
}

/** The value as text, as CDATA, or as it is, where it may break the document. */
function markup(draw: Draw, value: string): string {
  const kind = draw.int(0, 9)
  if (kind < 6) return escapeXml(value)
  if (kind === 6) return `<![CDATA[${value}]]>`
  if (kind === 7) return `<x>${escapeXml(value)}</x>`
  return kind === 8 ? `<!-- c -->${escapeXml(value)}<?p x?>` : value
}
