import { test } from 'vitest'
import type { Method } from '../../../src/engine/caller.ts'
import type { Dialect } from './dialects.ts'
import type { Place } from './places.ts'
import type { Scene } from './scene.ts'

/** A method at an address of the contract. */
export interface Operation {
  readonly method: Method
  /** As the contract writes it, such as `/Products/{catalogid}/Features`. */
  readonly address: string
  readonly place: Place
  readonly scene: () => Scene
  /** In the quiet store, where the right request would succeed. */
  readonly path: () => string | Promise<string>
  readonly identifiers: readonly Identifier[]
  /** In which it is asked. */
  readonly dialects: readonly Dialect[]
}

/** An identifier in an address. */
export interface Identifier {
  /** Such as `catalogid`. */
  readonly name: string
  /** The least number that it can be; null: a code of the caller's. */
  readonly min: number | null
  /** The path in the quiet store, with this instead of the identifier of a record. */
  readonly pathWith: (id: number | string) => string
}

/** Method, address and status of each test, in order. */
export const covered = new Set<string>()

/** The test of one status; `what` completes its name. */
export function status(
  { method, address }: { readonly method: string; readonly address: string },
  code: number,
  what: string,
  run: () => Promise<void>,
): void {
  covered.add(`${method} ${address} ${code}`)
  test(`${method} ${address} → ${code}${what}`, run)
}
