import { z } from 'zod'
import { identifier, sql } from '../database/sql.ts'
import { defineResource } from '../engine/definition/define.ts'
import { eventKinds } from '../engine/definition/event-kinds.ts'
import { boolean, choice, integer, text, type ValueField } from '../engine/definition/fields.ts'
import { containing, exactly, flag, since, until } from '../engine/definition/filters.ts'
import { urlFault } from '../outbound/addresses.ts'
import { callsEndpoint } from './calls.ts'
import { webhookEndpoints } from './endpoints.ts'
import { ownWebhooks } from './ownership.ts'
import { webhookRules } from './rules.ts'

const address = text(1000, { column: 'url', required: true })

/** The host is checked at every delivery, not here, because its addresses may change. */
const Url: ValueField = {
  ...address,
  schema: z.preprocess(
    (given) => (typeof given === 'string' ? given.trim() : given),
    address.schema.refine((given) => given === '' || urlFault(String(given)) === null, {
      error: ({ input }) => urlFault(String(input)) ?? '',
    }),
  ),
}

const kind = integer({ column: 'eventType', access: 'new', required: true, min: 1, max: eventKinds.length })
const kindAllowed = `must be one of ${eventKinds.map(({ type, name }) => `${type} (${name})`).join(', ')}`

const EventType: ValueField = {
  ...kind,
  schema: z.unknown().transform((given, context) => {
    const read = kind.schema.safeParse(given)
    if (read.success) return read.data
    context.addIssue(kindAllowed)
    return z.NEVER
  }),
}

/** A time as `MM/DD/YYYY HH:MM` in the store's zone (contract §2). */
function minute(column: string): ValueField {
  return text(16, {
    column,
    access: 'ro',
    sql: sql`to_char(t.${identifier(column)} AT TIME ZONE s."timeZone", 'MM/DD/YYYY HH24:MI')`,
  })
}

/** Webhooks (contract §2, §4.2; rest-resources §10). An application sees only its own. */
export const webhooks = defineResource({
  service: 'Webhooks',
  aliases: ['Webhook'],
  typeName: 'Webhook',
  inputTypeNames: ['WebhookPOST', 'WebhookPUT'],
  changesMany: false,
  maxRecords: 500,
  fields: {
    Id: integer({ column: 'id', access: 'key' }),
    Name: text(80, { column: 'name', required: true }),
    Url,
    EventType,
    DateCreated: minute('createdAt'),
    DateUpdated: minute('updatedAt'),
    Format: choice(['JSON', 'XML'], { column: 'format' }),
    Enabled: boolean({ column: 'enabled', required: true }),
  },
  hidden: {
    subscriptionId: null,
    updatedBy: '',
    secretSealed: '',
    formerSecretSealed: null,
    secretRotatedAt: null,
    failingSince: null,
    lastFailedAt: null,
    disabledAt: null,
    disabledAtSequence: null,
    pauseReason: null,
  },
  filters: {
    name: containing('name'),
    url: exactly('url'),
    enabled: flag('enabled'),
    format: exactly('format'),
    datecreatedstart: since('createdAt'),
    datecreatedend: until('createdAt'),
    dateupdatedstart: since('updatedAt'),
    dateupdatedend: until('updatedAt'),
  },
  owner: ownWebhooks,
  endpoints: () => [...webhookEndpoints(), callsEndpoint],
  rules: webhookRules,
  isOneByOne: true,
})
