import { childElements, isNil, localName, textOf, type XmlElement } from '../xml/read.ts'
import { SoapFault } from './faults.ts'

/** What was sent, by the names of the WSDL: texts without blanks around them. What is nil was not sent. */
export type Parameters = ReadonlyMap<string, string>

/**
 * The parameters of a request. Their order, their namespace and others beside them do not matter: old proxies differ in all of
 * that. Throws SoapFault for one that is sent twice, or holds an element.
 */
export function readParameters(request: XmlElement, names: readonly string[]): Parameters {
  const parameters = new Map<string, string>()
  for (const child of childElements(request)) {
    const name = localName(child.name)
    if (!names.includes(name) || isNil(child)) continue
    if (parameters.has(name)) throw new SoapFault('Client', `${name} is given twice`)
    parameters.set(name, textOf(child, name).trim())
  }
  return parameters
}

/** Empty: not sent, or empty. */
export function textParameter(parameters: Parameters, name: string): string {
  return parameters.get(name) ?? ''
}

/** Not sent or empty it is 0, as a proxy's default; not a whole number of 32 bits: NaN. */
export function integerParameter(parameters: Parameters, name: string): number {
  const given = textParameter(parameters, name)
  if (given === '') return 0
  const value = /^[+-]?0*\d{1,10}$/.test(given) ? Number(given) : Number.NaN
  return value >= -(2 ** 31) && value < 2 ** 31 ? value : Number.NaN
}

/** Not sent or empty it is false: PHP sends its false so. Null: neither true nor false. */
export function booleanParameter(parameters: Parameters, name: string): boolean | null {
  const given = textParameter(parameters, name).toLowerCase()
  if (given === 'true' || given === '1') return true
  return given === '' || given === 'false' || given === '0' ? false : null
}
