import { defineResource } from '../../engine/definition/define.ts'
import { eventNames } from '../../engine/definition/event-kinds.ts'
import {
  boolean,
  choice,
  constant,
  integer,
  text,
  type ValueField,
  webAddress,
} from '../../engine/definition/fields.ts'
import { containing, exactly, flag, since, until } from '../../engine/definition/filters.ts'
import { identifier, sql } from '../../foundation/database/sql.ts'
import { callsEndpoint } from './calls.ts'
import { webhookEndpoints } from './endpoints.ts'
import { MEMBERS_LENGTH_MAX, namingKinds } from './members.ts'
import { ownWebhooks } from './ownership.ts'
import { webhookRules } from './rules.ts'

const Url = webAddress(
  text(1000, {
    column: 'url',
    required: true,
    description: 'The http or https address that receives the events. It must answer 2xx within 15 seconds.',
  }),
)

/** A time as `MM/DD/YYYY HH:MM` in the store's zone (contract §2). */
function minute(column: string, description: string): ValueField {
  return text(16, {
    column,
    access: 'ro',
    sql: sql`to_char(t.${identifier(column)} AT TIME ZONE s."timeZone", 'MM/DD/YYYY HH24:MI')`,
    description,
  })
}

/** Webhooks (contract §2, §4.2; rest-resources §10). An application sees only its own. */
export const webhooks = defineResource({
  service: 'Webhooks',
  aliases: ['Webhook'],
  typeName: 'Webhook',
  description:
    'A subscription to one kind of event: whenever it happens, the record is sent to an address of the application.',
  inputTypeNames: ['WebhookPOST', 'WebhookPUT'],
  changesMany: false,
  maxRecords: 500,
  fields: {
    Id: integer({ column: 'id', access: 'key', description: 'The number of the webhook, by which addresses name it.' }),
    Name: text(80, { column: 'name', required: true, description: 'The name of the webhook in the administration.' }),
    Url,
    EventType: constant('EventType', eventNames, {
      column: 'eventType',
      access: 'new',
      required: true,
      description:
        'The kind of event, by its number from `GET /Webhooks/Events`: 1 Order New, 5 Product Changed, 8 Order Changed and so on. The application needs read access to its records.',
    }),
    DateCreated: minute('createdAt', 'The time of creation as `MM/DD/YYYY HH:MM` in the store’s time zone.'),
    DateUpdated: minute(
      'updatedAt',
      'The time of the last change as `MM/DD/YYYY HH:MM` in the store’s time zone. Deliveries do not count.',
    ),
    Format: choice(['JSON', 'XML'], {
      column: 'format',
      description: 'The format of the records that are sent to Url.',
    }),
    Enabled: boolean({
      column: 'enabled',
      required: true,
      description:
        'Whether events are sent to Url. The platform sets it to false when deliveries fail for too long: `/Webhooks/{id}/Status` says why.',
    }),
    Members: text(MEMBERS_LENGTH_MAX, {
      column: 'members',
      nullable: true,
      isOptional: true,
      description: `The members of whose changes it hears, separated by commas, such as \`SKUInfo.Price,CategoryList\`; a name covers what is inside it. Only for the kinds ${namingKinds}. Empty or left out: every change is sent. While it is empty, answers leave the member out.`,
    }),
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
  endpoints: () => [...webhookEndpoints(), callsEndpoint],
  rules: { owner: ownWebhooks, check: webhookRules, isOneByOne: true },
})
