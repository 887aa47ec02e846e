import { z } from 'zod'
import type { Privileges } from '../engine/caller.ts'
import { servedResources } from '../registry.ts'

// Values that records of JSON routes have in common.

export const id = z.int32().min(1)
export const time = z.iso.datetime()

/** The services that privileges may name. */
export const serviceNames: readonly string[] = servedResources.map(({ service }) => service)

const access = z.array(z.enum(['read', 'write'])).optional()

/** Privileges; null: everything. */
export const privileges: z.ZodType<Privileges> = z
  .strictObject(Object.fromEntries(serviceNames.map((service) => [service, access])))
  .nullable() as z.ZodType<Privileges>
