import type { FastifyInstance } from 'fastify'
import { revokeAccessToken, type TokenServices } from '../subscriptions/access-tokens.ts'
import { StoreFailure } from '../values/failure.ts'
import { authenticateClient, type ClientServices } from './client-authentication.ts'
import { required } from './parameters.ts'
import { OAuthRefusal } from './refusal.ts'
import { parametersOf } from './scope.ts'

/** `POST /oauth/revoke` (RFC 7009). Of what is not the client's it tells nothing. */
export async function revokeRoute(app: FastifyInstance, services: TokenServices & ClientServices): Promise<void> {
  app.post('/oauth/revoke', async (request, reply) => {
    const parameters = parametersOf(request)
    const client = await authenticateClient(services, request, parameters)
    const token = required(parameters, 'token')
    const actor = { kind: 'application', name: client.name, address: request.ip } as const
    await revokeAccessToken(services, { client, token, actor }).catch(asUnsupported)
    return reply.send()
  })
}

function asUnsupported(error: unknown): never {
  if (!(error instanceof StoreFailure) || error.kind !== 'conflict') throw error
  throw new OAuthRefusal('unsupported_token_type', error.message)
}
