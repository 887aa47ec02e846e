/** Who may use a route. `anyone` with another role: a session is optional. */
export type Role = 'anyone' | 'operator' | 'merchant' | 'developer' | 'customer'

export type Roles = readonly [Role, ...Role[]]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. A page or operator route without it throws at startup (html/guard.ts). */
    roles?: Roles
  }
}
