import { StoreFailure, withoutQuoted } from '../../foundation/values/failure.ts'
import { escapeXml } from '../../foundation/xml/text.ts'

/** XML, as text or its UTF-8 bytes. A page, which may have several hundred kilobytes, comes in pieces: joined, it would be copied three times on its way out. */
export type Xml = string | readonly (string | Buffer)[]

export interface SoapAnswer {
  readonly xml: Xml
  /** The number of the error document; empty: a result. */
  readonly error: string
}

/** The XML of a result: a root in no namespace, and in it an element for each value. */
export function writeResult(root: string, values: Readonly<Record<string, string | number>>): string {
  const elements = Object.entries(values).map(([name, value]) => `<${name}>${escapeXml(String(value))}</${name}>`)
  return `<${root} xmlns="">${elements.join('')}</${root}>`
}

/** The numbers of the error document (soap-cartapi §2) that this server gives. */
const errorIds = {
  userKeyMissing: 1,
  storeUrlMissing: 2,
  productIdMissing: 3,
  quantityMissing: 4,
  batchSizeMissing: 5,
  invoiceNumMissing: 7,
  newStatusMissing: 8,
  addressRefused: 16,
  wrongKey: 17,
  switchedOff: 18,
  invalidQuantity: 32,
  invalidBatchSize: 33,
  invalidStartNum: 34,
  invalidInvoiceNum: 35,
  invalidDate: 36,
  invalidDateRange: 37,
  invalidStartFrom: 38,
  invalidStatus: 39,
  callbackFailed: 40,
  invalidCustomerData: 41,
  invalidAction: 42,
  invalidData: 43,
  productNotFound: 46,
  customerNotFound: 47,
  orderNotFound: 49,
} as const

export type ErrorName = keyof typeof errorIds

/** A refusal by an operation. Programs read its number and group; `message` goes to the log and a header. */
export class ResultError extends Error {
  readonly id: number
  readonly logMessage: string

  /** What `message` repeats of the request stands in double quotes, or `logMessage` says the same without it. */
  constructor(name: ErrorName, message: string, logMessage = withoutQuoted(message)) {
    super(message)
    this.name = 'ResultError'
    this.id = errorIds[name]
    this.logMessage = logMessage
  }
}

/** The error document. Programs look for an element of this name anywhere: no result may hold one. */
export function writeError({ id }: ResultError): string {
  const group = id < 16 ? 'XML file error' : id < 31 ? 'Login Error' : id < 46 ? 'Data Error' : 'No Data Found'
  return writeResult('Error', { Id: id, Description: group })
}

/** Runs `work` and gives its refusals the number for records that do not exist, or the one for everything else. Outages and defects pass. */
export async function refusing<T>(notFound: ErrorName, otherwise: ErrorName, work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.status >= 500) throw error
    throw new ResultError(error.code === 'not-found' ? notFound : otherwise, error.message, error.logMessage)
  }
}
