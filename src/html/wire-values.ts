import { z } from 'zod'
import type { Privileges } from '../engine/caller.ts'
import { servedResources } from '../registry.ts'

// Schemas that the records of several JSON routes share.

export const id = z.int32().min(1)
export const time = z.iso.datetime()

/** The services that privileges may name. */
export const serviceNames: readonly string[] = servedResources.map(({ service }) => service)

const access = z.array(z.enum(['read', 'write'])).optional()

/** Privileges. Null: all. */
export const privileges: z.ZodType<Privileges> = z
  .strictObject(Object.fromEntries(serviceNames.map((service) => [service, access])))
  .nullable() as z.ZodType<Privileges>
