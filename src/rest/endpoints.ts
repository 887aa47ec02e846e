import type { Resource } from '../engine/define.ts'
import type { Endpoint } from '../engine/endpoints.ts'
import { recordEndpoints } from './record-endpoints.ts'
import { subResourceEndpoints } from './sub-resource-endpoints.ts'
import { webhookEndpoints } from './webhook-endpoints.ts'

/** Every address of a service, and what each method does there. */
export function endpointsOf(resource: Resource): Endpoint[] {
  const own = resource.endpoints?.() ?? (resource.service === 'Webhooks' ? webhookEndpoints() : [])
  return [...recordEndpoints(resource), ...subResourceEndpoints(resource), ...own]
}
