/** Who may use a route. `anyone` with another: who is signed in is known, but nobody has to be. */
export type Role = 'anyone' | 'operator' | 'merchant' | 'developer' | 'customer'

export type Roles = readonly [Role, ...Role[]]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. A route of the pages or the operator without it stops the start (html/guard.ts). */
    roles?: Roles
  }
}
