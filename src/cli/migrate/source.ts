import type { Resource } from '../../engine/definition/define.ts'

/** The store that is copied, whatever interface it is read by. */
export interface Source {
  /** In the order of references: a record refers to earlier services, or to its own. */
  readonly resources: readonly Resource[]
  /** The number of records of a service; `since`: of those changed since. */
  count(resource: Resource, since?: Date): Promise<number | Unavailable>
  /**
   * Some records of a list in its order, from a place on: `before` records come before them, or one less or more, because old
   * programs count from 0 and from 1. `[]`: there are none, or the list has ended.
   */
  page(resource: Resource, at: { before: number; since?: Date }): Promise<readonly unknown[] | Unavailable>
  /** Null: there is none with this id. */
  find(resource: Resource, id: number): Promise<unknown | null | Unavailable>
  /** Whether a list can be asked for what changed since a time. */
  knowsChanges(resource: Resource): boolean
  /** The time by the source's clock. */
  now(): Date
  /** What cannot be read by this interface, a line each. */
  readonly leftOut: readonly string[]
  close(): Promise<void>
}

/** The service is not there, or the keys do not open it. */
export class Unavailable {
  readonly reason: string
  constructor(reason: string) {
    this.reason = reason
  }
}

export interface SourceKeys {
  /** With scheme; no slash at its end. */
  readonly address: string
  readonly privateKey: string | null
  readonly token: string | null
  readonly secureUrl: string | null
  /** Of cartAPI. */
  readonly userKey: string | null
}
