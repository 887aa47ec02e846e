import type { FastifyInstance } from 'fastify'

const WELL_KNOWN = '/.well-known/oauth-authorization-server'

/**
 * RFC 8414. Where PUBLIC_URL, the issuer, has a path, clients ask for it behind that of the document (3.1): a proxy that
 * serves several programs hands that address on.
 */
export async function metadataRoute(
  app: FastifyInstance,
  { publicUrl }: { readonly publicUrl: string },
): Promise<void> {
  const { pathname } = new URL(publicUrl)
  const paths = pathname === '/' ? [WELL_KNOWN] : [WELL_KNOWN, WELL_KNOWN + pathname.replaceAll(':', '::')]
  const authentication = ['client_secret_basic', 'client_secret_post']
  const metadata = {
    issuer: publicUrl,
    authorization_endpoint: `${publicUrl}/oauth/authorize`,
    token_endpoint: `${publicUrl}/oauth/token`,
    revocation_endpoint: `${publicUrl}/oauth/revoke`,
    response_types_supported: ['code'],
    response_modes_supported: ['query'],
    grant_types_supported: ['authorization_code'],
    code_challenge_methods_supported: ['S256', 'plain'],
    token_endpoint_auth_methods_supported: authentication,
    revocation_endpoint_auth_methods_supported: authentication,
    authorization_response_iss_parameter_supported: true,
    service_documentation: `${publicUrl}/docs`,
  }
  for (const path of paths) app.get(path, async () => metadata)
}
