import { eventKinds } from '../../src/engine/definition/event-kinds.ts'
import { english } from '../../src/foundation/texts/language.ts'
import { Text } from '../../src/foundation/texts/text.ts'
import { type List, services, type Value } from '../../src/http/pages/records/services.ts'

/** Returns what pages call the events that webhooks are notified of. */
export function spokenByEvents(): string[] {
  return eventKinds.map(({ name }) => name)
}

/** Returns what pages say of definitions: the names of services, their groups, fields and lists, and what they mean. */
export function spokenByDefinitions(): Set<string> {
  const phrases = services.flatMap(({ resource, one, all, oneTitle, allTitle, values: fields, sections }) => [
    ...[one, all, oneTitle, allTitle, ...Object.keys(resource.usualColumns ?? {})],
    // A part of a record may have shorter names for them.
    ...fields.map(({ label }) => label),
    ...sections.flatMap(({ title, heading, values, list }) => [
      title,
      ...(heading === null ? [] : [heading.title]),
      ...ofValues(values),
      ...(list === null ? [] : ofList(list)),
    ]),
  ])
  return new Set(phrases.map((phrase) => (phrase instanceof Text ? phrase.key : english(phrase))))
}

function ofValues(values: readonly Value[]) {
  return [
    ...values.flatMap(({ label, explains, meanings }) => [label, explains ?? '', ...(meanings?.values() ?? [])]),
    ...values.flatMap(ofInput),
  ]
}

/** What forms say beside the label. */
function ofInput({ field }: Value) {
  return [field.hint, ...Object.values(field.offered ?? {})]
}

function ofList(list: List): ReturnType<typeof ofValues> {
  return [list.label, list.one, list.explains ?? '', ...ofValues(list.values), ...list.lists.flatMap(ofList)]
}
