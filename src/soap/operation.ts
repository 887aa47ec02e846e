import type { Caller } from '../engine/caller.ts'
import type { CustomerTokenServices } from '../people/customer-tokens.ts'
import type { Parameters } from './parameters.ts'

/** What operations need besides the caller. */
export type OperationServices = CustomerTokenServices

/** One call, let in already. */
export interface Call {
  readonly caller: Caller
  readonly parameters: Parameters
  readonly services: OperationServices
  /** Logs that the operation passes something over, and says in the answer's header `X-Error-Reason` what. `detail` quotes names of the caller's. */
  readonly passOver: (detail: string) => void
}

/** XML; of a page, which may have several hundred kilobytes, in pieces: as one text it would be copied three times on its way out. */
export type Xml = string | readonly string[]

/** Carries a call out, and gives the result's XML, whose root has `xmlns=""`. Throws ResultError for what it refuses. */
export type Operation = (call: Call) => Promise<Xml>
