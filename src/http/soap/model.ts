import { readFileSync } from 'node:fs'
import { Worker } from 'node:worker_threads'
import { escapeAttribute, SCHEMA_NAMESPACES, XML_DECLARATION } from '../../foundation/xml/text.ts'
import type { FaultCode, FaultFrame, SoapVersion } from './faults.ts'
import type { Xml } from './result.ts'
import type { DeclaredOperation, Port } from './wsdl.ts'

/** An operation with answers in one version and one namespace. */
export interface SoapOperation extends DeclaredOperation {
  /** The envelope of an answer whose `XResult` has this content. */
  readonly answer: (content: Xml) => Buffer
}

/** What strong-soap makes of the WSDL. */
export interface SoapModel {
  readonly namespaces: readonly string[]
  /** For people: the parameters are those that not every operation has. */
  readonly operations: readonly DeclaredOperation[]
  /** The operations by name; null: the namespace is not accepted. */
  readonly operationsIn: (namespace: string, version: SoapVersion) => ReadonlyMap<string, SoapOperation> | null
  readonly faultFrame: (code: FaultCode, version: SoapVersion) => FaultFrame
}

interface Described {
  /** All are accepted. */
  readonly namespaces: readonly string[]
  readonly address: string
}

/** Declares the operations and their parameters: their code only asks for them by name. */
const source = readFileSync(new URL('../../../wsdl/cartAPI.wsdl', import.meta.url), 'utf8')

/** Parameters of every operation. */
const common = ['storeUrl', 'userKey', 'callBackURL']

/** The WSDL with its first namespace and the public address filled in. A SOAP action is the namespace, one slash and the operation. */
export function writeWsdl({ namespaces: [namespace = ''], address }: Described): string {
  const values: Readonly<Record<string, string>> = {
    soap_url: address,
    soap_namespace: namespace,
    soap_action_base: namespace.endsWith('/') ? namespace : `${namespace}/`,
  }
  return source.replace(/\{(\w+)\}/g, (_, name: string) => escapeAttribute(values[name] ?? ''))
}

/** Reads the WSDL in a thread of its own, whose memory goes with it. Throws if strong-soap fails. */
export async function readModel({ namespaces, address }: Described): Promise<SoapModel> {
  const texts = namespaces.map((namespace) => writeWsdl({ namespaces: [namespace], address }))
  const read = await readInThread(texts)
  // Faults, and what people read, are the same in every namespace.
  const [ports] = read as [Record<SoapVersion, Port>]
  const bindings = new Map<string, ReadonlyMap<string, SoapOperation>>()
  for (const [index, each] of read.entries()) {
    for (const [version, { operations, answers }] of Object.entries(each)) {
      const bound = operations.map((declared): [string, SoapOperation] => [
        declared.name,
        { ...declared, answer: answerOf(answers[declared.name] ?? '') },
      ])
      bindings.set(`${version} ${namespaces[index]}`, new Map(bound))
    }
  }
  const faults = { '1.1': faultFrames(ports['1.1']), '1.2': faultFrames(ports['1.2']) }
  return {
    namespaces,
    operations: ports['1.1'].operations.map(({ parameters, ...operation }) => {
      return { ...operation, parameters: parameters.filter(({ name }) => !common.includes(name)) }
    }),
    operationsIn: (namespace, version) => bindings.get(`${version} ${namespace}`) ?? null,
    faultFrame: (code, version) => faults[version][code],
  }
}

/** Nobody waits longer for a call. */
const THREAD_MS = 30_000

async function readInThread(texts: readonly string[]): Promise<readonly Readonly<Record<SoapVersion, Port>>[]> {
  // Of the process's environment, which has secrets, it needs nothing.
  const worker = new Worker(new URL('model-worker.ts', import.meta.url), { workerData: texts, env: {} })
  worker.unref()
  const { promise, resolve, reject } = Promise.withResolvers<Readonly<Record<SoapVersion, Port>>[]>()
  const timer = setTimeout(() => reject(new Error('strong-soap does not come to an end')), THREAD_MS).unref()
  worker.once('message', resolve).once('error', reject)
  worker.once('exit', () => reject(new Error('strong-soap ended without a model')))
  try {
    return await promise
  } finally {
    clearTimeout(timer)
    void worker.terminate()
  }
}

/** A failure is remembered for as long. */
const RETRY_MS = 60_000

/** Returns what gives the model, which is read when it is first asked for. `failed` is told why it could not be read. */
export function lazyModel(described: Described, failed: (error: unknown) => void): () => Promise<SoapModel> {
  let model: Promise<SoapModel> | null = null
  return () => {
    if (model === null) {
      model = readModel(described)
      model.catch((error) => {
        failed(error)
        setTimeout(() => {
          model = null
        }, RETRY_MS).unref()
      })
    }
    return model
  }
}

/** The names have no prefix except `soap`, in both versions, because some programs search for these very tags. */
function plain(frame: string): string {
  return frame
    .replace(/^<\?xml[^>]*\?>/, XML_DECLARATION)
    .replace('xmlns:ns1=', 'xmlns=')
    .replace(/<(\/?)ns1:/g, '<$1')
}

function answerOf(frame: string): SoapOperation['answer'] {
  const written = plain(frame)
    .replace(/(<soap:Envelope [^>]*)>/, `$1 ${SCHEMA_NAMESPACES}>`)
    .replace('<soap:Header/>', '')
  const [start, end] = cut(written, '>content<').map((text) => Buffer.from(text)) as [Buffer, Buffer]
  const bytesOf = (piece: string | Buffer) => (typeof piece === 'string' ? Buffer.from(piece) : piece)
  return (content) => Buffer.concat([start, ...[content].flat().map(bytesOf), end])
}

function faultFrames({ faults }: Port): Readonly<Record<FaultCode, FaultFrame>> {
  const frames = Object.entries(faults).map(([code, frame]) => [code, faultFrameOf(frame)])
  return Object.fromEntries(frames) as Record<FaultCode, FaultFrame>
}

/** strong-soap's faults lack `xml:lang`, which SOAP 1.2 demands. */
function faultFrameOf(frame: string): FaultFrame {
  const [envelope, body] = cut(plain(frame), '><soap:Header/><')
  const [start, end] = cut(body, '>reason<')
  return { envelope, start: `${start.slice(0, -1)} xml:lang="en">`, end }
}

/** Between the angle brackets of a mark. */
function cut(text: string, mark: string): [before: string, after: string] {
  const at = text.indexOf(mark)
  if (at === -1) throw new Error(`strong-soap writes no ${mark}`)
  return [text.slice(0, at + 1), text.slice(at + mark.length - 1)]
}
