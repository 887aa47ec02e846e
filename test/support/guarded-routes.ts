import { buildApp } from '../../src/app.ts'
import { connect } from '../../src/foundation/database/client.ts'
import { asksProof } from '../../src/http/html/guard.ts'
import type { Need, Roles } from '../../src/http/server/json/roles.ts'
import { servicesOn } from './services.ts'

export interface GuardedRoute {
  readonly method: 'GET' | 'POST' | 'PUT' | 'DELETE'
  readonly url: string
  readonly allowed: Roles
  /** What those of a store’s people need who may use it. */
  readonly needs: readonly Need[]
  /** Whether they must be owners. */
  readonly forOwners: boolean
  /** Whether a person must have shown the password lately. */
  readonly asksProof: boolean
  /** Whether tokens of people reach it. */
  readonly takesTokens: boolean
}

/** The routes of pages and the operator, with who may use each. No database is asked. */
export async function guardedRoutes(): Promise<readonly GuardedRoute[]> {
  const db = connect('postgresql://nobody@127.0.0.1/none')
  const app = buildApp(servicesOn(db))
  const routes: GuardedRoute[] = []
  app.addHook('onRoute', ({ method, url, config }) => {
    if (config?.roles === undefined || method === 'HEAD') return
    const { roles: allowed, needs = [], forOwners = false, tokens: takesTokens = false } = config
    routes.push({
      method: method as GuardedRoute['method'],
      url,
      allowed,
      needs,
      forOwners,
      asksProof: asksProof(config),
      takesTokens,
    })
  })
  await app.ready()
  await app.close()
  await db.$disconnect()
  return routes
}
