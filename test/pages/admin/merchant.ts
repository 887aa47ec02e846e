import type { FastifyInstance } from 'fastify'
import { type TestPerson, testPerson } from '../../support/person.ts'

/** The merchant of a store that `openStore` opened, signed in at its administration. */
export async function signedInMerchant(
  app: FastifyInstance,
  { secureUrl }: { secureUrl: string },
): Promise<TestPerson> {
  const merchant = testPerson(app)
  const { statusCode, body } = await merchant.submit('/admin/sign-in', {
    Email: 'merchant@shop.example',
    Password: 'correct horse battery',
    Store: secureUrl,
  })
  if (statusCode !== 303) throw new Error(`The merchant could not sign in: ${statusCode} ${body}`)
  return merchant
}
