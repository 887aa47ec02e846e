import { candidateOf, nearestName } from '../../../foundation/values/nearest.ts'
import type { Column } from '../lines/columns.ts'

/** The name of the column that a heading means in all likelihood; null: none is near it. */
export function nearest(heading: string, columns: readonly Column[]): string | null {
  const candidates = columns.map(({ name, path, field }) => candidateOf(name, [name, path.at(-1) ?? '', field.label]))
  return nearestName(heading, candidates)
}
