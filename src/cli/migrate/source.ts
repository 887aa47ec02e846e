import type { Resource } from '../../engine/definition/resource.ts'

/** The store to copy, read through REST or cartAPI. */
export interface Source {
  /** Ordered by reference: a record refers to earlier services, or to its own. */
  readonly resources: readonly Resource[]
  /** Counts the records of a service, or those changed since a time. */
  count(resource: Resource, since?: Date): Promise<number | Unavailable>
  /**
   * Reads a page that skips `before` records, plus or minus one, because servers count offsets from 0 or from 1. Returns `[]` past the
   * end.
   */
  page(resource: Resource, at: { before: number; since?: Date }): Promise<readonly unknown[] | Unavailable>
  /** Reads a record by id. Null: there is none. */
  find(resource: Resource, id: number): Promise<unknown | null | Unavailable>
  /** Whether `since` works for the service. */
  knowsChanges(resource: Resource): boolean
  /** The time of the source's clock. */
  now(): Date
  /** What the interface does not show, a line each. */
  readonly leftOut: readonly string[]
  close(): Promise<void>
}

/** Whether the records of a service are settings, such as order statuses: every store has some, and no program makes them. */
export function isSetting({ methods }: Resource): boolean {
  return methods.length === 1
}

/** The source lacks the service, or the keys give no access to it. */
export class Unavailable {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export interface SourceKeys {
  /** With scheme, as given. */
  readonly address: string
  readonly privateKey: string | null
  readonly token: string | null
  readonly secureUrl: string | null
  /** The store's key for cartAPI. */
  readonly userKey: string | null
}
