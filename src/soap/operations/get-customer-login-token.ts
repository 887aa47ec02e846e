import { issueCustomerToken } from '../../people/customer-tokens.ts'
import { findCustomerByEmail } from '../../resources/customers/find-customer.ts'
import type { Operation } from '../operation.ts'
import { ResultError, refusing, writeResult } from '../result.ts'

/** A day; a longer life is cut to it (soap-cartapi §4.4). */
const MINUTES_MAX = 1440

/**
 * The token of a link that signs a customer in once, within `timeToLive` minutes (the unit is documented nowhere).
 * Refuses an unknown customer (47), and one that is disabled (43).
 */
export const getCustomerLoginToken: Operation = async ({ caller, parameters, services }) => {
  const email = parameters.required('customerEmail', 'invalidData')
  const minutes = parameters.integer('timeToLive', 'invalidData', 'a whole number of minutes, from 1 on', { min: 1 })
  const customerId = await findCustomerByEmail(caller, email)
  if (customerId === null) throw new ResultError('customerNotFound', 'No customer has this customerEmail')
  const { token } = await refusing('customerNotFound', 'invalidData', () =>
    issueCustomerToken(services, caller, { customerId, minutes: Math.min(minutes, MINUTES_MAX) }),
  )
  return writeResult('CustomerLoginTokenResponse', { Token: token })
}
