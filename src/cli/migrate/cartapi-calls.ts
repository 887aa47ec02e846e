import { StartupError } from '../../foundation/process/startup-error.ts'
import {
  attributeText,
  childElements,
  childrenNamed,
  localName,
  textOf,
  type XmlElement,
} from '../../foundation/xml/read.ts'
import { readShortXml } from '../../foundation/xml/read-short.ts'
import { escapeAttribute, escapeXml, XML_DECLARATION } from '../../foundation/xml/text.ts'
import { type Content, contentOf } from '../../http/soap/records/reading.ts'
import { type Answer, Asking } from './ask.ts'
import type { SourceKeys } from './source.ts'

/** Where the address has no path. */
const PATH = '/cart.asmx'

/** A hundred orders with 80 items each have as many. */
const TAGS_MAX = 400_000
/** References such as `&lt;`, of which descriptions in HTML are full. */
const REFERENCES_MAX = 800_000
/** A WSDL of thirteen operations has a thousand. */
const WSDL_TAGS_MAX = 20_000
const FAULT_TAGS_MAX = 2_000
const SAID_MAX = 200

/** The answer `Error` with a number (soap-cartapi §2). */
export class ErrorDocument {
  readonly id: number
  readonly description: string
  constructor(id: number, description: string) {
    this.id = id
    this.description = description
  }
}

/** An answer beyond the bounds of one: fewer records fit. */
export const TOO_LARGE = Symbol('too large')

export type Result = Content | ErrorDocument | typeof TOO_LARGE

/** 16: the address may not call; 17: wrong key; 18: cartAPI is switched off. */
const refusals: readonly number[] = [16, 17, 18]

interface Service {
  readonly namespace: string
  /** The SOAPAction of each operation. */
  readonly actions: ReadonlyMap<string, string>
}

/** Calls the operations of a cartAPI by SOAP 1.1. */
export class CartApi {
  readonly #asking: Asking
  readonly #path: string
  readonly #keys: SourceKeys
  readonly #service: Service

  private constructor(asking: Asking, path: string, keys: SourceKeys, service: Service) {
    this.#asking = asking
    this.#path = path
    this.#keys = keys
    this.#service = service
  }

  /** Reads namespace and actions from the WSDL. Throws StartupError where there is none. */
  static async open(keys: SourceKeys, say: (line: string) => void): Promise<CartApi> {
    const asking = new Asking(keys.address, say)
    const path = new URL(asking.address).pathname === '/' ? PATH : ''
    try {
      const question = { path: `${path}?wsdl`, headers: { accept: 'text/xml, application/xml' } }
      const service = await asking.ask(question, async ({ status, body }) => {
        const found = status === 200 ? await readWsdl(body).catch(() => null) : null
        if (found !== null) return found
        throw new StartupError(
          `${asking.address}${path} has no WSDL of cartAPI (status ${status}). Give --from the address of its service, such as https://HOST${PATH}`,
        )
      })
      return new CartApi(asking, path, keys, service)
    } catch (error) {
      await asking.close()
      throw error
    }
  }

  /** Calls an operation. Throws StartupError where the keys are refused, or a fault says that the call is wrong. */
  async call(operation: string, parameters: Readonly<Record<string, string | number | boolean>>): Promise<Result> {
    const question = {
      path: this.#path,
      method: 'POST' as const,
      headers: {
        'content-type': 'text/xml; charset=utf-8',
        accept: 'text/xml',
        soapaction: `"${this.#service.actions.get(operation) ?? `${this.#service.namespace}${operation}`}"`,
      },
      body: this.#envelope(operation, parameters),
      failureOf: (answer: Answer) => this.#failureOf(answer),
    }
    return this.#asking.ask(question, async ({ status, body }) => {
      if (status !== 200) throw new Error(`status ${status}`)
      if (isTooLarge(body)) return TOO_LARGE
      const result = await readResult(body, operation)
      if (localName(result.name) !== 'Error') return contentOf(result)
      return this.#errorOf(contentOf(result))
    })
  }

  now(): Date {
    return this.#asking.now()
  }

  close(): Promise<void> {
    return this.#asking.close()
  }

  #envelope(operation: string, parameters: Readonly<Record<string, string | number | boolean>>): string {
    const { secureUrl, userKey } = this.#keys
    const given = Object.entries({ storeUrl: secureUrl ?? '', userKey: userKey ?? '', ...parameters })
    const inside = given.map(([name, value]) => `<${name}>${escapeXml(String(value))}</${name}>`).join('')
    const called = `<${operation} xmlns="${escapeAttribute(this.#service.namespace)}">${inside}</${operation}>`
    return `${XML_DECLARATION}<soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body>${called}</soap:Body></soap:Envelope>`
  }

  #errorOf(error: Content): ErrorDocument {
    const id = error.take('Id')?.text.trim() ?? ''
    const description = this.#said(error.hasElements ? (error.take('Description')?.text ?? '') : error.text)
    // Without a number it is a failure on the way to the store.
    if (!/^\d{1,5}$/.test(id)) throw new Error(description)
    if (refusals.includes(Number(id))) {
      throw new StartupError(
        `The source refuses the keys (error ${id}: ${description}). Give MIGRATE_USER_KEY and MIGRATE_SECURE_URL of a store whose cartAPI is switched on, and let this address call it`,
      )
    }
    return new ErrorDocument(Number(id), description)
  }

  /** What a fault says; empty: the answer is none. Throws StartupError for a fault of the caller, which stays one. */
  async #failureOf({ body }: Answer): Promise<string> {
    const root = await readShortXml(body, { tagsMax: FAULT_TAGS_MAX }).catch(() => null)
    const fault = root && descendants(root).find(({ name }) => localName(name) === 'Fault')
    if (!fault) return ''
    const texts = (...names: string[]) =>
      descendants(fault)
        .filter(
          ({ name, content }) => names.includes(localName(name)) && content.every((node) => typeof node === 'string'),
        )
        .map((element) => textOf(element, element.name).trim())
    const reason = this.#said(texts('faultstring', 'Text')[0] ?? '')
    if (texts('faultcode', 'Value').some((code) => /(?:^|:)(?:Client|Sender)$/.test(code))) {
      throw new StartupError(`The source refuses the call: ${reason}`)
    }
    return reason
  }

  /** Servers repeat the parameters of a call in their texts. */
  #said(text: string): string {
    const { userKey } = this.#keys
    const without = userKey ? text.replaceAll(userKey, '…') : text
    return without.replace(/\s+/g, ' ').trim().slice(0, SAID_MAX)
  }
}

/** Counts the characters that begin tags and references, before anything is built. */
function isTooLarge(body: string): boolean {
  return occurrences(body, '<', TAGS_MAX) > TAGS_MAX || occurrences(body, '&', REFERENCES_MAX) > REFERENCES_MAX
}

function occurrences(text: string, character: string, max: number): number {
  let count = 0
  for (let at = text.indexOf(character); at !== -1 && count <= max; at = text.indexOf(character, at + 1)) count++
  return count
}

/** The root inside of `XResult`. Throws for an answer that has none. */
async function readResult(body: string, operation: string): Promise<XmlElement> {
  const envelope = await readShortXml(body, { tagsMax: TAGS_MAX })
  const path = ['Body', `${operation}Response`, `${operation}Result`]
  const result = path.reduce((element, name) => only(childrenNamed(element, name), name), envelope)
  return only(childElements(result), `content of ${operation}Result`)
}

function only([found]: readonly XmlElement[], name: string): XmlElement {
  if (found === undefined) throw new Error(`it has no ${name}`)
  return found
}

async function readWsdl(body: string): Promise<Service | null> {
  const root = await readShortXml(body, { tagsMax: WSDL_TAGS_MAX })
  const namespace = attributeText(root, 'targetNamespace')
  if (localName(root.name) !== 'definitions' || namespace === '') return null
  const actions = descendants(root).flatMap((element): [string, string][] => {
    const action = childrenNamed(element, 'operation').map((binding) => attributeText(binding, 'soapAction'))[0] ?? ''
    return localName(element.name) === 'operation' && action !== '' ? [[attributeText(element, 'name'), action]] : []
  })
  return { namespace, actions: new Map(actions) }
}

function descendants(element: XmlElement): XmlElement[] {
  return childElements(element).flatMap((child) => [child, ...descendants(child)])
}
