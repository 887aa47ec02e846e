import { issueCustomerToken } from '../../people/customer-tokens.ts'
import { findCustomerByEmail } from '../../resources/customers/find-customer.ts'
import { element, rootElement } from '../elements.ts'
import type { Operation } from '../operation.ts'
import { integerParameter, textParameter } from '../parameters.ts'
import { ResultError, refusing } from '../result-errors.ts'

/** A day; more is cut to it (soap-cartapi 4.4). */
const MINUTES_MAX = 1440

/**
 * The token of a link that signs a customer in, once, for `timeToLive` minutes (the unit is ours: it is documented nowhere).
 * Refuses an unknown customer (47), and one that is disabled (43).
 */
export const getCustomerLoginToken: Operation = async ({ caller, parameters, services }) => {
  const email = textParameter(parameters, 'customerEmail')
  if (email === '') throw new ResultError('invalidData', 'customerEmail is missing')
  const minutes = integerParameter(parameters, 'timeToLive')
  if (!(minutes >= 1)) throw new ResultError('invalidData', 'timeToLive must be a whole number of minutes, from 1 on')
  const customerId = await findCustomerByEmail(caller, email)
  if (customerId === null) throw new ResultError('customerNotFound', 'No customer has this customerEmail')
  const { token } = await refusing({ notFound: 'customerNotFound', otherwise: 'invalidData' }, () =>
    issueCustomerToken(services, caller, { customerId, minutes: Math.min(minutes, MINUTES_MAX) }),
  )
  return rootElement('CustomerLoginTokenResponse', element('Token', token))
}
