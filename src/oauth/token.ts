import type { FastifyInstance } from 'fastify'
import { type CodeExchange, exchangeCode, type TokenServices } from '../subscriptions/access-tokens.ts'
import { StoreFailure } from '../values/failure.ts'
import { authenticateClient, type ClientServices } from './client-authentication.ts'
import { required } from './parameters.ts'
import { OAuthRefusal } from './refusal.ts'
import { parametersOf } from './scope.ts'

/** `POST /oauth/token` (contract §4.3, rest-protocol 9.2): an access token for a code. */
export async function tokenRoute(app: FastifyInstance, services: TokenServices & ClientServices): Promise<void> {
  app.post('/oauth/token', async (request) => {
    const parameters = parametersOf(request)
    const client = await authenticateClient(services, request, parameters)
    const grantType = required(parameters, 'grant_type')
    if (grantType !== 'authorization_code') {
      throw new OAuthRefusal('unsupported_grant_type', 'grant_type may only be authorization_code')
    }
    const exchange: CodeExchange = {
      client,
      code: required(parameters, 'code'),
      redirectUri: parameters.value('redirect_uri'),
      verifier: parameters.value('code_verifier'),
      actor: { kind: 'application', name: client.name, address: request.ip },
    }
    const { token, userId } = await exchangeCode(services, exchange).catch(asInvalidGrant)
    return { access_token: token, token_type: 'bearer', user_id: userId }
  })
}

function asInvalidGrant(error: unknown): never {
  if (!(error instanceof StoreFailure) || error.kind !== 'bad-request') throw error
  throw new OAuthRefusal('invalid_grant', error.message)
}
