import { StoreFailure, withoutQuoted } from '../values/failure.ts'
import { element, rootElement } from './elements.ts'

/** The numbers of the error document (soap-cartapi 2), of those that this server gives. */
export const errorIds = {
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

/**
 * What an operation refuses: an answer as any other, with the error document in place of the result. Programs read its number
 * and its group's text; `message` says what exactly was wrong, in the log and in a header.
 */
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
  return rootElement('Error', element('Id', String(id)) + element('Description', descriptionOf(id)))
}

function descriptionOf(id: number): string {
  if (id < 16) return 'XML file error'
  if (id < 31) return 'Login Error'
  return id < 46 ? 'Data Error' : 'No Data Found'
}

/**
 * Runs `work`, and says what it refuses by numbers: what is not there, and everything else that is the caller's. Outages and
 * defects pass.
 */
export async function refusing<T>(
  names: { readonly notFound: ErrorName; readonly otherwise: ErrorName },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof StoreFailure) || error.status >= 500) throw error
    throw new ResultError(
      error.kind === 'not-found' ? names.notFound : names.otherwise,
      error.message,
      error.logMessage,
    )
  }
}
