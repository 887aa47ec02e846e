import type { Resource } from '../engine/define.ts'
import type { Endpoint } from '../engine/endpoints.ts'
import { recordEndpoints } from './record-endpoints.ts'
import { subResourceEndpoints } from './sub-resource-endpoints.ts'

/** All endpoints of a service. */
export function endpointsOf(resource: Resource): Endpoint[] {
  return [...recordEndpoints(resource), ...subResourceEndpoints(resource), ...(resource.endpoints?.() ?? [])]
}
