import type { Access } from '../../../engine/caller.ts'

/** Who may use a route: programs with OPERATOR_KEY, or people with a session. `anyone` with another role: a session is optional. */
export type Role = 'anyone' | 'operator-key' | 'operator' | 'merchant' | 'developer' | 'customer'

export type Roles = readonly [Role, ...Role[]]

/** A privilege of a store's people, such as `['Orders', 'write']` (src/shop/staff/roles.ts). */
export type Need = readonly [privilege: string, access: Access]

declare module 'fastify' {
  interface FastifyContextConfig {
    /** Who may use the route. A page or operator route without it throws at startup (http/html/guard.ts). */
    roles?: Roles
    /** What a merchant must be privileged to; none: everybody of the store may. Every route for merchants has it. */
    needs?: readonly Need[]
    /** Whether a person must have shown a password or passkey in the last 15 minutes. Omitted: `asksProof` (guard.ts) derives it. */
    proof?: boolean
    /**
     * Whether a person's token reaches the route (src/access/people/person-tokens.ts). One that asks people for a proof, which no token is,
     * bounds by itself what a token reaches.
     */
    tokens?: boolean
    /** Whether a merchant must be an owner of the store, whatever roles of its own may do. */
    forOwners?: boolean
    /** It is open while the store is closed: it opens the store again, or hands its data over. */
    whenClosed?: boolean
    /** It is about the person rather than the store, and open without the second factor that the store requires. */
    ofPerson?: boolean
  }
}
