import { listingAnswer, listOptions, type Operation } from '../engine/endpoints.ts'
import { eventKind, eventKinds } from '../engine/event-kinds.ts'
import { identifier, invalid, wholeNumber } from '../engine/filters.ts'
import { limitOf, listFixed, type Query } from '../engine/read.ts'
import { shapeRecords } from '../engine/shape.ts'
import { readFeed } from '../webhooks/feed.ts'
import { eventKindText, feedEventText } from '../webhooks/texts.ts'
import { eventKindType, feedEventType } from '../webhooks/types.ts'

const KINDS_MAX = 500

/** The kinds of event that there are (contract §4.2). */
export const eventKindList: Operation = {
  gives: {
    kind: 'list',
    type: eventKindType,
    maxRecords: KINDS_MAX,
    filters: { name: { kind: 'part' } },
    hasNoId: true,
  },
  run: async (call) => {
    const { query } = call
    const wanted = query.get('name')?.toLowerCase() ?? ''
    const matching = eventKinds
      .filter(({ name }) => name.toLowerCase().includes(wanted))
      .map((kind) => ({ id: kind.type, text: eventKindText(kind) }))
    return listingAnswer(listFixed(matching, KINDS_MAX, query, listOptions(call)), eventKindType, query)
  },
}

const LIMIT_DEFAULT = 100
const EVENTS_MAX = 500
const kindsInWords = eventKinds.map(({ type, name }) => `${type} (${name})`).join(', ')

/** The feed of a store's events: what webhooks are told, to read at any time. */
export const eventFeed: Operation = {
  named: {
    id: 'readEvents',
    description:
      'What happened in the store, in the order of `Sequence`, which has no gaps: of the kinds whose records the application may read. Ask again with `after` being the last `Sequence` that was read: nothing is missed, and nothing comes twice. An empty list says that there is nothing newer. Events are kept for 30 days; where some after `after` were deleted, the answer is 410. A page has at most 10 MB of records, and one event at least.',
  },
  gives: {
    kind: 'own',
    type: feedEventType,
    size: 'many',
    refusals: [410],
    parameters: [
      {
        name: 'after',
        in: 'query',
        description: 'The `Sequence` that the page begins behind. Without it, or 0: the oldest event that there is.',
        schema: { type: 'integer', format: 'int64', minimum: 0, maximum: Number.MAX_SAFE_INTEGER, default: 0 },
      },
      {
        name: 'limit',
        in: 'query',
        description: `The most events of the page. More than ${EVENTS_MAX} is cut to ${EVENTS_MAX}.`,
        schema: { type: 'integer', format: 'int32', default: LIMIT_DEFAULT },
      },
      {
        name: 'eventtype',
        in: 'query',
        description: `One kind alone: ${kindsInWords}.`,
        schema: { type: 'integer', enum: eventKinds.map(({ type }) => type) },
      },
    ],
  },
  run: async ({ caller, query }) => {
    const after = identifier(query.get('after') ?? '0', 'after', 0, Number.MAX_SAFE_INTEGER)
    const limit = limitOf(query, EVENTS_MAX, LIMIT_DEFAULT)
    const events = await readFeed(caller, { after, limit, eventType: eventTypeIn(query) })
    const texts = events.map((event) => feedEventText(event, caller.store.timeZone))
    return { kind: 'records', type: feedEventType, records: shapeRecords(texts, feedEventType.fields, query) }
  },
}

function eventTypeIn(query: Query): number | null {
  const given = query.get('eventtype')
  if (given === undefined) return null
  const kind = eventKind(wholeNumber(given, 'eventtype'))
  if (kind === null) throw invalid('eventtype', given, `must be one of ${kindsInWords}`)
  return kind.type
}
