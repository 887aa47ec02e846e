import type { Person } from '../../people/sessions.ts'

/** The zone that times are shown to somebody in: the store's, or UTC, as developers work for stores of many zones. */
export function zoneOf(person: Person): string {
  return person.kind === 'developer' ? 'UTC' : person.store.timeZone
}
