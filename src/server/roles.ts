import type { Access } from '../engine/caller.ts'

/** Who may use a route: programs with OPERATOR_KEY, or people with a session. `anyone` with another role: a session is optional. */
export type Role = 'anyone' | 'operator-key' | 'operator' | 'merchant' | 'developer' | 'customer'

export type Roles = readonly [Role, ...Role[]]

/** A privilege of a store's people, such as `['Orders', 'write']` (src/staff/roles.ts). */
export type Need = readonly [privilege: string, access: Access]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. A page or operator route without it throws at startup (html/guard.ts). */
    roles?: Roles
    /** What a merchant must be privileged to; none: everybody of the store may. Every route for merchants has it. */
    needs?: readonly Need[]
  }
}
